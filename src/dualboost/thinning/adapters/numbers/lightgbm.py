"""LightGBM for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import lightgbm
import numpy as np
from numpy.typing import NDArray

from ...._typing import Integers, Vector
from ....errors import UnsupportedModelError
from ...number_base import NumberAdapter
from ...number_links import LOG_MEAN, MEAN, MEDIAN
from ..lightgbm import OBJECTIVE, LightGBMModel

OBJECTIVES = {
    "regression": MEAN,
    "regression_l1": MEDIAN,
    "huber": MEDIAN,
    "fair": MEDIAN,
    "mape": MEDIAN,
    "poisson": LOG_MEAN,
    "gamma": LOG_MEAN,
    "tweedie": LOG_MEAN,
}
REFUSED = ("quantile",)
"""Other objectives of regressors."""
ROOTS = "objective=regression sqrt"
"""What the text of a model says that learns the square root of y."""


class LightGBMNumbersAdapter(LightGBMModel, NumberAdapter):
    """``LGBMRegressor``, and a ``Booster`` with the objective of one."""

    describes: ClassVar[str] = "lightgbm.LGBMRegressor, lightgbm.Booster"
    estimator: ClassVar[type] = lightgbm.LGBMRegressor
    objectives: ClassVar[tuple[str, ...]] = tuple(OBJECTIVES)

    @classmethod
    def handles(cls, model: Any) -> bool:
        if not isinstance(model, lightgbm.Booster):
            return super().handles(model)
        return _objective(model.model_to_string(num_iteration=1)) in (*OBJECTIVES, *REFUSED)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        if ROOTS in self._text:
            raise UnsupportedModelError(
                "model with reg_sqrt=True cannot be thinned: its predictions are squares. Train it on the square root "
                "of y, and thin that."
            )
        self.predicts = OBJECTIVES[_objective(self._text)]
        self.leaf_values = [np.asarray(tree.votes, dtype=float) for tree in self._trees]
        self.intercept = 0.0
        self.n_leaves = np.array([tree.n_leaves for tree in self._trees], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaves(X).T)

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        """The first tree gets the intercept."""
        return self._of_trees(kept.tolist(), [values[0] + intercept, *values[1:]])


def _objective(text: str) -> str:
    found = OBJECTIVE.search(text)
    return found[1] if found else ""
