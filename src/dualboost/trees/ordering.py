"""The order of the values of leaves in which scores rise, or fall, with some features.

Two leaves are compared by a feature if a row of one falls into the other when that feature alone changes. The split
where their paths part is then by that feature, and all other features have values that both leaves take. An order of
all pairs that are so compared is enough: a sum of trees in order is in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from .tree import Tree


@dataclass(frozen=True, eq=False)
class LeafOrder:
    """A partial order of leaves: ``below[a, b]`` where the value of b must not be less than that of a."""

    below: NDArray[np.bool_]
    """Of all pairs that follow from others as well, and of each leaf with itself."""

    @cached_property
    def pairs(self) -> tuple[Integers, Integers]:
        """The lower and the upper leaf of each pair from which all others follow."""
        strictly = self.below & ~np.eye(len(self.below), dtype=bool)
        through_others = strictly.astype(np.float32) @ strictly.astype(np.float32) > 0
        lower, upper = np.nonzero(strictly & ~through_others)
        return lower, upper

    @cached_property
    def levels(self) -> Vector:
        """A number for each leaf that is larger by one or more for the upper leaf of every pair."""
        return np.asarray(self.below.sum(axis=0) - 1.0)

    def nearest(self, values: Vector) -> Vector:
        """Values in order, close to these; values already in order stay, and order holds to the last bit.

        Halfway between the largest value below each leaf and the smallest value above it, which are both in order.
        """
        highest_below = np.where(self.below, values[:, None], -np.inf).max(axis=0)
        lowest_above = np.where(self.below, values[None, :], np.inf).min(axis=1)
        return np.asarray(0.5 * highest_below + 0.5 * lowest_above)


def leaf_order(tree: Tree, signs: Sequence[int]) -> LeafOrder | None:
    """The order of the leaves, given 1 for each feature to rise with, -1 to fall with, and 0; None if there is none."""
    below = np.eye(tree.n_leaves, dtype=bool)
    boxes = _boxes(tree)
    for node in tree.top_down():
        feature = int(tree.feature[node])
        if not signs[feature] or node in tree.categories:
            continue
        low_side, high_side = tree.left[node], tree.right[node]
        if signs[feature] < 0:
            low_side, high_side = high_side, low_side
        for a in _leaves_below(tree, int(low_side)):
            for b in _leaves_below(tree, int(high_side)):
                below[a, b] = boxes[a].meets(boxes[b], feature)
    if below.sum() == tree.n_leaves:
        return None
    return LeafOrder(_closed(below))


@dataclass(frozen=True)
class _Box:
    """The numbers that features may have in a leaf, above ``low`` and up to ``high``, and which may be missing.

    Sets of categories are not followed: leaves that differ by them alone are taken to have values in common.
    """

    low: dict[int, float]
    high: dict[int, float]
    without_missing: frozenset[int]
    """The features that cannot be missing."""

    def has_numbers(self, feature: int) -> bool:
        return self.low.get(feature, -np.inf) < self.high.get(feature, np.inf)

    def meets(self, other: _Box, feature: int) -> bool:
        """Whether both have numbers for the feature, and values in common for every other one."""
        tested = (self.low.keys() | self.high.keys() | other.low.keys() | other.high.keys()) - {feature}
        return self.has_numbers(feature) and other.has_numbers(feature) and all(self._shares(k, other) for k in tested)

    def _shares(self, feature: int, other: _Box) -> bool:
        low = max(self.low.get(feature, -np.inf), other.low.get(feature, -np.inf))
        high = min(self.high.get(feature, np.inf), other.high.get(feature, np.inf))
        return low < high or feature not in self.without_missing | other.without_missing

    def side(self, tree: Tree, node: int, is_left: bool) -> _Box:
        """The part of the box on one side of a split."""
        feature, cut = int(tree.feature[node]), float(tree.threshold[node])
        if node in tree.categories:
            return self
        gone = self.without_missing if is_left == bool(tree.missing_left[node]) else self.without_missing | {feature}
        if is_left:
            return _Box(self.low, self.high | {feature: min(cut, self.high.get(feature, np.inf))}, gone)
        return _Box(self.low | {feature: max(cut, self.low.get(feature, -np.inf))}, self.high, gone)


def _boxes(tree: Tree) -> dict[int, _Box]:
    found: dict[int, _Box] = {}
    pending = [(0 if len(tree.feature) else ~0, _Box({}, {}, frozenset()))]
    while pending:
        node, box = pending.pop()
        if node < 0:
            found[~node] = box
            continue
        pending += [
            (int(child), box.side(tree, node, is_left))
            for child, is_left in ((tree.left[node], True), (tree.right[node], False))
        ]
    return found


def _leaves_below(tree: Tree, node: int) -> list[int]:
    pending, found = [node], []
    while pending:
        here = pending.pop()
        if here < 0:
            found.append(~here)
        else:
            pending += [int(tree.left[here]), int(tree.right[here])]
    return found


def _closed(below: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The pairs with all that follow from them."""
    while True:
        further = below.astype(np.float32) @ below.astype(np.float32) > 0
        if (further == below).all():
            return below
        below = further
