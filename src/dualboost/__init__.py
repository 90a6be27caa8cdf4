"""dualboost: small, accurate tree ensembles by totally corrective boosting."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .data.on_disk import RowsOnDisk
    from .estimators.classifier import DualBoostClassifier
    from .estimators.cross_validation import DualBoostClassifierCV, DualBoostRegressorCV
    from .estimators.regressor import DualBoostRegressor
    from .export import to_c, to_lightgbm, to_onnx, to_sql
    from .learners import CartLearner, ClassifierLearner, OptimalLearner, XGBoostLearner
    from .loading import load_model
    from .solvers.base import SolverOptions
    from .thinning.thin import thin


_HOMES = {
    "CartLearner": "learners",
    "ClassifierLearner": "learners",
    "DualBoostClassifier": "estimators.classifier",
    "DualBoostClassifierCV": "estimators.cross_validation",
    "DualBoostRegressor": "estimators.regressor",
    "DualBoostRegressorCV": "estimators.cross_validation",
    "OptimalLearner": "learners",
    "RowsOnDisk": "data.on_disk",
    "SolverOptions": "solvers.base",
    "XGBoostLearner": "learners",
    "load_model": "loading",
    "thin": "thinning",
    "to_c": "export",
    "to_lightgbm": "export",
    "to_onnx": "export",
    "to_sql": "export",
}
"""The module of each public name; it is imported when the name is first used."""

__all__ = [
    "CartLearner",
    "ClassifierLearner",
    "DualBoostClassifier",
    "DualBoostClassifierCV",
    "DualBoostRegressor",
    "DualBoostRegressorCV",
    "OptimalLearner",
    "RowsOnDisk",
    "SolverOptions",
    "XGBoostLearner",
    "__version__",
    "load_model",
    "thin",
    "to_c",
    "to_lightgbm",
    "to_onnx",
    "to_sql",
]

_ROOMS = ("datasets", "errors", "formulations", "plots")
"""The modules that are part of the public interface."""


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
