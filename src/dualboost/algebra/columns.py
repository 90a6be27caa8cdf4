"""The growing matrix A, and the products with it.

A master needs three products: ``margins(w) = A w``, ``edges(u) = A'u`` and ``gram(d) = A' diag(d) A``. Each of them is
also available for one block of rows. A column is given as its entries in the rows of A, which the task computes from a
learner's votes. ``Columns`` multiplies in double precision. Its ``single`` multiplies in single precision, two to three
times as fast, for steps that need no more. Side rows, which a few formulations have, are always in double precision.

Products are calls of ``np.dot`` for two reasons: it lets other threads run meanwhile, which ``@`` does not for small
results, and it computes only one half of a matrix times its own transpose.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..trees.learner import Learner
from .gram import GramCache
from .held import Entries, HeldEntries
from .rows import Rows
from .side_rows import NoSideRows, SideRows

ROWS_AT_ONCE_SINGLE = 4096
"""How many rows ``single`` adds up in single precision before it adds the sum to a total in double precision."""
ROWS_AT_ONCE_SINGLE_ON_DEVICE = 2**17
"""The same on a GPU, which wants more work at a time, and adds up block by block itself."""


class Products(Protocol):
    """The products of A, in single or in double precision."""

    rows: Rows
    rounding: ClassVar[float]
    """The relative error of a product."""
    effort: ClassVar[int]
    """How many times as long a product takes as in single precision, which needs no conversion of the entries."""

    @property
    def n_columns(self) -> int: ...

    def margins_in(self, block: slice, w: Vector) -> Vector:
        """A w, in one block of rows."""

    def edges_in(self, block: slice, u: Vector) -> Vector:
        """What one block of rows adds to A'u, given the duals of that block."""

    def gram(self, d: Vector) -> Matrix:
        """A' diag(d) A for d > 0; only its upper triangle is defined."""

    def gram_here(self, d: Vector) -> Matrix:
        """The same over the rows held here only."""


class Columns:
    """The columns of A that the master holds."""

    rounding: ClassVar[float] = 1e-14
    effort: ClassVar[int] = 4

    def __init__(self, rows: Rows, capacity: int = 16, sides: SideRows | None = None) -> None:
        self.sides: SideRows = NoSideRows() if sides is None else sides
        self.rows = rows.with_sides(self.sides.n) if self.sides.n else rows
        self._held = HeldEntries(self.rows, self.sides.n, capacity)
        self._probe = rows.put(np.random.default_rng(1).standard_normal(rows.n_data))
        self._probed: list[float] = []
        self._last_gram, self._last_gram_in_single = GramCache(), GramCache()
        self.n_columns = 0

    @property
    def n_data(self) -> int:
        """The number of data rows."""
        return self.rows.n_data

    @property
    def n_rows(self) -> int:
        """The number of all rows of A, side rows included."""
        return self.rows.n_rows

    @property
    def beside(self) -> Matrix:
        """The side rows of A', one row for each column held."""
        return self._held.beside[: self.n_columns]

    def entries(self, j: int) -> Entries:
        """The entries of one column in the data rows."""
        return self._held.column(j)

    def part(self, chosen: Integers, rows: Integers) -> Matrix:
        """The entries of the chosen columns in some rows, one row for each column, in double precision."""
        data, beside = rows[rows < self.n_data], rows[rows >= self.n_data] - self.n_data
        found = np.empty((len(chosen), len(rows)))
        found[:, rows < self.n_data] = self._held.some(chosen, data)
        found[:, rows >= self.n_data] = self._held.beside[np.ix_(chosen, beside)]
        return found

    def dense(self, first: int = 0) -> Matrix:
        """The entries of the columns from ``first`` on in all rows, one row for each column, in double precision."""
        columns = [self.column(j) for j in range(first, self.n_columns)]
        return np.array(columns, dtype=float).reshape(len(columns), self.n_rows)

    def with_sides(self, u: Vector) -> Vector:
        """The duals of the data rows, followed by zeros for the side rows."""
        return np.append(u, np.zeros(self.sides.n)) if self.sides.n else u

    def seen(self, u: Vector) -> Vector:
        """The duals that a pricer sees: those of the data rows, changed by those of the side rows."""
        return self.sides.duals_seen(u[: self.n_data], u[self.n_data :])

    @property
    def single(self) -> SinglePrecision:
        """The products of the columns held now, in single precision."""
        return SinglePrecision(self, self._held)

    def holds(self, entries: Vector, learner: Learner | None = None) -> bool:
        """Whether a column with exactly these entries, in data rows and side rows, is held already."""
        near = np.isclose(self._probed, float(self._probe @ entries), rtol=0.0, atol=1e-6 * self.n_data**0.5)
        in_single = entries.astype(np.float32)
        same = [j for j in np.flatnonzero(near).tolist() if np.array_equal(self.entries(j), in_single)]
        differs = np.ones(self.n_columns)
        differs[same] = 0.0
        same = np.flatnonzero(self.rows.workers.max(differs) == 0).tolist()
        if not same or not self.sides.n:
            return bool(same)
        beside = self._beside(entries, learner)
        return any(np.array_equal(self._held.beside[j], beside) for j in same)

    def append(self, entries: NDArray[np.floating], learner: Learner | None = None) -> None:
        """Add a column, given its entries in the data rows; those in side rows may depend on its learner."""
        self._held.reserve(self.n_columns + 1)
        self._held.write(self.n_columns, entries, self._beside(entries, learner))
        self._probed.append(float(self._probe @ entries))
        self.n_columns += 1

    def _beside(self, entries: NDArray[np.floating], learner: Learner | None) -> Vector:
        """The side rows of a column, computed from its data rows as they are held."""
        if not self.sides.n:
            return np.empty(0)
        return self.sides.entries(entries.astype(np.float32).astype(np.float64), learner)

    def subset(self, chosen: Integers) -> Columns:
        """The chosen columns only, in that order, over the same rows."""
        part = Columns(self.rows, capacity=len(chosen), sides=self.sides)
        part.take(self, chosen)
        return part

    def take(self, other: Columns, chosen: Integers) -> None:
        """Append the chosen columns of another, over the same rows."""
        n_columns = self.n_columns + len(chosen)
        self._held.reserve(n_columns)
        self._held.copy(self.n_columns, other._held, chosen)
        self._probed += [other._probed[j] for j in chosen]
        self.n_columns = n_columns

    def over(self, rows: Rows, chosen: Integers) -> Columns:
        """The same columns over other rows: new row i has the entries of row ``chosen[i]``; without side rows."""
        part = Columns(rows, capacity=self.n_columns + 1)
        part._held.fill(self._held.some(np.arange(self.n_columns), chosen))
        part._probed = [0.0] * self.n_columns
        part.n_columns = self.n_columns
        return part

    def keep_first(self, n_columns: int) -> None:
        """Forget the columns that came after the first ``n_columns``."""
        self.n_columns = min(n_columns, self.n_columns)
        del self._probed[self.n_columns :]
        self._last_gram.keep_first(self.n_columns)
        self._last_gram_in_single.keep_first(self.n_columns)

    def margins(self, w: Vector) -> Vector:
        """A w; if there are fewer weights than columns, they belong to the first columns."""
        return all_margins(self, w)

    def margins_in(self, block: slice, w: Vector) -> Vector:
        if block.start >= self.n_data:
            return w @ self._held.beside[: len(w)]
        there = self.rows.put(w)
        return np.concatenate([np.dot(there, entries) for _, entries in self._held.pieces(block, 0, len(w))])

    def edges(self, u: Vector) -> Vector:
        """A'u."""
        return all_edges(self, u)

    def edges_here(self, u: Vector) -> Vector:
        return own_edges(self, u)

    def edges_in(self, block: slice, u: Vector) -> Vector:
        return self._edges_in(block, u, 0)

    def edges_of_last(self, n: int, u: Vector) -> Vector:
        """The edges of the last n columns only."""
        first = self.n_columns - n
        edges: Vector = self.rows.add_up(lambda block: self._edges_in(block, u[block], first), size=n)
        return edges

    def _edges_in(self, block: slice, u: Vector, first: int) -> Vector:
        if block.start >= self.n_data:
            return self.beside[first:] @ u
        total = self.rows.xp.zeros(self.n_columns - first)
        for piece, entries in self._held.pieces(block, first, self.n_columns):
            total += np.dot(entries, u[piece])
        return total

    def gram(self, d: Vector) -> Matrix:
        """A' diag(d) A for d > 0; only its upper triangle is defined."""
        return all_gram(self, d)

    def gram_here(self, d: Vector) -> Matrix:
        return self._last_gram.gram(self, d)

    def whole_gram(self, d: Vector) -> Matrix:
        def work(block: slice) -> Matrix:
            if block.start >= self.n_data:
                return np.asarray((self.beside * d[block]) @ self.beside.T, dtype=np.float64)
            root = np.sqrt(d[block])
            total = self.rows.xp.zeros((self.n_columns, self.n_columns))
            for piece, entries in self._held.pieces(block, 0, self.n_columns):
                entries *= root[piece]
                total += np.dot(entries, entries.T)
            return total

        gram: Matrix = self.rows.here(work, size=self.n_columns**2)
        return gram

    def column(self, j: int) -> Vector:
        """The entries of one column in all rows."""
        entries = self.entries(j).astype(np.float64)
        return np.append(entries, self._held.beside[j]) if self.sides.n else entries

    def distinct(self, rows: Integers, chosen: Integers, coefficients: Matrix) -> tuple[Integers, Integers]:
        """Group the rows given into kinds: one row of each kind, and the kind of every row.

        Two data rows are of the same kind if they have the same entries in the chosen columns and the same
        ``coefficients`` (a few numbers for each row of A). Every side row is a kind of its own.
        """
        data, beside = rows[rows < self.n_data], rows[rows >= self.n_data]
        bits = self._held.some(chosen, data).view(np.uint32).astype(np.uint64)
        multipliers = np.random.default_rng(0).integers(2**63, size=(len(chosen), 1), dtype=np.uint64)
        keys = ((bits ^ (bits >> np.uint64(13))) * multipliers).sum(axis=0, dtype=np.uint64)
        more = np.random.default_rng(1).integers(2**63, size=len(coefficients), dtype=np.uint64)
        for row, multiplier in zip(coefficients, more, strict=True):
            _, codes = np.unique(self.rows.taken(row, data), return_inverse=True)
            keys += codes.astype(np.uint64) * multiplier
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        of_sides = np.arange(len(first), len(first) + len(beside))
        return np.concatenate([data[first], beside]), np.concatenate([group, of_sides])


class SinglePrecision:
    """The products of columns in single precision; vectors and results are in double precision."""

    rounding: ClassVar[float] = 1e-6
    effort: ClassVar[int] = 1

    def __init__(self, columns: Columns, held: HeldEntries) -> None:
        self._columns, self._held = columns, held
        self.rows = columns.rows
        self.n_columns = columns.n_columns

    def margins(self, w: Vector) -> Vector:
        return all_margins(self, w)

    def margins_in(self, block: slice, w: Vector) -> Vector:
        if block.start >= self._columns.n_data:
            return self._columns.margins_in(block, w)
        there = self.rows.put(w.astype(np.float32))
        margins: Vector = np.dot(there, self._held.in_block(block)[: self.n_columns])
        return margins

    def edges(self, u: Vector) -> Vector:
        return all_edges(self, u)

    def edges_here(self, u: Vector) -> Vector:
        return own_edges(self, u)

    def edges_in(self, block: slice, u: Vector) -> Vector:
        if block.start >= self._columns.n_data:
            return self._columns.edges_in(block, u)
        edges: Vector = np.dot(self._held.in_block(block)[: self.n_columns], u.astype(np.float32)).astype(np.float64)
        return edges

    def gram(self, d: Vector) -> Matrix:
        return all_gram(self, d)

    def gram_here(self, d: Vector) -> Matrix:
        return self._columns._last_gram_in_single.gram(self, d)

    def whole_gram(self, d: Vector) -> Matrix:
        gram: Matrix = self.rows.here(lambda block: self._gram_in(block, d[block]), size=self.n_columns**2)
        return gram

    def column(self, j: int) -> Vector:
        return self._columns.column(j)

    def _gram_in(self, block: slice, d: Vector) -> Matrix:
        if block.start >= self._columns.n_data:
            return np.asarray((self._columns.beside * d) @ self._columns.beside.T, dtype=np.float64)
        root, held = np.sqrt(d).astype(np.float32), self._held.in_block(block)[: self.n_columns]
        total: Matrix = self.rows.xp.zeros((self.n_columns, self.n_columns))
        at_once = ROWS_AT_ONCE_SINGLE if self.rows.device.is_memory else ROWS_AT_ONCE_SINGLE_ON_DEVICE
        for start in range(0, len(root), at_once):
            stop = start + at_once
            entries = held[:, start:stop] * root[start:stop]
            total += np.dot(entries, entries.T)
        return total


def all_margins(products: Products, w: Vector) -> Vector:
    """A w, block by block."""
    margins = products.rows.empty()

    def work(block: slice) -> None:
        margins[block] = products.margins_in(block, w)

    products.rows.each(work, size=products.effort * len(w))
    return margins


def all_edges(products: Products, u: Vector) -> Vector:
    """A'u, block by block."""
    edges: Vector = products.rows.sums_of([own_edges(products, u)])[0]
    return edges


def own_edges(products: Products, u: Vector) -> Vector:
    """A'u over the rows held here, block by block."""
    size = products.effort * products.n_columns
    edges: Vector = products.rows.here(lambda block: products.edges_in(block, u[block]), size)
    return edges


def all_gram(products: Products, d: Vector) -> Matrix:
    """A' diag(d) A."""
    gram: Matrix = products.rows.sums_of([products.gram_here(d)])[0]
    return gram
