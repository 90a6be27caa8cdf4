"""Members that are classifiers of any kind: their probabilities and weights of classes, and a wrapper that scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ..._typing import Matrix, Vector
from ...estimators.class_weights import BALANCED
from ..base import ClassWeights

CLASS_WEIGHT = "class_weight"
OTHERS = (
    *("scale_pos_weight", "is_unbalance", "unbalance", "unbalanced_sets"),
    *("class_weights", "auto_class_weights"),
)
"""Arguments of boosting libraries that weigh classes."""


def class_weights_of(models: Sequence[Any]) -> ClassWeights:
    """The ``class_weight`` that all of these estimators were trained with; unread if they differ or have others."""
    asked = [_weights_asked(model) for model in models]
    odd = next((own for own in asked if own != asked[0] or own.keys() - {CLASS_WEIGHT}), None)
    if odd is None:
        return ClassWeights((asked[0].get(CLASS_WEIGHT),))
    what = ", ".join(f"{name}={value!r}" for name, value in (odd or asked[0]).items())
    return ClassWeights(unread=f"{what} weighs classes in a part of the model")


def _weights_asked(model: Any) -> dict[str, Any]:
    """The arguments of an estimator that weigh classes, and those of the estimators that it is made of."""
    arguments = model.get_params() if hasattr(model, "get_params") else {}
    named = {name: own for name, own in arguments.items() if name.rpartition("__")[2] in (CLASS_WEIGHT, *OTHERS)}
    return {name: _as_balanced(own) for name, own in named.items() if _weighs(own)}


def _weighs(value: Any) -> bool:
    return value is True or not (value is None or value == 1 or value is False)


def _as_balanced(class_weight: Any) -> Any:
    """Forests have a word for balancing each tree's own rows."""
    return BALANCED if isinstance(class_weight, str) and class_weight == "balanced_subsample" else class_weight


def probabilities(member: Any, X: Any, classes: Any) -> Vector:
    """P(second class) by ``predict_proba``, or 0 and 1 by ``predict``."""
    known = list(getattr(member, "classes_", classes))
    if not hasattr(member, "predict_proba"):
        return (np.asarray(member.predict(X)) == classes[1]).astype(float)
    if classes[1] not in known:
        return np.zeros(X.shape[0])
    return np.asarray(member.predict_proba(X))[:, known.index(classes[1])]


class ScaledMember(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose probabilities are scaled and shifted, so that a plain average becomes a weighted one.

    It is needed only for members that are not trees: the leaves of trees are rewritten instead. Loading a model that
    contains a ``ScaledMember`` requires dualboost.
    """

    def __init__(self, member: Any, scale: float, constant: tuple[float, ...], classes: Any) -> None:
        self.member = member
        self.scale = scale
        self.constant = constant
        self.classes = classes

    @property
    def classes_(self) -> Any:
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> ScaledMember:
        """Does nothing, since the member is fitted already."""
        return self

    def predict_proba(self, X: Any) -> Matrix:
        positive = probabilities(self.member, X, self.classes)
        both = np.column_stack([1.0 - positive, positive])
        return self.scale * both + np.asarray(self.constant)

    def predict(self, X: Any) -> Any:
        return self.classes[(self.predict_proba(X)[:, 1] > 0.5).astype(np.intp)]
