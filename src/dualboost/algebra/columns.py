"""The growing vote matrix A[i, j] = y_i h_j(x_i): the only place that touches rows times columns.

Every product a master needs is one of three: ``margins(w) = A w``, ``edges(u) = A'u`` and ``gram(d) = A' diag(d) A``.
Votes are held in single precision, in which -1 and +1 are exact. ``Columns`` multiplies them in double precision, block
by block; its ``single`` multiplies in single precision, two to three times as fast, for steps that need no more. Side
rows, which a few formulations have, stand below those of the data and are held in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk, ssyrk

from .._typing import Integers, Matrix, Vector
from .side_rows import NoSideRows, SideRows

if TYPE_CHECKING:
    from ..pricing.base import Learner

ROWS_PER_BLOCK = 2048
"""Rows multiplied at a time, so that a block stays in the processor's cache."""
ROWS_PER_SINGLE_BLOCK = 4096
"""Rows that ``single`` adds up in single precision before the sum is taken in double precision."""

Votes = NDArray[np.float32]


class Products(Protocol):
    """The products of A, to one precision or the other."""

    @property
    def n_columns(self) -> int: ...

    @property
    def n_rows(self) -> int: ...

    rounding: ClassVar[float]
    """The relative error of a product."""

    def margins(self, w: Vector) -> Vector:
        """A w."""

    def edges(self, u: Vector) -> Vector:
        """A'u."""

    def gram(self, d: Vector) -> Matrix:
        """A' diag(d) A for d > 0; only its upper triangle is filled."""


class Columns:
    """Columns held by the master, over rows with multiplicities ``counts`` and labels in {-1, +1}, and side rows."""

    rounding: ClassVar[float] = 1e-14

    def __init__(self, labels: Vector, counts: Vector, capacity: int = 16, sides: SideRows | None = None) -> None:
        self.labels = labels
        self.counts = counts
        self.sides: SideRows = NoSideRows() if sides is None else sides
        self._signed = np.empty((max(capacity, 1), len(labels)), dtype=np.float32)
        self._beside = np.empty((len(self._signed), self.sides.n))
        self._probe = np.random.default_rng(1).standard_normal(len(labels)) * labels
        self._probed: list[float] = []
        self._last_gram: tuple[Vector, Matrix] = np.empty(0), np.empty((0, 0))
        self.n_columns = 0

    @property
    def n_data(self) -> int:
        """The rows of the data."""
        return len(self.labels)

    @property
    def n_rows(self) -> int:
        """All rows of A."""
        return self.n_data + self.sides.n

    @property
    def signed(self) -> Votes:
        """The data rows of A', one contiguous row for each column held."""
        return self._signed[: self.n_columns]

    @property
    def beside(self) -> Matrix:
        """The side rows of A', likewise."""
        return self._beside[: self.n_columns]

    def block(self, chosen: Integers, rows: Integers) -> Matrix:
        """Some rows of A', of some columns, in double precision."""
        if not self.sides.n:
            return self._signed[np.ix_(chosen, rows)].astype(np.float64)
        return np.hstack([self._signed[chosen], self._beside[chosen]])[:, rows]

    def dense(self, first: int = 0) -> Matrix:
        """All rows of A', of the columns from ``first`` on, in double precision."""
        return np.hstack([self.signed[first:].astype(np.float64), self.beside[first:]])

    def with_sides(self, u: Vector) -> Vector:
        """u of the data rows, with zeros for the side rows."""
        return np.append(u, np.zeros(self.sides.n))

    def seen(self, u: Vector) -> Vector:
        """The sample weights of the data rows that a pricer is to see."""
        return self.sides.sample_weights(u[: self.n_data], u[self.n_data :])

    @property
    def single(self) -> SinglePrecision:
        """The products of the columns held now, in single precision."""
        return SinglePrecision(self)

    def holds(self, votes: Vector, learner: Learner | None = None) -> bool:
        """Whether a column with exactly these votes, and entries in the side rows, is held already."""
        near = np.isclose(self._probed, self._probe @ votes, rtol=0.0, atol=1e-6 * self.n_data**0.5)
        signed = self._in_single(votes)
        same = [j for j in np.flatnonzero(near) if np.array_equal(self._signed[j], signed)]
        if not same or not self.sides.n:
            return bool(same)
        entries = self.sides.entries(signed.astype(np.float64), learner)
        return any(np.array_equal(self._beside[j], entries) for j in same)

    def append(self, votes: Vector, learner: Learner | None = None) -> None:
        """Add a column; side rows may ask for its learner."""
        self._make_room(self.n_columns + 1)
        self._signed[self.n_columns] = signed = self._in_single(votes)
        self._beside[self.n_columns] = self.sides.entries(signed.astype(np.float64), learner)
        self._probed.append(float(self._probe @ votes))
        self.n_columns += 1

    def _make_room(self, n_columns: int) -> None:
        """Twice the space, at least, if so many columns do not fit."""
        if n_columns > len(self._signed):
            n_more = max(n_columns, 2 * len(self._signed)) - self.n_columns
            self._signed = np.concatenate([self.signed, np.empty((n_more, self.n_data), dtype=np.float32)])
            self._beside = np.concatenate([self.beside, np.empty((n_more, self.sides.n))])

    def _in_single(self, votes: Vector) -> Votes:
        return (self.labels * votes).astype(np.float32)

    def subset(self, chosen: Integers) -> Columns:
        """The chosen columns alone, in that order, over the same rows."""
        part = Columns(self.labels, self.counts, capacity=len(chosen), sides=self.sides)
        part.take(self, chosen)
        return part

    def take(self, other: Columns, chosen: Integers) -> None:
        """Append the chosen columns of another, over the same rows."""
        n_columns = self.n_columns + len(chosen)
        self._make_room(n_columns)
        self._signed[self.n_columns : n_columns] = other._signed[chosen]
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
        return np.concatenate([*(w @ votes for _, votes in self._blocks(0, len(w))), w @ self._beside[: len(w)]])

    def edges(self, u: Vector) -> Vector:
        return self._edges(0, u)

    def edges_of_last(self, n: int, u: Vector) -> Vector:
        """The edges of the last n columns only."""
        return self._edges(self.n_columns - n, u)

    def _edges(self, first: int, u: Vector) -> Vector:
        total = self.beside[first:] @ u[self.n_data :]
        for rows, votes in self._blocks(first, self.n_columns):
            total += votes @ u[rows]
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
        total = self.side_gram(d)
        root = np.sqrt(d)
        for rows, votes in self._blocks(0, self.n_columns):
            votes *= root[rows]
            total = dsyrk(1.0, votes.T, trans=1, beta=1.0, c=total, overwrite_c=1)
        return total

    def _extended(self, known: Matrix, d: Vector) -> Matrix:
        total = np.zeros((self.n_columns, self.n_columns), order="F")
        total[: len(known), : len(known)] = known
        for new in range(len(known), self.n_columns):
            column = np.concatenate([self._signed[new], self._beside[new]])
            total[: new + 1, new] = self.edges(d * column)[: new + 1]
        return total

    def side_gram(self, d: Vector) -> Matrix:
        """The side rows' part of A' diag(d) A."""
        if not self.sides.n:
            return np.zeros((self.n_columns, self.n_columns), order="F")
        return np.asfortranarray((self.beside * d[self.n_data :]) @ self.beside.T)

    def _blocks(self, first: int, last: int) -> Iterator[tuple[slice, Matrix]]:
        """Blocks of rows of the columns from ``first`` to ``last``, in double precision."""
        for start in range(0, self.n_data, ROWS_PER_BLOCK):
            rows = slice(start, min(start + ROWS_PER_BLOCK, self.n_data))
            yield rows, self._signed[first:last, rows].astype(np.float64)

    def distinct(
        self, rows: NDArray[np.bool_], chosen: Integers, labels: Vector | None = None
    ) -> tuple[Integers, Integers]:
        """Of the rows marked: one of each kind that a chosen column or the label tells apart, and the kind of all.

        Every side row is a kind of its own.
        """
        marked = np.flatnonzero(rows[: self.n_data])
        beside = self.n_data + np.flatnonzero(rows[self.n_data :])
        bits = self._signed[np.ix_(chosen, marked)].view(np.uint32).astype(np.uint64)
        multipliers = np.random.default_rng(0).integers(2**63, size=(len(chosen), 1), dtype=np.uint64)
        keys = ((bits ^ (bits >> np.uint64(13))) * multipliers).sum(axis=0, dtype=np.uint64)
        if labels is not None:
            keys[labels[marked] > 0] ^= np.uint64(1)
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        of_sides = np.arange(len(first), len(first) + len(beside))
        return np.concatenate([marked[first], beside]), np.concatenate([group, of_sides])


class SinglePrecision:
    """The products of votes in single precision; vectors and results are in double precision."""

    rounding: ClassVar[float] = 1e-6

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._signed = columns.signed
        self.n_columns, self.n_rows = columns.n_columns, columns.n_rows

    def margins(self, w: Vector) -> Vector:
        return np.concatenate([w.astype(np.float32) @ self._signed, w @ self._columns.beside])

    def edges(self, u: Vector) -> Vector:
        n_data = self._columns.n_data
        return self._signed @ u[:n_data].astype(np.float32) + self._columns.beside @ u[n_data:]

    def gram(self, d: Vector) -> Matrix:
        if self._columns.repeats(d):
            return self._columns.gram(d)
        total, n_data = self._columns.side_gram(d), self._columns.n_data
        root = np.sqrt(d).astype(np.float32)
        for start in range(0, n_data, ROWS_PER_SINGLE_BLOCK):
            rows = slice(start, min(start + ROWS_PER_SINGLE_BLOCK, n_data))
            total += ssyrk(1.0, (self._signed[:, rows] * root[rows]).T, trans=1)
        return total
