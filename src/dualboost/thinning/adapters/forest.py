"""scikit-learn's forests: the mean of the trees' class probabilities."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from ..._typing import Integers, Vector
from ..base import looked_up
from ..outputs import Outputs
from .converted_trees import difference
from .scikit_learn import AverageAdapter, averaged_trees


class ForestAdapter(AverageAdapter):
    """The weights are written into the leaves, so that the mean over the trees kept is the weighted mean."""

    describes: ClassVar[str] = "RandomForestClassifier, ExtraTreesClassifier"

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, (RandomForestClassifier, ExtraTreesClassifier))

    def outputs(self, X: Any) -> Outputs:
        values = [difference(tree.tree_) for tree in self._model.estimators_]
        return looked_up(values, self._model.apply(X))

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        thinned = copy.copy(self._model)
        thinned.estimators_ = averaged_trees([self._model.estimators_[j] for j in kept], weights, intercept)
        return thinned.set_params(n_estimators=len(kept))
