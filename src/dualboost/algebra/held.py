"""How the entries of A are stored: one matrix for each block of data rows, and one for the side rows.

Within a block the entries of a column are contiguous, and so are the entries of the first columns together, so that
products with a block copy nothing. Entries are stored in single precision, in which votes of -1 and +1 are exact.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from .rows import Rows

ROWS_AT_ONCE = 2048
"""How many rows are converted to double precision at a time: few enough to stay in the processor's cache."""
ROWS_AT_ONCE_ON_DEVICE = 2**20
"""The same on a GPU, which wants much work at a time."""

Entries = NDArray[np.float32]


class HeldEntries:
    """Room for a growing number of columns."""

    def __init__(self, rows: Rows, n_sides: int, capacity: int) -> None:
        self._blocks = [block for block in rows.blocks if block.start < rows.n_data]
        self._places = {block.start: k for k, block in enumerate(self._blocks)}
        self.capacity = max(capacity, 1)
        self._rows = rows
        self._at_once = ROWS_AT_ONCE if rows.device.is_memory else ROWS_AT_ONCE_ON_DEVICE
        sizes = [(self.capacity, block.stop - block.start) for block in self._blocks]
        self._parts = [rows.xp.empty(size, dtype=np.float32) for size in sizes]
        self.beside: Matrix = np.empty((self.capacity, n_sides))
        """The entries in the side rows, one row for each column, in double precision."""

    def reserve(self, n_columns: int) -> None:
        """Make room for ``n_columns`` columns, by at least doubling the space if they do not fit."""
        if n_columns > self.capacity:
            self.capacity = max(n_columns, 2 * self.capacity)
            self._parts = [_enlarged(part, self.capacity) for part in self._parts]
            self.beside = _enlarged(self.beside, self.capacity).astype(np.float64, copy=False)

    def write(self, j: int, entries: NDArray[np.floating], beside: Vector) -> None:
        """Fill one column."""
        for block, part in zip(self._blocks, self._parts, strict=True):
            part[j] = entries[block]
        self.beside[j] = beside

    def fill(self, entries: Entries) -> None:
        """Fill the first columns, given as the rows of a matrix."""
        for block, part in zip(self._blocks, self._parts, strict=True):
            part[: len(entries)] = entries[:, block]

    def copy(self, j: int, other: HeldEntries, chosen: Integers) -> None:
        """Fill the columns from j on with the chosen columns of another store."""
        last, there = j + len(chosen), self._rows.put(chosen)
        for part, others in zip(self._parts, other._parts, strict=True):
            part[j:last] = others[there]
        self.beside[j:last] = other.beside[chosen]

    def column(self, j: int) -> Entries:
        """The entries of one column in the data rows."""
        return np.concatenate([part[j] for part in self._parts])

    def in_block(self, block: slice) -> Entries:
        """The entries in a block of data rows, one row for each column that there is room for."""
        return self._parts[self._places[block.start]]

    def pieces(self, block: slice, first: int, last: int) -> Iterator[tuple[slice, Matrix]]:
        """The columns from ``first`` to ``last`` in a block of data rows, a few rows at a time, in double precision.

        Each piece comes with the slice of the block that it covers.
        """
        part = self.in_block(block)
        for start in range(0, part.shape[1], self._at_once):
            piece = slice(start, min(start + self._at_once, part.shape[1]))
            yield piece, part[first:last, piece].astype(np.float64)

    def some(self, chosen: Integers, rows: Integers) -> Entries:
        """The entries of the chosen columns in some data rows, one row for each column, in memory."""
        found = np.empty((len(chosen), len(rows)), dtype=np.float32)
        for block, part in zip(self._blocks, self._parts, strict=True):
            inside = np.flatnonzero((rows >= block.start) & (rows < block.stop))
            wanted = np.ix_(chosen, rows[inside] - block.start)
            found[:, inside] = self._rows.host(part[tuple(map(self._rows.put, wanted))])
        return found


def _enlarged(part: NDArray[np.floating], capacity: int) -> NDArray[np.floating]:
    larger = np.empty_like(part, shape=(capacity, part.shape[1]))
    larger[: len(part)] = part
    return larger
