"""CatBoost for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray

from ...._typing import Integers, Vector
from ...checks import require_one_output
from ...number_base import NumberAdapter
from ...number_links import LOG_MEAN, MEAN, MEDIAN, predicts_by
from ..catboost import CatBoostModel

LOSSES = {
    "RMSE": MEAN,
    "MAE": MEDIAN,
    "MAPE": MEDIAN,
    "Huber": MEDIAN,
    "LogCosh": MEDIAN,
    "Poisson": LOG_MEAN,
    "Tweedie": LOG_MEAN,
}


class CatBoostNumbersAdapter(CatBoostModel, NumberAdapter):
    """``CatBoostRegressor``."""

    describes: ClassVar[str] = "catboost.CatBoostRegressor"
    estimator: ClassVar[str] = "CatBoostRegressor"

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        require_one_output(model, len(self._bias))
        self.predicts = predicts_by("loss_function", self._loss, LOSSES)
        self.leaf_values = [values[:, 0] for values in self._values]
        self.intercept = float(self._bias[0])

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaf_indices(X).T)

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        return self._of(kept, values, [intercept])
