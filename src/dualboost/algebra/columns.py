"""The growing matrix A: the only place that touches rows times columns.

Every product a master needs is one of three: ``margins(w) = A w``, ``edges(u) = A'u`` and ``gram(d) = A' diag(d) A``,
each of them also for one block of rows. A column comes as its rows of A, as the task makes them of a learner's votes.
They are held in single precision, in which -1 and +1 are exact. ``Columns`` multiplies them in double precision; its
``single`` multiplies in single precision, two to three times as fast, for steps that need no more. Side rows, which a
few formulations have, are held in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk, ssyrk

from .._typing import Integers, Matrix, Vector
from ..trees.learner import Learner
from .rows import Rows
from .side_rows import NoSideRows, SideRows

ROWS_AT_ONCE = 2048
"""Rows converted to double precision and multiplied at a time, so that they stay in the processor's cache."""
ROWS_AT_ONCE_SINGLE = 4096
"""Rows that ``single`` adds up in single precision before the sum is taken in double precision."""

Votes = NDArray[np.float32]


class Products(Protocol):
    """The products of A, to one precision or the other."""

    rows: Rows
    rounding: ClassVar[float]
    """The relative error of a product."""

    @property
    def n_columns(self) -> int: ...

    def margins_in(self, block: slice, w: Vector) -> Vector:
        """A w, in one block of rows."""

    def edges_in(self, block: slice, u: Vector) -> Vector:
        """What one block of rows, with these duals there, adds to A'u."""

    def gram(self, d: Vector) -> Matrix:
        """A' diag(d) A for d > 0; only its upper triangle is filled."""


class Columns:
    """Columns held by the master."""

    rounding: ClassVar[float] = 1e-14

    def __init__(self, rows: Rows, capacity: int = 16, sides: SideRows | None = None) -> None:
        self.sides: SideRows = NoSideRows() if sides is None else sides
        self.rows = rows.with_sides(self.sides.n) if self.sides.n else rows
        self._held = np.empty((max(capacity, 1), rows.n_data), dtype=np.float32)
        self._beside = np.empty((len(self._held), self.sides.n))
        self._probe = np.random.default_rng(1).standard_normal(rows.n_data)
        self._probed: list[float] = []
        self._last_gram: tuple[Vector, Matrix] = np.empty(0), np.empty((0, 0))
        self.n_columns = 0

    @property
    def n_data(self) -> int:
        """The rows of the data."""
        return self.rows.n_data

    @property
    def n_rows(self) -> int:
        """All rows of A."""
        return self.rows.n_rows

    @property
    def held(self) -> Votes:
        """The data rows of A', one contiguous row for each column held."""
        return self._held[: self.n_columns]

    @property
    def beside(self) -> Matrix:
        """The side rows of A', likewise."""
        return self._beside[: self.n_columns]

    def part(self, chosen: Integers, rows: Integers) -> Matrix:
        """Some rows of A', of some columns, in double precision."""
        if not self.sides.n:
            return self._held[np.ix_(chosen, rows)].astype(np.float64)
        return np.hstack([self._held[chosen], self._beside[chosen]])[:, rows]

    def dense(self, first: int = 0) -> Matrix:
        """All rows of A', of the columns from ``first`` on, in double precision."""
        return np.hstack([self.held[first:].astype(np.float64), self.beside[first:]])

    def with_sides(self, u: Vector) -> Vector:
        """u of the data rows, with zeros for the side rows."""
        return np.append(u, np.zeros(self.sides.n)) if self.sides.n else u

    def seen(self, u: Vector) -> Vector:
        """The duals of the data rows that a pricer is to see."""
        return self.sides.duals_seen(u[: self.n_data], u[self.n_data :])

    @property
    def single(self) -> SinglePrecision:
        """The products of the columns held now, in single precision."""
        return SinglePrecision(self)

    def holds(self, entries: Vector, learner: Learner | None = None) -> bool:
        """Whether a column with exactly these data rows, and those beside them, is held already."""
        near = np.isclose(self._probed, self._probe @ entries, rtol=0.0, atol=1e-6 * self.n_data**0.5)
        in_single = entries.astype(np.float32)
        same = [j for j in np.flatnonzero(near) if np.array_equal(self._held[j], in_single)]
        if not same or not self.sides.n:
            return bool(same)
        beside = self.sides.entries(in_single.astype(np.float64), learner)
        return any(np.array_equal(self._beside[j], beside) for j in same)

    def append(self, entries: Vector, learner: Learner | None = None) -> None:
        """Add a column by its data rows; side rows may ask for its learner."""
        self._make_room(self.n_columns + 1)
        self._held[self.n_columns] = in_single = entries.astype(np.float32)
        self._beside[self.n_columns] = self.sides.entries(in_single.astype(np.float64), learner)
        self._probed.append(float(self._probe @ entries))
        self.n_columns += 1

    def _make_room(self, n_columns: int) -> None:
        """Twice the space, at least, if so many columns do not fit."""
        if n_columns > len(self._held):
            n_more = max(n_columns, 2 * len(self._held)) - self.n_columns
            self._held = np.concatenate([self.held, np.empty((n_more, self.n_data), dtype=np.float32)])
            self._beside = np.concatenate([self.beside, np.empty((n_more, self.sides.n))])

    def subset(self, chosen: Integers) -> Columns:
        """The chosen columns alone, in that order, over the same rows."""
        part = Columns(self.rows, capacity=len(chosen), sides=self.sides)
        part.take(self, chosen)
        return part

    def take(self, other: Columns, chosen: Integers) -> None:
        """Append the chosen columns of another, over the same rows."""
        n_columns = self.n_columns + len(chosen)
        self._make_room(n_columns)
        self._held[self.n_columns : n_columns] = other._held[chosen]
        self._beside[self.n_columns : n_columns] = other._beside[chosen]
        self._probed += [other._probed[j] for j in chosen]
        self.n_columns = n_columns

    def keep_first(self, n_columns: int) -> None:
        """Forget the columns that came after the first ``n_columns``."""
        self.n_columns = min(n_columns, self.n_columns)
        del self._probed[self.n_columns :]
        d, gram = self._last_gram
        self._last_gram = d, gram[: self.n_columns, : self.n_columns]

    def margins(self, w: Vector) -> Vector:
        """A w; for fewer weights than columns, of the first columns."""
        return all_margins(self, w)

    def margins_in(self, block: slice, w: Vector) -> Vector:
        if block.start >= self.n_data:
            return w @ self._beside[: len(w)]
        return np.concatenate([w @ entries for _, entries in self._pieces(block, 0, len(w))])

    def edges(self, u: Vector) -> Vector:
        """A'u."""
        return all_edges(self, u)

    def edges_in(self, block: slice, u: Vector) -> Vector:
        return self._edges_in(block, u, 0)

    def edges_of_last(self, n: int, u: Vector) -> Vector:
        """The edges of the last n columns only."""
        first = self.n_columns - n
        edges: Vector = self.rows.add_up(lambda block: self._edges_in(block, u[block], first))
        return edges

    def _edges_in(self, block: slice, u: Vector, first: int) -> Vector:
        if block.start >= self.n_data:
            return self.beside[first:] @ u
        total = np.zeros(self.n_columns - first)
        for piece, entries in self._pieces(block, first, self.n_columns):
            total += entries @ u[piece]
        return total

    def gram(self, d: Vector) -> Matrix:
        """A' diag(d) A for d > 0, upper triangle; for the d of the last call, only new columns are multiplied."""
        known = self._last_gram[1] if self.repeats(d) else np.empty((0, 0))
        total = self._extended(known, d) if len(known) > self.n_columns // 2 else self._multiplied(d)
        self._last_gram = d, total
        return total

    def repeats(self, d: Vector) -> bool:
        """Whether d is that of the last ``gram``; the next one is compared with it."""
        last = self._last_gram[0]
        if np.array_equal(d, last):
            return True
        self._last_gram = d, np.empty((0, 0))
        return False

    def _multiplied(self, d: Vector) -> Matrix:
        def work(block: slice) -> Matrix:
            if block.start >= self.n_data:
                return np.asfortranarray((self.beside * d[block]) @ self.beside.T)
            root = np.sqrt(d[block])
            total = np.zeros((self.n_columns, self.n_columns), order="F")
            for piece, entries in self._pieces(block, 0, self.n_columns):
                entries *= root[piece]
                total = dsyrk(1.0, entries.T, trans=1, beta=1.0, c=total, overwrite_c=1)
            return total

        gram: Matrix = self.rows.add_up(work)
        return gram

    def _extended(self, known: Matrix, d: Vector) -> Matrix:
        total = np.zeros((self.n_columns, self.n_columns), order="F")
        total[: len(known), : len(known)] = known
        for new in range(len(known), self.n_columns):
            column = np.concatenate([self._held[new], self._beside[new]])
            total[: new + 1, new] = self.edges(d * column)[: new + 1]
        return total

    def _pieces(self, block: slice, first: int, last: int) -> Iterator[tuple[slice, Matrix]]:
        """A block of data rows piece by piece, of the columns from ``first`` to ``last``, in double precision.

        Each piece comes with its place in the block.
        """
        for start in range(block.start, block.stop, ROWS_AT_ONCE):
            stop = min(start + ROWS_AT_ONCE, block.stop)
            piece = slice(start - block.start, stop - block.start)
            yield piece, self._held[first:last, start:stop].astype(np.float64)

    def distinct(self, rows: Integers, chosen: Integers, coefficients: Matrix) -> tuple[Integers, Integers]:
        """Of the rows given: one of each kind, and the kind of all.

        Two data rows are of a kind if the chosen columns are the same there, and so are the rows' coefficients, a few
        numbers for each of all rows. Every side row is a kind of its own.
        """
        data, beside = rows[rows < self.n_data], rows[rows >= self.n_data]
        bits = self._held[np.ix_(chosen, data)].view(np.uint32).astype(np.uint64)
        multipliers = np.random.default_rng(0).integers(2**63, size=(len(chosen), 1), dtype=np.uint64)
        keys = ((bits ^ (bits >> np.uint64(13))) * multipliers).sum(axis=0, dtype=np.uint64)
        for row, odd in zip(coefficients, range(1, 2 * len(coefficients), 2), strict=True):
            _, codes = np.unique(row[data], return_inverse=True)
            keys ^= codes.astype(np.uint64) * np.uint64(odd)
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        of_sides = np.arange(len(first), len(first) + len(beside))
        return np.concatenate([data[first], beside]), np.concatenate([group, of_sides])


class SinglePrecision:
    """The products of columns in single precision; vectors and results are in double precision."""

    rounding: ClassVar[float] = 1e-6

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.rows = columns.rows
        self.n_columns = columns.n_columns

    def margins(self, w: Vector) -> Vector:
        return all_margins(self, w)

    def margins_in(self, block: slice, w: Vector) -> Vector:
        if block.start >= self._columns.n_data:
            return self._columns.margins_in(block, w)
        return w.astype(np.float32) @ self._columns.held[: self.n_columns, block]

    def edges(self, u: Vector) -> Vector:
        return all_edges(self, u)

    def edges_in(self, block: slice, u: Vector) -> Vector:
        if block.start >= self._columns.n_data:
            return self._columns.edges_in(block, u)
        edges: Vector = (self._columns.held[: self.n_columns, block] @ u.astype(np.float32)).astype(np.float64)
        return edges

    def gram(self, d: Vector) -> Matrix:
        """A' diag(d) A; only its upper triangle is filled."""
        if self._columns.repeats(d):
            return self._columns.gram(d)
        gram: Matrix = self.rows.add_up(lambda block: self._gram_in(block, d[block]))
        return gram

    def _gram_in(self, block: slice, d: Vector) -> Matrix:
        if block.start >= self._columns.n_data:
            return np.asarray((self._columns.beside * d) @ self._columns.beside.T, dtype=np.float64)
        root = np.sqrt(d).astype(np.float32)
        total: Matrix = np.zeros((self.n_columns, self.n_columns), order="F")
        for start in range(block.start, block.stop, ROWS_AT_ONCE_SINGLE):
            stop = min(start + ROWS_AT_ONCE_SINGLE, block.stop)
            entries = self._columns.held[:, start:stop] * root[start - block.start : stop - block.start]
            total += ssyrk(1.0, entries.T, trans=1)
        return total


def all_margins(products: Products, w: Vector) -> Vector:
    """A w, block by block."""
    margins = products.rows.empty()

    def work(block: slice) -> None:
        margins[block] = products.margins_in(block, w)

    products.rows.each(work)
    return margins


def all_edges(products: Products, u: Vector) -> Vector:
    """A'u, block by block."""
    edges: Vector = products.rows.add_up(lambda block: products.edges_in(block, u[block]))
    return edges
