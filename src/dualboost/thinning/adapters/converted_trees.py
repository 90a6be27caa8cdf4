"""scikit-learn's trees as trees of ours.

scikit-learn rounds features to single precision before it compares them with a threshold. Ours compare in double
precision, so that each threshold is moved to the largest number that single precision rounds to the left side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Integers, Scores, Vector
from ...trees.pruning import pruned
from ...trees.tree import Tree, constant_tree


def difference(tree: Any) -> Vector:
    """P(second class) - P(first class) in each node of a ``tree_`` of a classifier, which tells its leaves apart."""
    return np.asarray(tree.value[:, 0, 1] - tree.value[:, 0, 0])


def converted(tree: Any, values: Scores, features: Integers | None = None) -> Tree:
    """A fitted ``tree_`` with other values, of which there is one, or one for each class, for every node.

    ``features`` are the places of its features in the data, if it has a part of them.
    """
    is_leaf = tree.children_left < 0
    if is_leaf[0]:
        return constant_tree(0.0).with_votes(values[:1])
    number = np.where(is_leaf, ~(np.cumsum(is_leaf) - 1), np.cumsum(~is_leaf) - 1)
    inner = ~is_leaf
    feature = tree.feature[inner].astype(np.intp)
    gains = tree.weighted_n_node_samples * tree.impurity
    gain = gains[inner] - gains[tree.children_left[inner]] - gains[tree.children_right[inner]]
    return pruned(
        Tree(
            feature=feature if features is None else features[feature].astype(np.intp),
            threshold=_in_double_precision(tree.threshold[inner]),
            left=number[tree.children_left[inner]].astype(np.intp),
            right=number[tree.children_right[inner]].astype(np.intp),
            missing_left=tree.missing_go_to_left[inner].astype(bool),
            categories={},
            gain=np.maximum(gain, 0.0),
            votes=values[is_leaf],
        )
    )


def _in_double_precision(thresholds: Vector) -> Vector:
    """For each threshold t the largest x in double precision that is at most t after rounding to single precision."""
    nearest = thresholds.astype(np.float32)
    below = np.where(nearest <= thresholds, nearest, np.nextafter(nearest, np.float32(-np.inf)))
    above = np.nextafter(below, np.float32(np.inf))
    middle = 0.5 * (below.astype(float) + above.astype(float))
    with np.errstate(over="ignore"):
        rounds_down = middle.astype(np.float32) <= below
    moved = np.where(rounds_down, middle, np.nextafter(middle, -np.inf))
    return np.asarray(np.minimum(moved, np.finfo(float).max))
