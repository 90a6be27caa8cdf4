"""Trees and values in a model file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Scores
from ..errors import UnsupportedModelError
from ..trees.tree import DEEPEST, Tree
from .checks import (
    LARGEST,
    SMALLEST,
    choice,
    fail,
    fields,
    flag,
    flags,
    inside,
    integer,
    integers,
    items,
    matrix,
    number,
    numbers,
    spelled,
    text,
)

INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
FLOATS = ("float16", "float32", "float64")
CLASS_TYPES = ("bool", *INTEGERS, *FLOATS, "str", "object")
TEXT_TYPES = ("str", "string", "object")
CATEGORY_TYPES = ("bool", *INTEGERS, *FLOATS[1:], *TEXT_TYPES)
MOST_CHARACTERS = 2**25
"""The most characters of the longest class times the number of classes: numpy keeps every string as long as that."""
MOST_NEGATIVE = -(2**63)
"""The smallest whole number among categories of mixed types."""
MOST_POSITIVE = 2**64 - 1
"""The largest whole number among categories of mixed types."""


def describe_classes(classes: NDArray[Any]) -> dict[str, Any]:
    kind = "str" if classes.dtype.kind == "U" else str(classes.dtype)
    return _describe(kind, CLASS_TYPES, classes.tolist(), "The classes")


def describe_categories(feature: int, categories: NDArray[Any]) -> dict[str, Any]:
    """The categories of a column."""
    values = categories.tolist()
    kind = "str" if all(isinstance(value, str) for value in values) else str(categories.dtype)
    return {"feature": feature} | _describe(kind, CATEGORY_TYPES, values, f"The categories of feature {feature}")


def _describe(kind: str, allowed: tuple[str, ...], values: list[Any], what: str) -> dict[str, Any]:
    odd = next((value for value in values if type(value) not in (bool, int, float, str)), None)
    if kind not in allowed or odd is not None:
        reason = f"are of type {kind}" if odd is None else f"hold {odd!r}"
        raise UnsupportedModelError(
            f"{what} {reason}, which a model file cannot hold; fit with numbers or strings, or pickle the model."
        )
    return {"type": kind, "values": values}


def read_classes(value: Any, where: str) -> NDArray[Any]:
    """The classes, in order: two or more."""
    entry = fields(value, where, ("type", "values"))
    kind = choice(entry["type"], inside(where, "type"), CLASS_TYPES)
    place = inside(where, "values")
    values = items(entry["values"], place)
    found = [_scalar(v, inside(place, k), kind, mixed=False) for k, v in enumerate(values)]
    if len(found) < 2:
        fail(place, f"has {len(found)} entries; it must have 2 or more")
    if kind == "str" and len(found) * max(map(len, found)) > MOST_CHARACTERS:
        fail(place, f"has {len(found)} strings, of which one is too long for so many")
    classes = np.array(found, dtype=kind)
    _require_order(found, classes.tolist(), place, kind)
    return classes


def _require_order(found: list[Any], kept: list[Any], where: str, kind: str) -> None:
    """Require that classes increase, and that numpy has kept them as they are."""
    for k, name in enumerate(found):
        if kept[k] != name:
            fail(inside(where, k), f"is {spelled(name)}, which {kind} does not hold exactly")
        if k and not found[k - 1] < name:
            fail(inside(where, k), f"is {spelled(name)}, after {spelled(found[k - 1])}; classes must be in order")


def read_categories(value: Any, where: str, n_features: int) -> tuple[int, NDArray[Any]]:
    """The position of a feature and its categories."""
    entry = fields(value, where, ("feature", "type", "values"))
    feature = integer(entry["feature"], inside(where, "feature"), 0, n_features - 1)
    kind = choice(entry["type"], inside(where, "type"), CATEGORY_TYPES)
    place = inside(where, "values")
    found = [_scalar(v, inside(place, k), kind, mixed=True) for k, v in enumerate(items(entry["values"], place))]
    if len(set(found)) < len(found):
        fail(place, "has a category twice")
    return feature, np.array(found, dtype=object if kind in TEXT_TYPES else kind)


def _scalar(value: Any, where: str, kind: str, mixed: bool) -> Any:
    """A value that an array of this type holds exactly; with ``mixed``, objects may also be numbers and booleans."""
    if kind == "object" and mixed and type(value) is not str:
        kind = {bool: "bool", int: "integer", float: "float64"}.get(type(value), kind)
    if kind in TEXT_TYPES:
        return text(value, where)
    if kind == "bool":
        return flag(value, where)
    if kind in FLOATS:
        found = number(value, where, -LARGEST, LARGEST)
        if abs(found) > float(np.finfo(kind).max) or float(np.dtype(kind).type(found)) != found:
            fail(where, f"is {spelled(value)}, which {kind} does not hold exactly")
        return found
    low, high = (MOST_NEGATIVE, MOST_POSITIVE) if kind == "integer" else (np.iinfo(kind).min, np.iinfo(kind).max)
    return integer(value, where, int(low), int(high))


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
        "votes": tree.votes.reshape(tree.n_leaves, -1).tolist(),
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
    """How many votes a leaf has: one for each class or quantile of several, else one."""

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
        covers = entry["covers"]
        if covers is not None:
            covers = numbers(covers, inside(where, "covers"), n + 1, 0.0, LARGEST_FIGURE)
        tree = Tree(
            feature=feature,
            threshold=numbers(entry["threshold"], inside(where, "threshold"), n, null=math.inf),
            left=left,
            right=right,
            missing_left=np.array(flags(entry["missing_left"], inside(where, "missing_left"), n), dtype=bool),
            categories=self._categories(entry["categories"], inside(where, "categories"), feature),
            gain=numbers(entry["gain"], inside(where, "gain"), n, 0.0, LARGEST_FIGURE),
            votes=votes,
            covers=covers,
        )
        _require_plain_categories(tree, where)
        if tree.depth > DEEPEST:
            fail(where, f"is {tree.depth} splits deep; a tree may have a depth of at most {DEEPEST}")
        return number(entry["weight"], inside(where, "weight"), SMALLEST, LARGEST_FIGURE), tree

    def _votes(self, value: Any, where: str) -> Scores:
        votes = matrix(value, where, self.n_outputs, -self.largest_vote, self.largest_vote)
        return votes if self.n_outputs > 1 else votes[:, 0]

    def _categories(self, value: Any, where: str, feature: Integers) -> dict[int, Integers]:
        found = {}
        for node, codes in enumerate(items(value, where, len(feature))):
            n_known = self.n_categories.get(int(feature[node]))
            place = inside(where, node)
            if n_known is None:
                if codes is not None:
                    fail(place, f"is {spelled(codes)}; it must be null, as feature {feature[node]} has no categories")
                continue
            found[node] = integers(codes, place, None, 0, n_known - 1)
            if not len(codes) or (np.diff(found[node]) <= 0).any():
                fail(place, f"is {spelled(codes)}; it must be one or more codes, increasing")
        return found


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
