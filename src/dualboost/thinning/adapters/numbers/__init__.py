"""One adapter for each kind of regressor."""

from __future__ import annotations

from ...base import Adapter
from .averages import BaggingNumbersAdapter, ForestNumbersAdapter
from .catboost import CatBoostNumbersAdapter
from .gradient_boosting import GradientBoostingNumbersAdapter
from .hist_gradient_boosting import HistGradientBoostingNumbersAdapter
from .lightgbm import LightGBMNumbersAdapter
from .own import OwnNumbersAdapter
from .xgboost import XGBoostNumbersAdapter

NUMBER_ADAPTERS: list[type[Adapter]] = [
    OwnNumbersAdapter,
    ForestNumbersAdapter,
    BaggingNumbersAdapter,
    GradientBoostingNumbersAdapter,
    HistGradientBoostingNumbersAdapter,
    XGBoostNumbersAdapter,
    LightGBMNumbersAdapter,
    CatBoostNumbersAdapter,
]

__all__ = ["NUMBER_ADAPTERS"]
