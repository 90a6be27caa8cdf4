"""Features as bins: one byte for a row and feature, in place of numbers that stay on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from .lazy import HashedFeatures

MISSING = 255
"""The code of a missing value, and the most bins of known ones."""
MOST_CUTS = MISSING - 1

Codes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class CodedFeatures(HashedFeatures):
    """The bin of each row and feature; in place of a number stands the largest one of its bin.

    Bins are the numbers between two cuts, and trees split at cuts only: so a row goes the same way by the number that
    stands for it as by its own.
    """

    codes: Codes
    """Stored column by column."""
    cuts: Sequence[Vector]
    """A number of bin k is above cut k - 1 and at most cut k."""
    values: Matrix
    """What stands for each bin, one row for each feature; nan for a missing value."""
    hashes: NDArray[np.uint64]
    """Those of the numbers on disk."""

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.codes.shape[0], self.codes.shape[1]

    @property
    def has_missing(self) -> NDArray[np.bool_]:
        """Whether each feature has a missing value."""
        return np.array([bool((column == MISSING).any()) for column in self.codes.T])

    def dense(self, rows: Integers | slice) -> Matrix:
        codes = self.codes[rows]
        return np.column_stack([self.values[k].take(codes[:, k]) for k in range(codes.shape[1])])

    def column(self, feature: int, rows: Integers | slice) -> Vector:
        return np.asarray(self.values[feature].take(self.codes[rows, feature]))

    def taken(self, rows: Integers) -> CodedFeatures:
        """Some rows, in this order."""
        codes = np.empty((len(rows), self.shape[1]), dtype=np.uint8, order="F")
        for k in range(self.shape[1]):
            codes[:, k] = self.codes[:, k].take(rows)
        return replace(self, codes=codes, hashes=self.hashes[rows])
