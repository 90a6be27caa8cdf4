"""The leaves of trees as columns: products with one value a leaf, or one value for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Integers, Matrix, Vector
from ..trees.ordering import LeafOrder
from .columns import NoSideRows
from .pairs import OutputsThemselves
from .rows import LIGHT, Rows

# Only the number of the leaf that a row falls into is held: one byte for each row and tree. Trees that follow each
# other share a *group*, in which the leaves of a row in all of the group's trees are one number, its *cell*. A sum
# over the rows of each leaf is then one pass over the rows for a group, and not one for each tree.

MOST_CELLS, ROWS_PER_CELL = 1024, 8
"""The most cells of a group, in all and for the number of rows: more would cost more than the passes that they save."""
LEAST_CELLS = 64
ROWS_AT_ONCE = 4096
"""How many rows of indicators are written out at a time for the products of leaves with each other."""
MANY_LEAVES = 5
"""Trees with more leaves than this on average have their products with each other computed by pairs of trees."""

FEW_ROWS = 65_536
"""Up to so many rows, products of leaves with each other are computed in memory, wherever the rows are."""

LeafNumbers = NDArray[np.unsignedinteger]


class OutputOperator(Protocol):
    """The methods of a target's operator that leaves need."""

    def apply(self, outputs: Vector) -> Vector: ...

    def adjoint(self, u: Vector) -> Vector: ...

    def curvature(self, of_margins: Vector) -> Vector: ...

    def scores(self, margins: Vector) -> Vector: ...

    def rows_of_A(self, rows: Rows) -> Rows: ...


@dataclass(frozen=True, eq=False)
class LeafGroup:
    """A few trees whose leaves are stored as one number for each row."""

    first: int
    """The first column of the group."""
    sizes: tuple[int, ...]
    """The number of leaves of each tree."""
    cells: LeafNumbers
    """The cell of each row."""
    rows: Rows

    @property
    def columns(self) -> slice:
        return slice(self.first, self.first + sum(self.sizes))

    @property
    def table(self) -> Matrix:
        """For each cell, a one in the column of each of its leaves."""
        return _table(self.sizes)

    def cell_sums(self, values: Vector, block: slice = slice(None)) -> Vector:
        """The sum of a vector over the rows of each cell, in one block of rows."""
        sums = np.bincount(self.cells[block], weights=values, minlength=len(self.table))
        return np.asarray(self.rows.host(sums), dtype=float)

    def spread(self, values: Vector, block: slice = slice(None)) -> Vector:
        """For each row of a block, the sum of the values of its leaves in this group."""
        of_rows: Vector = self.rows.put(self.table @ values).take(self.cells[block])
        return of_rows


@lru_cache(maxsize=256)
def _table(sizes: tuple[int, ...]) -> Matrix:
    codes = np.unravel_index(np.arange(int(np.prod(sizes))), sizes)
    starts = np.cumsum((0, *sizes[:-1]))
    table = np.zeros((len(codes[0]), sum(sizes)))
    for start, code in zip(starts.tolist(), codes, strict=True):
        table[np.arange(len(code)), start + code] = 1.0
    table.setflags(write=False)
    return table


class LeafColumns:
    """The leaves of the trees held, and the products with their indicators."""

    def __init__(self, rows: Rows, operator: OutputOperator) -> None:
        self.rows = rows
        self.operator = operator
        self.sides = NoSideRows()
        self.sizes: list[int] = []
        """The number of leaves of each tree."""
        self.orders: list[LeafOrder | None] = []
        """The order of the values of each tree's leaves; None without an order."""
        self._leaves: list[LeafNumbers] = []
        self._groups: list[LeafGroup] | None = None
        self._known: dict[tuple[int, ...], tuple[list[LeafNumbers], LeafNumbers]] = {}
        """The cells of groups by the identity of their trees' leaf numbers, which are held to keep it."""

    @property
    def n_trees(self) -> int:
        return len(self.sizes)

    @property
    def n_columns(self) -> int:
        return sum(self.sizes)

    @property
    def starts(self) -> Integers:
        """The first column of each tree, and the number of columns as the last entry."""
        return np.cumsum([0, *self.sizes])

    def of_tree(self, k: int) -> slice:
        starts = self.starts
        return slice(int(starts[k]), int(starts[k + 1]))

    def leaves(self, k: int) -> LeafNumbers:
        """The leaf of each row in one tree."""
        return self._leaves[k]

    def values_of_rows(self, k: int, values: Vector) -> Vector:
        """For each row, the value of its leaf in one tree, given the values of this tree's leaves."""
        of_rows: Vector = self.rows.put(values).take(self._leaves[k], axis=0)
        return of_rows

    def append(self, leaves: Integers | LeafNumbers, n_leaves: int, order: LeafOrder | None = None) -> None:
        """Add a tree, given the leaf of each row."""
        self.sizes.append(n_leaves)
        self.orders.append(order)
        self._leaves.append(leaves.astype(np.min_scalar_type(n_leaves - 1), copy=False))
        self._groups = None

    def hold(self, trees: Sequence[tuple[Any, ...]]) -> None:
        """Hold these trees instead, each given as to ``append``."""
        self.sizes, self.orders, self._leaves, self._groups = [], [], [], None
        for tree in trees:
            self.append(*tree)

    def seen(self, u: Vector) -> Vector:
        """The duals of the data rows: leaves have no side rows."""
        return u

    @property
    def groups(self) -> list[LeafGroup]:
        if self._groups is None:
            self._groups = self._grouped()
        return self._groups

    def _grouped(self) -> list[LeafGroup]:
        most = min(max(self.rows.n_all_data // ROWS_PER_CELL, LEAST_CELLS), MOST_CELLS)
        groups, first, k, known = [], 0, 0, self._known
        self._known = {}
        while k < self.n_trees:
            n_cells, end = self.sizes[k], k + 1
            while end < self.n_trees and n_cells * self.sizes[end] <= most:
                n_cells, end = n_cells * self.sizes[end], end + 1
            members = self._leaves[k:end]
            key = tuple(map(id, members))
            self._known[key] = known.get(key) or (members, self._cells(k, end))
            groups.append(LeafGroup(first, tuple(self.sizes[k:end]), self._known[key][1], self.rows))
            first, k = groups[-1].columns.stop, end
        return groups

    def _cells(self, k: int, end: int) -> LeafNumbers:
        if end == k + 1:
            return self._leaves[k]
        cells = self._leaves[k].astype(np.uint16)
        for later in range(k + 1, end):
            cells *= np.uint16(self.sizes[later])
            cells += self._leaves[later]
        return cells

    def scores(self, values: Vector) -> Vector:
        """For each row, the sum of the values of its leaves."""
        scores = self.rows.full(0.0)

        def work(block: slice) -> None:
            for group in self.groups:
                scores[block] += group.spread(values[group.columns], block)

        self.rows.each(work, size=LIGHT)
        return scores

    def sums(self, values: Vector) -> Vector:
        """For each leaf, the sum of a vector over its rows."""
        found: Vector = self.rows.add_up(lambda block: self._sums_in(values, block), size=LIGHT)
        return found

    def sums_and_total(self, values: Vector) -> Vector:
        """The sums for each leaf, followed by the sum over all rows."""
        own = self.rows.here(
            lambda block: np.append(self._sums_in(values, block), float(values[block].sum())), size=LIGHT
        )
        found: Vector = self.rows.sums_of([own])[0]
        return found

    def _sums_in(self, values: Vector, block: slice) -> Vector:
        parts = [group.cell_sums(values[block], block) @ group.table for group in self.groups]
        return np.concatenate([*parts, np.zeros(0)])

    def margins(self, values: Vector) -> Vector:
        """A v: the rows of A times the values of all leaves."""
        return self.operator.apply(self.scores(values))

    def edges(self, u: Vector) -> Vector:
        """A'u: for each leaf, the sum of the residuals of its rows."""
        return self.sums(self.operator.adjoint(u))

    def gram(self, d: Vector, precision: type[np.floating] = np.float32) -> Matrix:
        """Z' diag(d) Z over the first ``len(d)`` rows, Z being the indicators and a last column of ones.

        ``precision`` is the least precision of the entries; single precision is enough for a search.
        """
        leaves, stays = [one[: len(d)] for one in self._leaves], len(d) > FEW_ROWS and not self.rows.device.is_memory
        if not stays:
            d, leaves = self.rows.host(d), [self.rows.host(one) for one in leaves]
        if stays or self.n_columns > MANY_LEAVES * self.n_trees:
            return self.rows.workers.sum(self._gram_of_pairs(d, leaves))
        return self.rows.workers.sum(self._gram_written_out(d, leaves, precision))

    def _gram_of_pairs(self, d: Vector, leaves: list[LeafNumbers]) -> Matrix:
        """By the sums over the rows of each pair of leaves, for one pair of trees after the other."""
        n, starts = self.n_columns, self.starts.tolist()
        total = np.empty((n + 1, n + 1))
        total[n, n] = float(d.sum())
        for a, size in enumerate(self.sizes):
            own, first = slice(starts[a], starts[a + 1]), leaves[a].astype(np.intp)
            sums = self.rows.host(np.bincount(first, weights=d, minlength=size))
            total[own, own], total[own, n], total[n, own] = np.diag(sums), sums, sums
            for b in range(a):
                other, n_cells = slice(starts[b], starts[b + 1]), size * self.sizes[b]
                found = np.bincount(first * self.sizes[b] + leaves[b], weights=d, minlength=n_cells)
                sums = self.rows.host(found).reshape(size, self.sizes[b])
                total[own, other], total[other, own] = sums, sums.T
        return total

    def _gram_written_out(self, d: Vector, held: list[LeafNumbers], precision: type[np.floating]) -> Matrix:
        """By the product of indicators that are written out: trees with few leaves have few of them."""
        size, starts = self.n_columns + 1, self.starts
        total = np.zeros((size, size))
        for low in range(0, len(d), ROWS_AT_ONCE):
            part = d[low : low + ROWS_AT_ONCE]
            rows = np.arange(len(part))
            indicators = np.zeros((len(part), size), dtype=precision)
            indicators[:, -1] = 1.0
            for leaves, start in zip(held, starts.tolist(), strict=False):
                indicators[rows, start + leaves[low : low + ROWS_AT_ONCE].astype(np.intp)] = 1.0
            weighted = indicators * part[:, None].astype(precision)
            total += np.dot(weighted.T, indicators)
        return total


class VectorLeafColumns(LeafColumns):
    """The leaves of the trees held; products are with matrices that have a column for each class."""

    has_own_trees: ClassVar[bool] = False
    """Whether each class has trees of its own."""

    def __init__(self, rows: Rows, n_classes: int) -> None:
        super().__init__(rows, OutputsThemselves())
        self.n_classes = n_classes
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

    def sums_and_total(self, values: Matrix) -> Matrix:
        return np.vstack([self.sums(values), self.rows.add_up(lambda block: values[block].sum(axis=0))])

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


# A round is a block of as many rows of values as its largest tree has leaves: entry (l, k) is the value of leaf l in
# the tree of class k. Smaller trees have empty leaves there, whose values stay zero under a ridge.

Round = tuple[Sequence[LeafNumbers], int]
"""For each class the leaf of each row, and the number of leaves of the largest tree."""


class RoundLeafColumns:
    """The leaves of the rounds held."""

    has_own_trees: ClassVar[bool] = True

    def __init__(self, rows: Rows, n_classes: int) -> None:
        self.rows = rows
        self.of_class = [LeafColumns(rows, OutputsThemselves()) for _ in range(n_classes)]
        """The trees of each class."""

    @property
    def n_trees(self) -> int:
        return self.of_class[0].n_trees

    @property
    def n_columns(self) -> int:
        return self.of_class[0].n_columns

    @property
    def starts(self) -> Integers:
        """The first row of values of each round, and the number of these rows as the last entry."""
        return self.of_class[0].starts

    def hold(self, rounds: Sequence[Round]) -> None:
        """Hold these rounds instead."""
        for k, columns in enumerate(self.of_class):
            columns.hold([(leaves[k], size) for leaves, size in rounds])

    def sums(self, values: Matrix) -> Matrix:
        """For each leaf, the sum of its class's column over its rows."""
        return np.column_stack([columns.sums(values[:, k]) for k, columns in enumerate(self.of_class)])

    def sums_and_total(self, values: Matrix) -> Matrix:
        """The sums for each leaf, followed by the sums over all rows."""
        return np.column_stack([columns.sums_and_total(values[:, k]) for k, columns in enumerate(self.of_class)])

    def scores(self, values: Matrix) -> Matrix:
        """For each row and class, the sum of the values of its leaves."""
        return np.column_stack([columns.scores(values[:, k]) for k, columns in enumerate(self.of_class)])
