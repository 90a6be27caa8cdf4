"""Features that are not an array in memory, but give any rows of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector

ROWS_AT_ONCE = 100_000
"""How many rows are an array at a time."""


class LazyFeatures(ABC):
    """Rows of numbers, of which some are an array at a time; indexed as an array, by rows or by rows and one column."""

    shape: tuple[int, int]

    @abstractmethod
    def dense(self, rows: Integers | slice) -> Matrix:
        """Some rows, in double precision."""

    @abstractmethod
    def column(self, feature: int, rows: Integers | slice) -> Vector:
        """One column in some rows."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, which: Any) -> Any:
        return self.column(which[1], which[0]) if isinstance(which, tuple) else self.dense(which)

    def batches(self) -> Iterator[Matrix]:
        """All rows, some at a time."""
        for start in range(0, self.shape[0], ROWS_AT_ONCE):
            yield self.dense(slice(start, min(start + ROWS_AT_ONCE, self.shape[0])))


class HashedFeatures(LazyFeatures):
    """Features of training rows."""

    hashes: NDArray[np.uint64]
    """What the features of each row add to its hash (``merging.py``)."""

    @abstractmethod
    def taken(self, rows: Integers) -> HashedFeatures:
        """Some rows, in this order, as learners read them."""


@dataclass(frozen=True, eq=False)
class SomeRows(LazyFeatures):
    """Some of the rows of other features, which stay where they are."""

    source: LazyFeatures
    rows: Integers
    """Positions in increasing order."""

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return len(self.rows), self.source.shape[1]

    def dense(self, rows: Integers | slice) -> Matrix:
        return self.source.dense(self.rows[rows])

    def column(self, feature: int, rows: Integers | slice) -> Vector:
        return self.source.column(feature, self.rows[rows])

    def batches(self) -> Iterator[Matrix]:
        start = 0
        for batch in self.source.batches():
            first, last = np.searchsorted(self.rows, [start, start + len(batch)])
            if last > first:
                yield batch[self.rows[first:last] - start]
            start += len(batch)


def some_rows(X: Any, rows: Integers) -> Any:
    """The rows at these positions, in increasing order; they are read when they are needed if X is lazy."""
    return SomeRows(X, rows) if isinstance(X, LazyFeatures) else X[rows]


def in_batches(X: Any, work: Any) -> Any:
    """What ``work`` says of each row, for rows that may not all be an array at a time."""
    if not isinstance(X, LazyFeatures):
        return work(X)
    return np.concatenate([np.asarray(work(batch)) for batch in X.batches()])
