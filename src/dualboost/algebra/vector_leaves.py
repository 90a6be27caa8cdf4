"""The leaves of trees as columns where a leaf has a value for each class: products with matrices of one row a datum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Matrix
from ..trees.ordering import LeafOrder
from .leaves import LeafColumns, LeafNumbers
from .outputs import OutputsThemselves
from .rows import Rows
from .side_rows import NoSideRows


class VectorLeafColumns(LeafColumns):
    """The leaves of the trees held; every product is with a matrix that has one column for each class."""

    def __init__(self, rows: Rows, n_classes: int) -> None:
        self.rows = rows
        self.n_classes = n_classes
        self.sides = NoSideRows()
        self.sizes: list[int] = []
        self.orders: list[LeafOrder | None] = []
        self._leaves: list[LeafNumbers] = []
        self._indicators: dict[int, tuple[LeafNumbers, sparse.csr_matrix]] = {}
        """The indicators of each tree's leaves by the identity of its leaf numbers, which are held to keep it."""

    def hold(self, trees: Sequence[tuple[Any, ...]]) -> None:
        super().hold(trees)
        held = {id(leaves) for leaves in self._leaves}
        self._indicators = {key: known for key, known in self._indicators.items() if key in held}

    def with_one_value(self) -> LeafColumns:
        """The same leaves with a single value each."""
        columns = LeafColumns(self.rows, OutputsThemselves())
        columns.hold(list(zip(self._leaves, self.sizes, strict=True)))
        return columns

    def indicators(self, k: int) -> sparse.csr_matrix:
        """One row for each leaf of a tree, with a one for each row of the data in it."""
        leaves = self._leaves[k]
        if id(leaves) not in self._indicators:
            self._indicators[id(leaves)] = leaves, leaf_indicators(leaves, self.sizes[k])
        return self._indicators[id(leaves)][1]

    def sums_of_tree(self, k: int, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """For each leaf of one tree, the sum of the matrix over its rows."""
        return self.rows.workers.sum(np.asarray(self.indicators(k) @ values))

    def sums(self, values: Matrix) -> Matrix:
        parts = [np.asarray(self.indicators(k) @ values) for k in range(self.n_trees)]
        return self.rows.workers.sum(np.concatenate([*parts, np.zeros((0, values.shape[1]))]))

    def scores(self, values: Matrix) -> Matrix:
        scores = np.zeros((self.rows.n_data, values.shape[1]))
        for k in range(self.n_trees):
            scores += values[self.of_tree(k)].take(self._leaves[k], axis=0)
        return scores


def leaf_indicators(leaves: NDArray[np.integer], n_leaves: int) -> sparse.csr_matrix:
    """One row for each leaf, with a one for each row of the data in it; single precision holds ones exactly."""
    order = np.argsort(leaves, kind="stable").astype(np.int32)
    starts = np.append(0, np.cumsum(np.bincount(leaves, minlength=n_leaves))).astype(np.int32)
    return sparse.csr_matrix((np.ones(len(leaves), dtype=np.float32), order, starts), shape=(n_leaves, len(leaves)))
