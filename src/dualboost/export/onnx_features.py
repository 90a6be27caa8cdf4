"""The matrix that trees of ONNX are run on.

Numbers stand in it as they are. A set of categories has a column that is 1 outside of the set and 0 inside, so that all
splits are comparisons: ONNX Runtime has its own operator for sets, which 1.21 gets wrong where one follows another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedModelError
from ..models.tree_sum import TreeSum
from ..trees.tree import Tree
from .onnx_graph import DOUBLE, INT64, ML_DOMAIN, Graph

OUTSIDE = 0.5
"""Where a column that is 0 or 1 is cut."""


class CategorySet(NamedTuple):
    """The codes that go left, and whether missing ones do."""

    codes: frozenset[int]
    takes_missing: bool


class FeatureMatrix:
    """The matrix, under the name ``result``, and where features and sets stand in it."""

    def __init__(self, found: TreeSum, graph: Graph) -> None:
        self._found, self._graph = found, graph
        self._has_names = bool(found.inputs.categories)
        self._numbers: dict[int, int] = {}
        self._sets: dict[tuple[int, CategorySet], int] = {}
        self.result = self._made(_sets_of(found.trees))

    def place(self, tree: Tree, node: int) -> int:
        feature = int(tree.feature[node])
        return self._sets[feature, _set_of(tree, node)] if node in tree.categories else self._numbers[feature]

    def _made(self, sets: dict[int, list[CategorySet]]) -> str:
        graph, n = self._graph, len(self._found.inputs.names)
        if not self._has_names:
            parts, width = [graph.input("X", "f", n)], n
            self._numbers = {k: k for k in range(n)}
        else:
            compared = [k for k in self._found.used_features.tolist() if k not in sets]
            parts, width = [graph.input(self._found.inputs.names[k], "f", 1) for k in compared], len(compared)
            self._numbers = {k: place for place, k in enumerate(compared)}
        for feature, own in sets.items():
            parts.append(self._outside(feature, own))
            self._sets |= {(feature, one): width + place for place, one in enumerate(own)}
            width += len(own)
        return graph.step("Concat", *parts, axis=1) if parts else self._rows_alone()

    def _rows_alone(self) -> str:
        """A column of zeros: no tree tests a feature, and the first column only tells how many rows there are."""
        graph, name, known = self._graph, self._found.inputs.names[0], self._found.inputs.categories.get(0)
        column = graph.input(name, "f" if known is None else _of_one_type(name, known).dtype.kind, 1)
        return graph.step("ConstantOfShape", graph.step("Shape", column), value=graph.tensor(np.zeros(1)))

    def _outside(self, feature: int, sets: list[CategorySet]) -> str:
        """A column for each set; the last row of the table is that of missing and unknown categories."""
        values, column = self._values(feature, sets)
        n = len(values)
        table = [[k not in one.codes for one in sets] for k in range(n)] + [[not one.takes_missing for one in sets]]
        codes = self._graph.step(
            "LabelEncoder",
            column,
            domain=ML_DOMAIN,
            keys_tensor=self._graph.tensor(values),
            values_tensor=self._graph.tensor(np.arange(n, dtype=np.int64)),
            default_tensor=self._graph.tensor(np.array([n], dtype=np.int64)),
        )
        flat = self._graph.step("Reshape", codes, self._graph.constant([-1]))
        sides = self._graph.step("Gather", self._graph.constant(np.array(table, dtype=np.uint8)), flat, axis=0)
        return self._graph.step("Cast", sides, to=DOUBLE)

    def _values(self, feature: int, sets: list[CategorySet]) -> tuple[NDArray[Any], str]:
        """The known categories in the order of their codes, and the column that holds them."""
        graph, name = self._graph, self._found.inputs.names[feature]
        known = self._found.inputs.categories.get(feature)
        if known is None:  # the column holds codes
            codes = np.arange(max((max(one.codes, default=0) for one in sets), default=0) + 1.0)
            return codes, graph.step("Gather", "X", graph.constant([feature]), axis=1)
        values = _of_one_type(name, known)
        column = graph.input(name, values.dtype.kind, 1)
        if values.dtype.kind == "b":
            return values.astype(np.int64), graph.step("Cast", column, to=INT64)
        return values, column


def _sets_of(trees: list[Tree]) -> dict[int, list[CategorySet]]:
    """The sets of each feature that is split by categories, in the order of the trees."""
    found: dict[int, dict[CategorySet, None]] = {}
    for tree in trees:
        for node in sorted(tree.categories):
            found.setdefault(int(tree.feature[node]), {})[_set_of(tree, node)] = None
    return {feature: list(sets) for feature, sets in found.items()}


def _set_of(tree: Tree, node: int) -> CategorySet:
    return CategorySet(frozenset(tree.categories[node].tolist()), bool(tree.missing_left[node]))


def _of_one_type(name: str, known: list[Any]) -> NDArray[Any]:
    """The values of a column of categories."""
    for kind, dtype in ((str, object), (bool, np.bool_), (int, np.int64), (float, np.float64)):
        if all(type(value) is kind for value in known):
            return np.array(known, dtype=dtype)
    raise UnsupportedModelError(
        f"The categories of {name!r} are of several types, or of one that ONNX does not have: {known[:5]}. Convert the "
        "column to text, integers, floats or booleans, and fit again."
    )
