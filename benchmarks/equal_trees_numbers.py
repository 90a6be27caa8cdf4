"""The methods for numbers: as those for classes, but all are chosen by the mean squared error on the folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from equal_trees_data import Split
from equal_trees_extras import Purpose, extras
from equal_trees_methods import Histogram, LightGBM, Ours, Rival, XGBoost, methods
from sklearn.ensemble import HistGradientBoostingRegressor

from dualboost import DualBoostRegressorCV


class XGBoostNumbers(XGBoost):
    def objective(self, n_classes: int) -> dict[str, Any]:
        return {"objective": "reg:squarederror"}


class LightGBMNumbers(LightGBM):
    def objective(self, n_classes: int) -> dict[str, Any]:
        return {"objective": "regression"}


class HistogramNumbers(Histogram):
    make: Callable[..., Any] = HistGradientBoostingRegressor

    def stages(self, X: np.ndarray) -> Iterator[np.ndarray]:
        return self._model.staged_predict(X)


def squared_error(y: np.ndarray, answers: np.ndarray) -> float:
    return float(np.mean((y - answers) ** 2))


def figures(split: Split, answers: np.ndarray) -> dict[str, float]:
    return {
        "rmse": squared_error(split.y_test, answers) ** 0.5,
        "mae": float(np.mean(np.abs(split.y_test - answers))),
    }


REGRESSOR = Ours(DualBoostRegressorCV, "neg_mean_squared_error", DualBoostRegressorCV.predict)
RIVALS: dict[str, type[Rival]] = {"xgboost": XGBoostNumbers, "lightgbm": LightGBMNumbers, "hist": HistogramNumbers}
METHODS = methods(REGRESSOR, RIVALS, squared_error)
EXTRAS = extras(Purpose("Regressor", "predict", squared_error))
