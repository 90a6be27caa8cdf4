"""Pairs of a row and another class, rows with identical entries, and the identity operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..workers.base import cached_property
from .rows import Rows


class OutputsThemselves:
    """The identity operator, T h = h: one row of A for each row of the data."""

    def apply(self, outputs: Vector) -> Vector:
        return outputs

    def adjoint(self, u: Vector) -> Vector:
        return u

    def curvature(self, of_margins: Vector) -> Vector:
        return of_margins

    def scores(self, margins: Vector) -> Vector:
        return margins

    def rows_of_A(self, rows: Rows) -> Rows:
        return rows

    def divided(self, u: Vector) -> Vector:
        return u

    def duals_of_rows(self, u: Vector) -> Vector:
        return u


@dataclass(frozen=True, eq=False)
class Pairs:
    """The row of each pair; every row has at least one pair, and the pairs of a row are next to each other.

    Vectors have an entry for each pair, or in matrices a column for each pair.
    """

    row_of: Integers

    @classmethod
    def all_of(cls, n_rows: int, n_each: int) -> Pairs:
        """Equally many pairs of every row."""
        return cls(np.repeat(np.arange(n_rows), n_each))

    @cached_property
    def starts(self) -> Integers:
        """Where the pairs of each row begin."""
        return np.flatnonzero(np.diff(self.row_of, prepend=-1))

    @cached_property
    def sizes(self) -> Integers:
        return np.diff(np.append(self.starts, len(self.row_of)))

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1))

    def least(self, values: Vector) -> Vector:
        return np.asarray(np.minimum.reduceat(values, self.starts))

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each pair the value of its row."""
        return np.asarray(values[..., self.row_of])

    def some(self, mask: NDArray[np.bool_]) -> Pairs:
        """The chosen pairs, of which every row must have one."""
        return Pairs(self.row_of[mask])


class PairColumns:
    """The entries of the columns held in some pairs, one row for each column, and the products with them."""

    rounding = 1e-14

    def __init__(self, entries: Matrix, rows: Rows) -> None:
        self.entries, self.rows = entries, rows

    @property
    def n_columns(self) -> int:
        return len(self.entries)

    def margins(self, w: Vector) -> Vector:
        return np.asarray(w @ self.entries)

    def edges(self, u: Vector) -> Vector:
        return self.rows.workers.sum(np.asarray(self.entries @ u))


@dataclass(frozen=True, eq=False)
class Partition:
    """The kind of each row: rows of one kind have the same entries in all columns."""

    kind: Integers
    n_kinds: int

    @classmethod
    def trivial(cls, n_rows: int) -> Partition:
        """The partition before the first column: all rows are of one kind."""
        return cls(np.zeros(n_rows, dtype=np.intp), 1)

    def refined(self, entries: NDArray[Any]) -> tuple[Partition, Integers]:
        """The partition after a further column with these entries, and the old kind that each new kind belonged to."""
        codes, n_codes = _codes(entries)
        key = self.kind * n_codes + codes
        is_present = np.bincount(key, minlength=self.n_kinds * n_codes) > 0
        present = np.flatnonzero(is_present)
        number = np.cumsum(is_present) - 1
        return Partition(number[key], len(present)), present // n_codes

    @cached_property
    def examples(self) -> Integers:
        examples = np.empty(self.n_kinds, dtype=np.intp)
        examples[self.kind] = np.arange(len(self.kind))
        return examples

    def sums(self, values: Vector) -> Vector:
        return np.bincount(self.kind, weights=values, minlength=self.n_kinds).astype(float)


def _codes(entries: NDArray[Any]) -> tuple[Integers, int]:
    """A number for each distinct entry, and how many there are; votes of -1 and +1 need no sorting."""
    if (np.abs(entries) == 1).all():
        return (entries > 0).astype(np.intp), 2
    values, codes = np.unique(entries, return_inverse=True)
    return codes, len(values)
