"""scikit-learn's forests and bagging for numbers: the mean of the trees' predictions."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import BaggingRegressor, ExtraTreesRegressor, RandomForestRegressor

from ...._typing import Integers, Vector
from ....errors import UnsupportedModelError
from ...checks import require_one_output
from ...number_links import MEAN, MEDIAN, predicts_by
from ..bagging import BaggingModel
from ..scikit_learn import node_counts
from .scikit_learn import ScikitLearnNumbersAdapter

CRITERIA = {"squared_error": MEAN, "friedman_mse": MEAN, "poisson": MEAN, "absolute_error": MEDIAN}
"""What a leaf predicts, by the criterion of its tree."""


class AverageNumbersAdapter(ScikitLearnNumbersAdapter):
    """New leaves are multiplied by the number of trees kept, and all of them get the intercept."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        members = model.estimators_
        if not all(hasattr(member, "tree_") for member in members):
            raise UnsupportedModelError(
                f"model {type(model).__name__} can be thinned if its members are decision trees; one is a "
                f"{type(next(member for member in members if not hasattr(member, 'tree_'))).__name__}."
            )
        require_one_output(model, members[0].tree_.n_outputs)
        self.predicts = predicts_by("criterion", members[0].criterion, CRITERIA)
        self.leaf_values = [tree.tree_.value[:, 0, 0].copy() for tree in members]
        self.weights, self.intercept = np.full(len(members), 1.0 / len(members)), 0.0
        self.n_nodes, self.n_leaves = node_counts(members)

    def _with_values(self, kept: Integers, values: list[Vector], intercept: float) -> list[Any]:
        """Copies of the trees kept, whose mean is the sum of the values and the intercept."""
        changed = [copy.deepcopy(self._model.estimators_[j]) for j in kept]
        for tree, own in zip(changed, values, strict=True):
            tree.tree_.value[:, 0, 0] = len(kept) * own + intercept
        return changed


class ForestNumbersAdapter(AverageNumbersAdapter):
    """``RandomForestRegressor`` and ``ExtraTreesRegressor``."""

    describes: ClassVar[str] = "RandomForestRegressor, ExtraTreesRegressor"

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, (RandomForestRegressor, ExtraTreesRegressor))

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._model.apply(X).T)

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        thinned = copy.copy(self._model)
        thinned.estimators_ = self._with_values(kept, values, intercept)
        return thinned.set_params(n_estimators=len(kept))


class BaggingNumbersAdapter(BaggingModel, AverageNumbersAdapter):
    """``BaggingRegressor`` of trees, each on its own features."""

    describes: ClassVar[str] = "BaggingRegressor of trees"
    estimator: ClassVar[type] = BaggingRegressor

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return [member.apply(part) for member, part in self._members_with(X)]

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        return self._of_members(kept, self._with_values(kept, values, intercept))
