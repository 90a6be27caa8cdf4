"""Explains scores by exact SHAP values of the trees, computed by LightGBM's TreeSHAP."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._typing import Features, Scores, Vector
from ..errors import UnsupportedModelError
from ..models.fitted import FittedModel
from .rules import used_trees

MOST_ON_A_PATH = 40
"""The most features that may be tested on the way to a leaf: TreeSHAP loses about a digit with every three features, so
that its values are right to 1e-6 with so many, and wrong with 60."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """SHAP values of some rows: ``base_value + values.sum(axis=1)`` equals ``decision_function``.

    Of a regressor it equals ``predict``, or under the Poisson loss its logarithm.
    """

    values: Scores = field(repr=False)
    """How far each feature (column) moves the score of each row; a positive value is towards the second class.

    Of a regressor, how far the prediction, in the units of y; under the Poisson loss, its logarithm.
    For several classes there is a third axis, with an entry for each class, as in ``shap.Explanation``.
    """
    base_value: float | Vector
    """The mean score of the training rows, with the intercept; for several classes or quantiles one for each."""
    feature_names: list[str]
    class_names: list[str]
    """Those of the quantiles for a regressor that has several; empty for others."""

    def importances(self) -> Vector:
        """The mean absolute SHAP value of each feature; for several classes their sum over the classes.

        This is the length of a feature's bar in ``shap.summary_plot``.
        """
        means = np.abs(self.values).mean(axis=0)
        return means.reshape(len(self.feature_names), -1).sum(axis=1)


def explain_margins(model: FittedModel, features: Features) -> Explanation:
    trees = used_trees(model, "explain")
    uncounted = [j for j, tree in trees.items() if tree.n_leaves > 1 and tree.covers is None]
    if uncounted:
        raise UnsupportedModelError(
            f"explain needs the number of training rows in each leaf, which estimators_[{uncounted[0]}] does not have: "
            "it had no weight when it was fitted. Thin with another C, or fit again."
        )
    for j, tree in trees.items():
        n_tested = tree.most_on_a_path
        if n_tested > MOST_ON_A_PATH:
            raise UnsupportedModelError(
                f"explain: estimators_[{j}] tests {n_tested} features on the way to one leaf, and SHAP values are not "
                f"exact with more than {MOST_ON_A_PATH}: fit with max_depth={MOST_ON_A_PATH} or less."
            )
    contributions = model.in_units.contributions(features)
    values, base_value = np.moveaxis(contributions[..., :-1], -1, 1), contributions[0, ..., -1]
    one_or_each = float(base_value) if model.task.n_outputs == 1 else base_value
    return Explanation(np.ascontiguousarray(values), one_or_each, model.inputs.names, model.task.output_names)
