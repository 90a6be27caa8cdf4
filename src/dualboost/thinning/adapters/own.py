"""Our own ensembles: learners of weight zero go, and others with them."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np

from ..._typing import Integers, Vector
from ...calibration import calibrate
from ...classifier import DualBoostClassifier
from ...ensemble import Ensemble
from ...trees import Tree, constant_tree
from ..base import Adapter, Outputs
from ..checks import names_of, pickled_bytes, require_fitted
from ..links import Normalised


class OwnAdapter(Adapter):
    """The weights go into ``weights_``; an intercept is one more learner, of constant vote.

    ``history_``, ``sample_weights_`` and ``stop_reason_`` still tell of the fit that the learners come from.
    """

    describes: ClassVar[str] = "DualBoostClassifier"
    link = Normalised()

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, DualBoostClassifier)

    def __init__(self, model: Any) -> None:
        require_fitted(model, "weights_")
        self._model = model
        self.classes = model.classes_
        total = float(model.weights_.sum())
        self.weights = model.weights_ / total if total > 0 else model.weights_.copy()
        self.intercept = 0.0
        leaves = [learner.n_leaves if isinstance(learner, Tree) else 1 for learner in model.estimators_]
        self.n_leaves = np.array(leaves, dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    @property
    def feature_names(self) -> list[str] | None:
        return names_of(self._model)

    @property
    def n_features(self) -> int | None:
        return int(self._model.n_features_in_)

    def outputs(self, X: Any) -> Outputs:
        return np.ascontiguousarray(self._model.votes(X).T, dtype=np.float32)

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        learners = [self._model.estimators_[j] for j in kept]
        if intercept:
            learners.append(constant_tree(1.0 if intercept > 0 else -1.0))
            weights = np.append(weights, abs(intercept))
        thinned = copy.copy(self._model)
        thinned.estimators_, thinned.weights_ = learners, weights
        thinned.n_generated_ = thinned.n_columns_ = len(learners)
        thinned.bound_ = thinned.certified_ = None
        thinned._stages = [weights]
        before = self._model._ensemble
        thinned._ensemble = Ensemble(learners, weights, before.balance, before.n_features, before.n_jobs)
        thinned.feature_importances_ = thinned._ensemble.feature_importances()
        return thinned

    def with_probabilities(self, model: Any, scores: Vector, labels: Vector, counts: Vector) -> Any:
        model._calibration = calibrate(scores, labels, counts)
        return model

    def raw_scores(self, model: Any, X: Any) -> Vector:
        return np.asarray(model.decision_function(X))

    def saved_bytes(self, model: Any) -> int:
        return pickled_bytes(model)
