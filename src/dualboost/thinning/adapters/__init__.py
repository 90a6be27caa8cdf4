"""The registry of adapters: one file a library."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier
from sklearn.ensemble import AdaBoostRegressor
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline

from ...errors import UnsupportedModelError
from ..base import Adapter
from .averages import (
    BaggingAdapter,
    BaggingClassesAdapter,
    BaggingNumbersAdapter,
    ForestAdapter,
    ForestClassesAdapter,
    ForestNumbersAdapter,
)
from .catboost import CatBoostAdapter, CatBoostClassesAdapter, CatBoostNumbersAdapter
from .classifiers import AdaBoostAdapter, ClassifiersAdapter
from .gradient_boosting import GradientBoostingAdapter, GradientBoostingClassesAdapter, GradientBoostingNumbersAdapter
from .hist_gradient_boosting import (
    HistGradientBoostingAdapter,
    HistGradientBoostingClassesAdapter,
    HistGradientBoostingNumbersAdapter,
)
from .lightgbm import LightGBMAdapter, LightGBMClassesAdapter, LightGBMNumbersAdapter
from .own import OwnAdapter, OwnClassesAdapter, OwnNumbersAdapter
from .xgboost import XGBoostAdapter, XGBoostClassesAdapter, XGBoostNumbersAdapter

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
    for adapter in (*NUMBER_ADAPTERS, *CLASS_ADAPTERS, *ADAPTERS):
        if adapter.handles(model):
            return adapter(model)
    known = "; ".join(adapter.describes for adapter in (*ADAPTERS, *NUMBER_ADAPTERS))
    raise UnsupportedModelError(
        f"model of type {type(model).__name__} cannot be thinned{_hint(model)}. These can: {known}."
    )


def _hint(model: Any) -> str:
    """A hint at what the user may have meant to pass."""
    if isinstance(model, type):
        return f" (it is a class; pass a fitted {model.__name__}())"
    if hasattr(model, "best_estimator_"):
        return " (pass its best_estimator_)"
    if isinstance(model, (FixedThresholdClassifier, TunedThresholdClassifierCV)):
        return " (pass its estimator_, and put the result into a FixedThresholdClassifier with the same threshold)"
    if isinstance(model, Pipeline):
        return " (pass its last step, and X as the other steps transform it)"
    if isinstance(model, AdaBoostRegressor):
        return " (it predicts a weighted median of its trees, which is no sum of them)"
    if hasattr(model, "estimators_") and is_classifier(model):
        return " (pass a list of its members)"
    return ""


__all__ = ["ADAPTERS", "CLASS_ADAPTERS", "NUMBER_ADAPTERS", "adapter_for"]
