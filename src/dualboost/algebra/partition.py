"""Groups of rows that no column tells apart, which are few while there are few columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from ..workers.caching import cached_property


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
        """One row of each kind."""
        examples = np.empty(self.n_kinds, dtype=np.intp)
        examples[self.kind] = np.arange(len(self.kind))
        return examples

    def sums(self, values: Vector) -> Vector:
        """The sum of a vector over the rows of each kind."""
        return np.bincount(self.kind, weights=values, minlength=self.n_kinds).astype(float)


def _codes(entries: NDArray[Any]) -> tuple[Integers, int]:
    """A number for each distinct entry, and how many there are; votes of -1 and +1 need no sorting."""
    if (np.abs(entries) == 1).all():
        return (entries > 0).astype(np.intp), 2
    values, codes = np.unique(entries, return_inverse=True)
    return codes, len(values)
