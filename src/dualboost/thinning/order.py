"""Whether a model must rise or fall with some features, which new values of its leaves would not keep."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

PARAMETERS = ("monotonic_cst", "monotone_constraints")
"""What scikit-learn and dualboost, and XGBoost, LightGBM and CatBoost, call the constraint."""
NO_ORDER = set("(), 0[]")
"""What a text of constraints holds that asks for nothing."""


def is_ordered(model: Any) -> bool:
    """Whether the model was fitted with a monotone constraint, as far as the model itself knows."""
    return any(_asks(value) for parameters in _parameters(model) for value in map(parameters.get, PARAMETERS))


def _parameters(model: Any) -> list[dict[str, Any]]:
    """The parameters of an estimator; those of a booster, which LightGBM and XGBoost hold in their own ways."""
    if hasattr(model, "get_params"):
        return [model.get_params(deep=False)]
    if hasattr(model, "save_config"):
        learner = json.loads(model.save_config())["learner"]
        return [learner["gradient_booster"].get("tree_train_param", {})]
    held = getattr(model, "params", None)
    return [held] if isinstance(held, dict) else []


def _asks(value: Any) -> bool:
    if isinstance(value, str):
        return not NO_ORDER.issuperset(value)
    if isinstance(value, dict):
        return any(map(_asks, value.values()))
    return value is not None and bool(np.any(np.asarray(value) != 0))
