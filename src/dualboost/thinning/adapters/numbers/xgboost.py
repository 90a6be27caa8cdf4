"""XGBoost for numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...._typing import Integers, Vector
from ...base import is_instance_of
from ...checks import require_one_output
from ...number_base import NumberAdapter
from ...number_links import LOG_MEAN, MEAN, MEDIAN
from ..xgboost import XGBoostModel

OBJECTIVES = {
    "reg:squarederror": MEAN,
    "reg:absoluteerror": MEDIAN,
    "reg:pseudohubererror": MEDIAN,
    "reg:squaredlogerror": MEDIAN,
    "count:poisson": LOG_MEAN,
    "reg:gamma": LOG_MEAN,
    "reg:tweedie": LOG_MEAN,
}
OF_NUMBERS = ("reg:", "count:")
"""How the objectives of regressors begin."""
OF_CLASSES = "reg:logistic"
"""The one that begins so and predicts a probability."""


class XGBoostNumbersAdapter(XGBoostModel, NumberAdapter):
    """``XGBRegressor``, and a ``Booster`` with the objective of one."""

    describes: ClassVar[str] = "xgboost.XGBRegressor, xgboost.Booster"
    estimator: ClassVar[str] = "XGBRegressor"
    objectives: ClassVar[tuple[str, ...]] = tuple(OBJECTIVES)

    @classmethod
    def handles(cls, model: Any) -> bool:
        if not is_instance_of(model, "xgboost", "Booster"):
            return super().handles(model)
        name = json.loads(model.save_config())["learner"]["objective"]["name"]
        return name.startswith(OF_NUMBERS) and name != OF_CLASSES

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.predicts = OBJECTIVES[self._objective]
        self.leaf_values = self._values
        self.weights = np.ones(len(self._trees))
        raw, leaves = self._on_missing()
        self.intercept = float(raw[0]) - sum(float(own[leaf]) for own, leaf in zip(self._values, leaves, strict=True))
        self.n_nodes = np.array([len(tree["left_children"]) for tree in self._trees], dtype=np.intp)
        self.n_leaves = (self.n_nodes + 1) // 2

    def _require_objective(self) -> None:
        super()._require_objective()
        require_one_output(self._model, int(self._json["learner"]["learner_model_param"]["num_target"]))

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaves(X).T)

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        """The first tree gets what the intercept differs by: the base score stays as it is."""
        moved = [values[0] + (intercept - self.intercept), *values[1:]]
        return self._of_trees(kept.tolist(), moved, n_classes=1)
