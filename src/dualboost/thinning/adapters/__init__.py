"""One adapter a kind of model, and the registry that a new one joins by one line."""

from __future__ import annotations

from typing import Any

from ...errors import UnsupportedModelError
from ..base import Adapter
from .adaboost import AdaBoostAdapter
from .bagging import BaggingAdapter
from .catboost import CatBoostAdapter
from .classifiers import ClassifiersAdapter
from .forest import ForestAdapter
from .gradient_boosting import GradientBoostingAdapter
from .hist_gradient_boosting import HistGradientBoostingAdapter
from .lightgbm import LightGBMAdapter
from .own import OwnAdapter
from .xgboost import XGBoostAdapter

ADAPTERS: list[type[Adapter]] = [
    OwnAdapter,
    AdaBoostAdapter,
    ForestAdapter,
    BaggingAdapter,
    GradientBoostingAdapter,
    HistGradientBoostingAdapter,
    XGBoostAdapter,
    LightGBMAdapter,
    CatBoostAdapter,
    ClassifiersAdapter,
]


def adapter_for(model: Any) -> Adapter:
    """The adapter that reads this model."""
    for adapter in ADAPTERS:
        if adapter.handles(model):
            return adapter(model)
    known = "; ".join(adapter.describes for adapter in ADAPTERS)
    hint = f"; did you mean a fitted {model.__name__}()?" if isinstance(model, type) else ""
    raise UnsupportedModelError(
        f"model of type {type(model).__name__} cannot be thinned{hint}. These can, if they have two classes: {known}."
    )


__all__ = ["ADAPTERS", "adapter_for"]
