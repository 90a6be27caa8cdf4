"""Which rows a tree is grown on: a share of them, drawn anew for every tree.

A tree that has seen all rows follows their noise, and values that are re-optimised follow it further. Trees that are
grown on samples, with values from all rows, are less alike, and fit rows not seen better.

Whether a row is drawn depends on the row itself and on the number of the draw, not on its place: the samples are the
same whatever the order of the rows, on any number of threads, and wherever rows are held.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .._typing import Vector

LEAST_SHARE = 0.7
"""The smallest share of the rows that a tree is grown on by default."""
FEW_LEAVES, MANY_LEAVES = 0.25, 0.5
"""With at most so many leaves a row, in all trees together, a tree is grown on all rows; with so many, on that share.

On twenty data sets with 150, 600 and 2,000 training rows, samples of 0.7 brought 0.1 to 0.7 points of accuracy above
and cost 0.2 below. Where leaves have a value for each class they did not pay: on four data sets of the
benchmark, of 170 to 1,400 rows (20 and 40 trees of depths 3 and 4), the accuracy was 0.5 points lower, and so was the
log loss by .002."""

FEWEST_ROWS = 50
"""Below so many rows, trees are grown on all of them: a pattern may be a single row."""

Keys = NDArray[np.uint64]
Mask = NDArray[np.bool_]


def share_of_rows(n_leaves: float, n_rows: int, n_outputs: int = 1) -> float:
    """The share of the rows that a tree is grown on by default, given how many leaves all trees may have.

    Where leaves are many, there is mostly noise left to fit; where they are few, every row counts.
    """
    if n_rows < FEWEST_ROWS or n_outputs > 1:
        return 1.0
    beyond = (n_leaves / n_rows - FEW_LEAVES) / (MANY_LEAVES - FEW_LEAVES)
    return float(1.0 - (1.0 - LEAST_SHARE) * np.clip(beyond, 0.0, 1.0))


class RowSamples:
    """Draws a share of the rows, given a key for each; rows of opposite sign, whose keys differ by one bit, alike."""

    def __init__(self, keys: Keys, share: float = 1.0, seed: int = 0) -> None:
        self._keys = keys >> np.uint64(1)
        self.share = share
        self._numbers = np.random.default_rng(seed)

    def draws(self) -> Iterator[tuple[Mask | None, float]]:
        """The rows to grow on, as a mask, and their share: first a sample, then all of them, whose mask is None."""
        if self.share < 1.0:
            number = self._numbers.integers(2**64, dtype=np.uint64, endpoint=False)
            yield _mixed(self._keys ^ number) < np.uint64(self.share * 2**64), self.share
        yield None, 1.0


def _mixed(keys: Keys) -> Keys:
    """The bits of each key, mixed as the generator "splitmix64" does."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def part(values: Vector, mask: Mask | None) -> Vector:
    """A vector, or a matrix with a row for each row, with zeros for the rows that were not drawn."""
    return values if mask is None else values * mask.reshape(-1, *(1,) * (values.ndim - 1))
