"""Writes and reads a weighted tree as an object of a model file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Integers, Scores, Vector
from ..trees.tree import DEEPEST, Tree
from .checks import SMALLEST, fail, fields, flags, inside, integers, items, matrix, number, numbers, shown

KEYS = ("weight", "feature", "threshold", "left", "right", "missing_left", "categories", "gain", "votes", "covers")

LARGEST_FIGURE = 1e100
"""The largest weight, gain or number of rows, so that sums and products of such numbers are finite."""


def describe_tree(tree: Tree, weight: float) -> dict[str, Any]:
    """The tree as plain lists; a threshold that is not finite, such as that of a categorical split, is null."""
    nodes = range(len(tree.feature))
    is_cut = [math.isfinite(tree.threshold[node]) and node not in tree.categories for node in nodes]
    return {
        "weight": float(weight),
        "feature": tree.feature.tolist(),
        "threshold": [float(tree.threshold[node]) if is_cut[node] else None for node in nodes],
        "left": tree.left.tolist(),
        "right": tree.right.tolist(),
        "missing_left": tree.missing_left.tolist(),
        "categories": [tree.categories[node].tolist() if node in tree.categories else None for node in nodes],
        "gain": tree.gain.tolist(),
        "votes": tree.votes.tolist(),
        "covers": None if tree.covers is None else tree.covers.tolist(),
    }


@dataclass(frozen=True)
class TreeReader:
    """Reads the trees of one model, which share features and categories."""

    n_features: int
    n_categories: dict[int, int]
    """The number of categories of each categorical feature."""
    largest_vote: float = 1.0
    n_outputs: int = 1
    """How many votes a leaf has: one, or one for each class."""

    def read(self, value: Any, where: str) -> tuple[float, Tree]:
        """A weight and its tree."""
        entry = fields(value, where, KEYS)
        votes = self._votes(entry["votes"], inside(where, "votes"))
        n = len(votes) - 1
        if n < 0:
            fail(inside(where, "votes"), "is empty; a tree has at least one leaf")
        feature = integers(entry["feature"], inside(where, "feature"), n, 0, self.n_features - 1)
        left, right = (integers(entry[side], inside(where, side), n, -n - 1, n - 1) for side in ("left", "right"))
        _require_one_parent(left, right, where)
        tree = Tree(
            feature=feature,
            threshold=numbers(entry["threshold"], inside(where, "threshold"), n, null=math.inf),
            left=left,
            right=right,
            missing_left=np.array(flags(entry["missing_left"], inside(where, "missing_left"), n), dtype=bool),
            categories=self._categories(entry["categories"], inside(where, "categories"), feature),
            gain=numbers(entry["gain"], inside(where, "gain"), n, 0.0, LARGEST_FIGURE),
            votes=votes,
            covers=_covers(entry["covers"], inside(where, "covers"), n + 1),
        )
        _require_plain_categories(tree, where)
        if tree.depth > DEEPEST:
            fail(where, f"is {tree.depth} splits deep; a tree may have a depth of at most {DEEPEST}")
        return number(entry["weight"], inside(where, "weight"), SMALLEST, LARGEST_FIGURE), tree

    def _votes(self, value: Any, where: str) -> Scores:
        if self.n_outputs > 1:
            return matrix(value, where, self.n_outputs, -self.largest_vote, self.largest_vote)
        return numbers(value, where, None, -self.largest_vote, self.largest_vote)

    def _categories(self, value: Any, where: str, feature: Integers) -> dict[int, Integers]:
        """The codes that go left, for the nodes that split by category."""
        found = {}
        for node, codes in enumerate(items(value, where, len(feature))):
            n_known = self.n_categories.get(int(feature[node]))
            place = inside(where, node)
            if n_known is None:
                if codes is not None:
                    fail(place, f"is {shown(codes)}; it must be null, as feature {feature[node]} has no categories")
                continue
            found[node] = integers(codes, place, None, 0, n_known - 1)
            if not len(codes) or (np.diff(found[node]) <= 0).any():
                fail(place, f"is {shown(codes)}; it must be one or more codes, increasing")
        return found


def _covers(value: Any, where: str, n_leaves: int) -> Vector | None:
    return None if value is None else numbers(value, where, n_leaves, 0.0, LARGEST_FIGURE)


def _require_one_parent(left: Integers, right: Integers, where: str) -> None:
    """Require that every child comes after its parent and has no other parent.

    A tree has as many children as places for them, so that every node and leaf is then reached from the root.
    """
    seen: set[int] = set()
    for node, children in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        for side, child in zip(("left", "right"), children, strict=True):
            place = inside(inside(where, side), node)
            if 0 <= child <= node:
                fail(place, f"is {child}; a child must come after its node")
            if child in seen:
                fail(place, f"is {child}, which is a child of another node")
            seen.add(child)


def _require_plain_categories(tree: Tree, where: str) -> None:
    """Require that a categorical split has no threshold, and sends missing values right."""
    for node in tree.categories:
        if math.isfinite(tree.threshold[node]):
            fail(inside(inside(where, "threshold"), node), "is a number; it must be null at a split by category")
        if tree.missing_left[node]:
            fail(inside(inside(where, "missing_left"), node), "is true; it must be false at a split by category")
