"""Fitted scikit-learn trees with other leaf values: ``tree_.value``, which the library itself writes to."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..._typing import Vector


def scaled_tree(tree: Any, scale: float, shift: Any) -> Any:
    """A copy of a fitted tree whose values are scaled and shifted; the shift is a number, or one for each class."""
    changed = copy.deepcopy(tree)
    changed.tree_.value[:, 0, :] = scale * changed.tree_.value[:, 0, :] + shift
    return changed


def averaged_trees(trees: list[Any], weights: Vector, intercept: float) -> list[Any]:
    """Class trees whose mean probability is sum_j weights_j P_j, what is missing to one given by the intercept."""
    rest = 1.0 - float(weights.sum())
    constant = np.array([0.5 * (rest - intercept), 0.5 * (rest + intercept)])
    scales = weights * len(trees)
    return [scaled_tree(tree, scale, constant) for tree, scale in zip(trees, scales, strict=True)]
