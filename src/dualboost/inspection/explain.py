"""Explains scores by exact SHAP values of the trees, computed by LightGBM's TreeSHAP."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._typing import Features, Matrix, Vector
from ..errors import UnsupportedModelError
from ..models.fitted import FittedModel
from .names import names_of
from .rules import used_trees


@dataclass(frozen=True, eq=False)
class Explanation:
    """SHAP values of some rows: ``base_value + values.sum(axis=1)`` equals ``decision_function``."""

    values: Matrix = field(repr=False)
    """How far each feature (column) moves the score of each row; a positive value is towards the second class."""
    base_value: float
    """The mean score of the training rows, which includes the intercept."""
    feature_names: list[str]

    def importances(self) -> Vector:
        """The mean absolute SHAP value of each feature."""
        return np.abs(self.values).mean(axis=0)


def explain_margins(model: FittedModel, features: Features) -> Explanation:
    trees = used_trees(model, "explain")
    uncounted = [j for j, tree in trees.items() if tree.n_leaves > 1 and tree.covers is None]
    if uncounted:
        raise UnsupportedModelError(
            f"explain needs the number of training rows in each leaf, which estimators_[{uncounted[0]}] does not have: "
            "it had no weight when it was fitted. Thin with another C, or fit again."
        )
    contributions = model.ensemble.contributions(features)
    return Explanation(contributions[:, :-1], float(contributions[0, -1]), names_of(model).features)
