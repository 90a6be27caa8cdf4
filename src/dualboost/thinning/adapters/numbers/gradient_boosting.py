"""scikit-learn's GradientBoostingRegressor: a constant and trees, times the learning rate."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor

from ...._typing import Integers, Vector
from ...number_links import MEAN, MEDIAN, predicts_by
from ..gradient_boosting import GradientBoostingModel
from ..scikit_learn import node_counts
from .scikit_learn import ScikitLearnNumbersAdapter

LOSSES = {"squared_error": MEAN, "absolute_error": MEDIAN, "huber": MEDIAN}


class GradientBoostingNumbersAdapter(GradientBoostingModel, ScikitLearnNumbersAdapter):
    """The learning rate stays, so that values are divided by it."""

    describes: ClassVar[str] = "GradientBoostingRegressor"
    estimator: ClassVar[type] = GradientBoostingRegressor
    constant: ClassVar[type] = DummyRegressor

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.predicts = predicts_by("loss", model.loss, LOSSES)
        self.leaf_values = self._values
        self.intercept = float(self._constants()[0])
        self.n_nodes, self.n_leaves = node_counts(self._trees)

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaves(X).T)

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        """The first tree gets what the intercept differs by."""
        rate, changed = self._model.learning_rate, [copy.deepcopy(self._trees[j]) for j in kept]
        for tree, own in zip(changed, values, strict=True):
            tree.tree_.value[:, 0, 0] = own / rate
        changed[0].tree_.value[:, 0, 0] += (intercept - self.intercept) / rate
        return self._of_trees(kept, changed)
