"""From rows on disk to bins in memory: a few columns are read at a time, and a byte of each number is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..data.coded import MISSING, MOST_CUTS, CodedFeatures, Codes
from ..data.features import require_finite
from ..data.lazy import HashedFeatures
from ..data.merging import hashes_of_column
from ..data.messages import Source
from ..data.on_disk import RowsOnDisk
from ..workers import Communicator
from .cuts import cuts_by_all

NUMBERS_AT_ONCE = 2**25
"""How many numbers are in memory at a time, unless a single column has more: a quarter of a gigabyte."""


@dataclass(frozen=True, eq=False)
class RowsToCode(HashedFeatures):
    """Rows on disk that are read once for their hashes, and once more as bins when it is known which of them count."""

    source: RowsOnDisk
    hashes: NDArray[np.uint64]
    workers: Communicator

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.source.shape

    def dense(self, rows: Integers | slice) -> Matrix:
        return self.source.dense(rows)

    def column(self, feature: int, rows: Integers | slice) -> Vector:
        return self.source.column(feature, rows)

    def batches(self) -> Iterator[Matrix]:
        return self.source.batches()

    def taken(self, rows: Integers) -> CodedFeatures:
        """Bins between the cuts of these rows, and of those of other workers."""
        n_features = self.shape[1]
        codes: Codes = np.empty((len(rows), n_features), dtype=np.uint8, order="F")
        values, cuts = np.full((n_features, MISSING + 1), np.nan), []
        for first, columns in _read(self.source, self.workers):
            columns = columns[rows]
            found = cuts_by_all(columns, range(columns.shape[1]), MOST_CUTS, self.workers)
            for k, (column, own) in enumerate(zip(columns.T, found, strict=True)):
                codes[:, first + k], values[first + k] = _coded(column, own)
            cuts += found
        return CodedFeatures(codes, cuts, values, self.hashes[rows])


def to_code(source: RowsOnDisk, workers: Communicator) -> RowsToCode:
    """The rows with their hashes; infinite numbers are refused."""
    hashes = np.zeros(source.shape[0], dtype=np.uint64)
    for first, columns in _read(source, workers):
        names = None if source.names is None else source.names[first : first + columns.shape[1]].tolist()
        require_finite(columns, Source(), names)
        for k, column in enumerate(columns.T):
            hashes += hashes_of_column(column, first + k, source.shape[1])
    return RowsToCode(source, hashes, workers)


def _read(source: RowsOnDisk, workers: Communicator) -> Iterator[tuple[int, Matrix]]:
    """Some columns at a time, with the number of the first; as many on every worker."""
    n_rows, n_features = source.shape
    n_at_once = max(1, int(NUMBERS_AT_ONCE // workers.max(float(n_rows))))
    for first in range(0, n_features, n_at_once):
        yield first, source.columns(range(first, min(first + n_at_once, n_features)))


def _coded(column: Vector, cuts: Vector) -> tuple[Codes, Vector]:
    """The bin of each number, and what stands for each bin: the largest of its numbers, or its cut if it has none."""
    codes = np.searchsorted(cuts, column).astype(np.uint8)
    missing = np.isnan(column)
    codes[missing] = MISSING
    values = np.full(MISSING + 1, np.nan)
    values[: len(cuts)] = cuts
    values[len(cuts)] = np.nextafter(cuts[-1], np.inf) if len(cuts) else 0.0
    largest = np.full(MISSING + 1, -np.inf)
    np.maximum.at(largest, codes, np.where(missing, -np.inf, column))
    return codes, np.where(largest > -np.inf, largest, values)
