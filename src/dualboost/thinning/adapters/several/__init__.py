"""One adapter for each kind of model of several classes."""

from __future__ import annotations

from ...base import Adapter
from .averages import BaggingClassesAdapter, ForestClassesAdapter
from .catboost import CatBoostClassesAdapter
from .gradient_boosting import GradientBoostingClassesAdapter
from .hist_gradient_boosting import HistGradientBoostingClassesAdapter
from .lightgbm import LightGBMClassesAdapter
from .own import OwnClassesAdapter
from .xgboost import XGBoostClassesAdapter

CLASS_ADAPTERS: list[type[Adapter]] = [
    OwnClassesAdapter,
    ForestClassesAdapter,
    BaggingClassesAdapter,
    GradientBoostingClassesAdapter,
    HistGradientBoostingClassesAdapter,
    XGBoostClassesAdapter,
    LightGBMClassesAdapter,
    CatBoostClassesAdapter,
]

__all__ = ["CLASS_ADAPTERS"]
