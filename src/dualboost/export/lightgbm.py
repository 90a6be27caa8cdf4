"""Ensembles as LightGBM models."""

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

    Tools for LightGBM models read the result: SHAP's ``TreeExplainer``, converters to ONNX, treelite. LightGBM's leaves
    have one value each, so that K scores need K trees for each tree of ours, and K for the intercepts. The objective is

    - "binary" under "logistic" and of a ``ThinnedTreesClassifier``: ``predict`` returns the probability of the second
      class, and with ``raw_score=True`` the ``decision_function``;
    - "regression" under other formulations: ``predict`` returns ``decision_function``, a margin, whose sign is the
      class;
    - "multiclass" for more than two classes: ``predict`` returns ``predict_proba``, and with ``raw_score=True`` the
      ``decision_function``. Under other formulations than "logistic" raw scores are log-probabilities, without the
      correction by which the predicted class becomes the most probable one;
    - "regression" of a regressor, or "poisson" under that loss: ``predict`` returns our prediction, and leaves are in
      the units of y, or of the logarithm of the mean;
    - "custom", without a transform, of a regressor with several quantiles: ``predict`` returns a column for each level
      in the units of y. Sorted by row it is ``predict_quantiles``; the widening of
      ``interval_calibration="conformal"`` is not in the model. SHAP reads it; converters
      to ONNX and treelite refuse it, since they need classes for several scores.

    The model accepts data frames with categorical columns as ours does. Learners that are not trees cannot be exported,
    nor splits between numbers up to 1e-35 in size, such as p-values: LightGBM reads these as zero.

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
    """The objective of LightGBM, and the slope and the shifts that the scores need before it."""

    def two_classes(self, output_transform: BinaryTransform) -> tuple[str, float, Vector]:
        return "binary sigmoid:1" if output_transform.has_log_odds else "regression", 1.0, np.zeros(1)

    def several_classes(self, output_transform: MulticlassTransform) -> tuple[str, float, Vector]:
        curve = output_transform.calibration
        return f"multiclass num_class:{len(output_transform.classes)}", curve.slope, curve.intercepts

    def numbers(self, output_transform: NumericTransform) -> tuple[str, float, Vector]:
        return "poisson" if output_transform.is_logarithm else "regression", 1.0, np.zeros(1)

    def quantiles(self, output_transform: QuantileTransform) -> tuple[str, float, Vector]:
        # With "custom" and "regression" LightGBM does not transform scores. A converter to ONNX refuses "custom", but
        # under "regression" it would add several scores up.
        return "custom", 1.0, np.zeros(len(output_transform.levels))


def _of_one_score(found: TreeSum, slope: float, shifts: Vector) -> list[Tree]:
    """Trees with one value a leaf, K for each tree of ours; the intercepts are trees without a split."""
    trees = [tree.with_votes(slope * values) for tree in found.trees for values in tree.votes.T]
    constants = slope * found.intercepts + shifts
    is_needed = len(constants) > 1 or bool(constants.any()) or not trees
    return [*trees, *(constant_tree(float(value)) for value in constants)] if is_needed else trees


def _require_plain_categories(inputs: Inputs) -> None:
    """Refuse categories that JSON cannot hold: the text of a LightGBM model lists them in JSON."""
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
