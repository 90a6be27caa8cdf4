"""scikit-learn's forests: the mean of the trees' class probabilities."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from ..._typing import Integers, Vector
from ..base import Adapter, Outputs, looked_up
from ..checks import names_of, pickled_bytes, require_fitted, two_classes
from ..links import Average
from .members import node_counts
from .sklearn_trees import averaged_trees


class ForestAdapter(Adapter):
    """The weights are written into the leaves, so that the mean over the trees kept is the weighted mean."""

    describes: ClassVar[str] = "RandomForestClassifier, ExtraTreesClassifier"
    link = Average()

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, (RandomForestClassifier, ExtraTreesClassifier))

    def __init__(self, model: Any) -> None:
        require_fitted(model, "estimators_")
        self._model = model
        self.classes = two_classes(model)
        n = len(model.estimators_)
        self.weights, self.intercept = np.full(n, 1.0 / n), 0.0
        self.n_nodes, self.n_leaves = node_counts(model.estimators_)

    @property
    def feature_names(self) -> list[str] | None:
        return names_of(self._model)

    @property
    def n_features(self) -> int | None:
        return int(self._model.n_features_in_)

    def outputs(self, X: Any) -> Outputs:
        values = [tree.tree_.value[:, 0, 1] - tree.tree_.value[:, 0, 0] for tree in self._model.estimators_]
        return looked_up(values, self._model.apply(X))

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        thinned = copy.copy(self._model)
        thinned.estimators_ = averaged_trees([self._model.estimators_[j] for j in kept], weights, intercept)
        return thinned.set_params(n_estimators=len(kept))

    def raw_scores(self, model: Any, X: Any) -> Vector:
        return 2.0 * np.asarray(model.predict_proba(X))[:, 1] - 1.0

    def saved_bytes(self, model: Any) -> int:
        return pickled_bytes(model)
