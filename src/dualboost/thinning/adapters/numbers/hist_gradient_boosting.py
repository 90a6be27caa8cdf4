"""scikit-learn's HistGradientBoostingRegressor: a model of copies of some trees, with other leaves and constant."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from ...._typing import Integers, Vector
from ...number_links import LOG_MEAN, MEAN, MEDIAN, predicts_by
from ..hist_gradient_boosting import HistGradientBoostingModel
from .scikit_learn import ScikitLearnNumbersAdapter

LOSSES = {"squared_error": MEAN, "absolute_error": MEDIAN, "poisson": LOG_MEAN, "gamma": LOG_MEAN}


class HistGradientBoostingNumbersAdapter(HistGradientBoostingModel, ScikitLearnNumbersAdapter):
    """Trees are read from ``_predictors`` and written there: what they predict is all that the model has of them."""

    describes: ClassVar[str] = "HistGradientBoostingRegressor"
    estimator: ClassVar[type] = HistGradientBoostingRegressor
    keeps_type: ClassVar[bool] = True

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.predicts = predicts_by("loss", model.loss, LOSSES)
        self.leaf_values = [tree.votes for tree in self._trees]
        self.intercept = float(self._constants[0])
        self.n_leaves = np.array([tree.n_leaves for tree in self._trees], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        encoded = self._encoded(X)
        return [tree.leaves(encoded) for tree in self._trees]

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        thinned = copy.copy(self._model)
        thinned._predictors = [[self._changed(j, own)] for j, own in zip(kept.tolist(), values, strict=True)]
        thinned._baseline_prediction = np.full_like(self._model._baseline_prediction, intercept, dtype=float)
        return thinned.set_params(max_iter=len(kept))

    def _changed(self, position: int, values: Vector) -> Any:
        """A copy of a tree with other leaves."""
        predictor = copy.copy(self._model._predictors[position][0])
        predictor.nodes = predictor.nodes.copy()
        predictor.nodes["value"][predictor.nodes["is_leaf"].astype(bool)] = values
        return predictor
