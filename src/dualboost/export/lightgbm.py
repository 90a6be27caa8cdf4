"""An ensemble as a LightGBM model."""

from __future__ import annotations

import re
from typing import Any

import lightgbm
import numpy as np

from .._typing import Vector
from ..errors import UnsupportedModelError
from ..models.tree_sum import Inputs, TreeSum
from ..targets.base import BinaryTransform, MulticlassTransform, NumericTransform, QuantileTransform, TransformWriter
from ..trees.lightgbm_text import format_model, require_readable_cuts
from ..trees.tree import Tree, constant_tree
from .reading import summed

A_NAME = re.compile(r'[^\s"\[\]{}:,\x00-\x1f\x7f\ud800-\udfff]+')
"""The names that LightGBM allows for a feature; its text is cut at NUL."""


def to_lightgbm(model: Any) -> lightgbm.Booster:
    """A fitted ensemble of trees as a LightGBM model, with the intercept as a tree without a split.

    Tools that read LightGBM models can read the result: SHAP's ``TreeExplainer``, converters to ONNX, treelite. Under
    "logistic" the objective is "binary": ``predict`` gives the probability of the second class, and with
    ``raw_score=True`` what ``decision_function`` gives. Under other formulations it is "regression", and ``predict``
    gives ``decision_function``: a margin, whose sign is the class. For more than two classes it is "multiclass":
    ``predict`` gives ``predict_proba``, and with ``raw_score=True`` what ``decision_function`` gives; under other
    formulations than "logistic" both are log-probabilities, or made of these, before the class predicted is made the
    most probable one. LightGBM's leaves have one value each, so that every tree of ours is K trees there, one for each
    of K classes, and the intercepts are K trees more. Of a regressor it is "regression", or "poisson" under that loss:
    ``predict`` gives what ours does, and leaves are in the units of y, or in those of the logarithm of the mean. Of a
    regressor with several quantiles it is "custom", which transforms nothing: ``predict`` gives a column for each level
    in the units of y, with K trees for each tree of ours. Sorted by row it is ``predict_quantiles``; what
    ``interval_calibration="conformal"`` adds to intervals is no part of it. SHAP reads such a model, while converters
    to ONNX and treelite refuse it: to these, several scores are those of classes. The model takes data frames with
    categorical columns as ours does. A ``ThinnedTreesClassifier`` has the objective of "logistic". Learners that are
    not trees cannot be exported, nor splits at numbers below 1e-35, such as p-values: LightGBM reads these as zero.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from dualboost import DualBoostClassifier, to_lightgbm
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DualBoostClassifier(max_trees=10).fit(X, y)
    >>> bool(abs(to_lightgbm(clf).predict(X) - clf.predict_proba(X)[:, 1]).max() < 1e-9)
    True
    """
    found = summed(model)
    inputs = found.inputs
    _require_plain_categories(inputs)
    require_readable_cuts(found.trees, lambda feature: f"the feature {inputs.names[feature]!r}")
    objective, slope, shifts = found.output_transform.written_by(Objective())
    trees = _of_one_score(found, slope, shifts)
    text = format_model(
        trees,
        np.ones(len(trees)),
        len(inputs.names),
        _names(inputs),
        list(inputs.categories.values()) or None,
        objective,
        found.n_outputs,
    )
    return lightgbm.Booster(model_str=text)


class Objective(TransformWriter[tuple[str, float, Vector]]):
    """What LightGBM is to make of the scores, and the slope and the shifts that these get before."""

    def two_classes(self, output_transform: BinaryTransform) -> tuple[str, float, Vector]:
        return "binary sigmoid:1" if output_transform.has_log_odds else "regression", 1.0, np.zeros(1)

    def several_classes(self, output_transform: MulticlassTransform) -> tuple[str, float, Vector]:
        curve = output_transform.calibration
        return f"multiclass num_class:{len(output_transform.classes)}", curve.slope, curve.intercepts

    def numbers(self, output_transform: NumericTransform) -> tuple[str, float, Vector]:
        return "poisson" if output_transform.is_logarithm else "regression", 1.0, np.zeros(1)

    def quantiles(self, output_transform: QuantileTransform) -> tuple[str, float, Vector]:
        # With "custom" LightGBM leaves several scores as they are. With "regression" it does too, but a converter to
        # ONNX takes these for one and adds them up, where it refuses "custom".
        return "custom", 1.0, np.zeros(len(output_transform.levels))


def _of_one_score(found: TreeSum, slope: float, shifts: Vector) -> list[Tree]:
    """Trees with one value in each leaf, for one score after the other; the intercepts are trees without a split."""
    trees = [tree.with_votes(slope * values) for tree in found.trees for values in tree.votes.T]
    constants = slope * found.intercepts + shifts
    is_needed = len(constants) > 1 or bool(constants.any()) or not trees
    return [*trees, *(constant_tree(float(value)) for value in constants)] if is_needed else trees


def _require_plain_categories(inputs: Inputs) -> None:
    """Refuse categories that JSON does not have, which the text of a LightGBM model lists."""
    for feature, known in inputs.categories.items():
        odd = next((value for value in known if not isinstance(value, (str, int, float))), None)
        if odd is not None:
            raise UnsupportedModelError(
                f"The category {odd!r} of {inputs.names[feature]!r} is of type {type(odd).__name__}, which a LightGBM "
                "model cannot hold: convert the column to text, numbers or booleans, and fit again."
            )


def _names(inputs: Inputs) -> list[str] | None:
    """The names of the columns, if LightGBM allows them."""
    names = inputs.names
    return names if len(set(names)) == len(names) and all(map(A_NAME.fullmatch, names)) else None
