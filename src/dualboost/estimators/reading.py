"""Validates and encodes the data of a fit, without setting anything on the estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from .._typing import Features, Vector
from ..data.features import FeatureEncoder, as_features
from ..tasks import Task, read_target
from ..tasks.labels import warn_of_identifiers
from .class_weights import weigh_classes
from .parameters import as_sample_weight

CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": "allow-nan"}
"""How scikit-learn validates features, in training and in prediction."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The arguments of ``fit`` in the form that the loop needs."""

    task: Task
    encoder: FeatureEncoder
    features: Features
    targets: Vector
    weights: Vector
    """The multiplicity of each row, times the weight of its class."""
    feature_names: NDArray[Any] | None


class _StandIn:
    """Receives the attributes that scikit-learn's validation sets, so that a fit that fails changes no estimator."""

    feature_names_in_: NDArray[Any]

    def __init__(self, tags: Any) -> None:
        self._tags = tags

    def __sklearn_tags__(self) -> Any:
        return self._tags


def read_training_set(estimator: Any, tasks: Sequence[type[Task]], X: Any, y: Any, sample_weight: Any) -> TrainingSet:
    """The training set, or an error that names the estimator."""
    y = tasks[0].plain(y)
    encoder = FeatureEncoder().fit(X)
    # scikit-learn's messages contain the name of the class of the object that it validates for.
    stand_in = type(type(estimator).__name__, (_StandIn,), {})(get_tags(estimator))
    features, y = validate_data(stand_in, encoder.transform(X), y, **CHECKS)
    task, targets = read_target(y, tasks)
    warn_of_identifiers(task.groups(targets))
    weights = as_sample_weight(sample_weight, len(targets))
    task.require_trainable(targets[weights > 0])
    weights = weigh_classes(estimator.class_weight, task.labels(targets), weights)
    return TrainingSet(
        task=task,
        encoder=encoder,
        features=as_features(features),
        targets=targets,
        weights=weights,
        feature_names=getattr(stand_in, "feature_names_in_", None),
    )
