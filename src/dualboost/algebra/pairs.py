"""Pairs of a row and a class that is not its own, in the order of the rows; sums, least values and means by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..workers.caching import cached_property
from .rows import Rows


@dataclass(frozen=True, eq=False)
class Pairs:
    """The row of each pair; every row has at least one pair, and those of a row are next to each other.

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
        """How many pairs each row has."""
        return np.diff(np.append(self.starts, len(self.row_of)))

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """The sum over the pairs of each row."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1))

    def least(self, values: Vector) -> Vector:
        """The least value of the pairs of each row."""
        return np.asarray(np.minimum.reduceat(values, self.starts))

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each pair the value of its row."""
        return np.asarray(values[..., self.row_of])

    def some(self, chosen: NDArray[np.bool_]) -> Pairs:
        """The chosen pairs, of which every row must have one."""
        return Pairs(self.row_of[chosen])


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
