"""The growing vote matrix A[i, j] = y_i h_j(x_i): the only place that touches rows times columns.

Every product a master needs is one of three: ``margins(w) = A w``, ``edges(u) = A'u`` and ``gram(d) = A' diag(d) A``.
Votes are held in single precision, in which -1 and +1 are exact. ``Columns`` multiplies them in double precision, block
by block; its ``single`` multiplies in single precision, two to three times as fast, for steps that need no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk, ssyrk

from ._typing import Integers, Matrix, Vector

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
    """Columns held by the master, over rows with multiplicities ``counts`` and labels in {-1, +1}."""

    rounding: ClassVar[float] = 1e-14

    def __init__(self, labels: Vector, counts: Vector, capacity: int = 16) -> None:
        self.labels = labels
        self.counts = counts
        self._signed = np.empty((max(capacity, 1), len(labels)), dtype=np.float32)
        self._probe = np.random.default_rng(1).standard_normal(len(labels)) * labels
        self._probed: list[float] = []
        self._last_gram: tuple[Vector, Matrix] = np.empty(0), np.empty((0, 0))
        self.n_columns = 0

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    @property
    def signed(self) -> Votes:
        """A', one contiguous row for each column held."""
        return self._signed[: self.n_columns]

    @property
    def single(self) -> SinglePrecision:
        """The products of the columns held now, in single precision."""
        return SinglePrecision(self)

    def holds(self, votes: Vector) -> bool:
        """Whether a column with exactly these votes is held already."""
        near = np.isclose(self._probed, self._probe @ votes, rtol=0.0, atol=1e-6 * self.n_rows**0.5)
        return any(np.array_equal(self._signed[j], self._in_single(votes)) for j in np.flatnonzero(near))

    def append(self, votes: Vector) -> None:
        self._make_room(self.n_columns + 1)
        self._signed[self.n_columns] = self._in_single(votes)
        self._probed.append(float(self._probe @ votes))
        self.n_columns += 1

    def _make_room(self, n_columns: int) -> None:
        """Twice the space, at least, if so many columns do not fit."""
        if n_columns > len(self._signed):
            more = np.empty((max(n_columns, 2 * len(self._signed)) - self.n_columns, self.n_rows), dtype=np.float32)
            self._signed = np.concatenate([self.signed, more])

    def _in_single(self, votes: Vector) -> Votes:
        return (self.labels * votes).astype(np.float32)

    def subset(self, chosen: Integers) -> Columns:
        """The chosen columns alone, in that order, over the same rows."""
        part = Columns(self.labels, self.counts, capacity=len(chosen))
        part.take(self, chosen)
        return part

    def take(self, other: Columns, chosen: Integers) -> None:
        """Append the chosen columns of another, over the same rows."""
        n_columns = self.n_columns + len(chosen)
        self._make_room(n_columns)
        self._signed[self.n_columns : n_columns] = other._signed[chosen]
        self._probed += [other._probed[j] for j in chosen]
        self.n_columns = n_columns

    def keep_first(self, n_columns: int) -> None:
        """Forget the columns that came after the first ``n_columns``."""
        self.n_columns = min(n_columns, self.n_columns)
        del self._probed[self.n_columns :]
        d, gram = self._last_gram
        self._last_gram = d, gram[: self.n_columns, : self.n_columns]

    def margins(self, w: Vector) -> Vector:
        return np.concatenate([w @ votes for _, votes in self._blocks(0, len(w))])

    def edges(self, u: Vector) -> Vector:
        return self._edges(0, u)

    def edges_of_last(self, n: int, u: Vector) -> Vector:
        """The edges of the last n columns only."""
        return self._edges(self.n_columns - n, u)

    def _edges(self, first: int, u: Vector) -> Vector:
        total = np.zeros(self.n_columns - first)
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
        total = np.zeros((self.n_columns, self.n_columns), order="F")
        root = np.sqrt(d)
        for rows, votes in self._blocks(0, self.n_columns):
            votes *= root[rows]
            total = dsyrk(1.0, votes.T, trans=1, beta=1.0, c=total, overwrite_c=1)
        return total

    def _extended(self, known: Matrix, d: Vector) -> Matrix:
        total = np.zeros((self.n_columns, self.n_columns), order="F")
        total[: len(known), : len(known)] = known
        for new in range(len(known), self.n_columns):
            total[: new + 1, new] = self.edges(d * self._signed[new])[: new + 1]
        return total

    def _blocks(self, first: int, last: int) -> Iterator[tuple[slice, Matrix]]:
        """Blocks of rows of the columns from ``first`` to ``last``, in double precision."""
        for start in range(0, self.n_rows, ROWS_PER_BLOCK):
            rows = slice(start, start + ROWS_PER_BLOCK)
            yield rows, self._signed[first:last, rows].astype(np.float64)

    def distinct(
        self, rows: NDArray[np.bool_], chosen: Integers, labels: Vector | None = None
    ) -> tuple[Integers, Integers]:
        """Of the rows marked: one of each kind that a chosen column or the label tells apart, and the kind of all."""
        marked = np.flatnonzero(rows)
        bits = self._signed[np.ix_(chosen, marked)].view(np.uint32).astype(np.uint64)
        multipliers = np.random.default_rng(0).integers(2**63, size=(len(chosen), 1), dtype=np.uint64)
        keys = ((bits ^ (bits >> np.uint64(13))) * multipliers).sum(axis=0, dtype=np.uint64)
        if labels is not None:
            keys[labels[marked] > 0] ^= np.uint64(1)
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        return marked[first], group


class SinglePrecision:
    """The products of votes in single precision; vectors and results are in double precision."""

    rounding: ClassVar[float] = 1e-6

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._signed = columns.signed
        self.n_columns, self.n_rows = self._signed.shape

    def margins(self, w: Vector) -> Vector:
        return (w.astype(np.float32) @ self._signed).astype(np.float64)

    def edges(self, u: Vector) -> Vector:
        return (self._signed @ u.astype(np.float32)).astype(np.float64)

    def gram(self, d: Vector) -> Matrix:
        if self._columns.repeats(d):
            return self._columns.gram(d)
        total = np.zeros((self.n_columns, self.n_columns), order="F")
        root = np.sqrt(d).astype(np.float32)
        for start in range(0, self.n_rows, ROWS_PER_SINGLE_BLOCK):
            rows = slice(start, start + ROWS_PER_SINGLE_BLOCK)
            total += ssyrk(1.0, (self._signed[:, rows] * root[rows]).T, trans=1)
        return total
