"""The cells that trees divide a feature into: between two cuts, a category, or a missing value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from ..models.marginals import CategoryMarginal, Marginal, NumberMarginal
from .conditions import Condition
from .names import Names, number

LARGEST = float(np.finfo(np.float64).max)
MISSING = "missing"


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one feature; the last one is that of missing values."""

    feature: int
    cuts: Vector | None
    """Where a number is cut; None for categories."""
    counts: Vector
    """The rows in each cell."""
    marginal: Marginal

    @property
    def n(self) -> int:
        return len(self.counts)

    @cached_property
    def shares(self) -> Vector:
        return np.asarray(self.counts / self.counts.sum())

    @property
    def has_missing(self) -> bool:
        return bool(self.counts[-1] > 0)

    @cached_property
    def lows(self) -> Vector:
        """What the values of a cell are above; of numbers only."""
        assert self.cuts is not None
        return np.append(-LARGEST, self.cuts)

    @cached_property
    def highs(self) -> Vector:
        """What the values of a cell are at most; of numbers only."""
        assert self.cuts is not None
        return np.append(self.cuts, LARGEST)

    def admitted(self, condition: Condition) -> NDArray[np.bool_]:
        """The cells whose values meet a condition."""
        if self.cuts is not None:
            inside = (self.lows >= condition.low) & (self.highs <= condition.high)
        else:
            codes = range(self.n - 1)
            inside = np.array([_is_admitted(code, condition) for code in codes], dtype=bool)
        return np.append(inside, condition.admits_missing)

    def positions(self, values: Vector) -> Integers:
        """The cell of each value; a code that is not known is missing."""
        if self.cuts is not None:
            found = np.searchsorted(self.cuts, values)
        else:
            found = np.where(np.isnan(values), -1, values).astype(np.intp)
            found = np.where((found < 0) | (found >= self.n - 1), self.n - 1, found)
        return np.where(np.isnan(values), self.n - 1, found)

    def texts(self, names: Names) -> list[str]:
        """What each cell holds, such as "28.5 to 40.5", "at most 3", the name of a category or "missing"."""
        if self.cuts is None:
            return [*(names.category(self.feature, code) for code in range(self.n - 1)), MISSING]
        cuts = [number(cut) for cut in self.cuts]
        if not cuts:
            return ["any", MISSING]
        between = [f"{low} to {high}" for low, high in pairwise(cuts)]
        texts = [f"at most {cuts[0]}", *between, f"above {cuts[-1]}"]
        ends = zip(self.lows, self.highs, strict=True)
        truths = [names.truth_between(self.feature, low, high) for low, high in ends]
        return [*(truth or text for truth, text in zip(truths, texts, strict=True)), MISSING]

    def of_truths(self) -> tuple[Cells, Integers] | None:
        """Cells for False, True and missing, and which cells these are; None if False and True are in one cell."""
        place = self.positions(np.array([0.0, 1.0, np.nan]))
        if place[0] == place[1]:
            return None
        counts = self.counts[place]
        return Cells(self.feature, None, counts, CategoryMarginal(counts[:-1], float(counts[-1]))), place


def _is_admitted(code: int, condition: Condition) -> bool:
    return code not in condition.other_codes if condition.codes is None else code in condition.codes


def cells_of(feature: int, cuts: Vector | None, n_codes: int, marginal: Marginal | None) -> Cells | None:
    """The cells of a feature; None if the distribution is not known at these cuts."""
    if cuts is None:
        if not isinstance(marginal, CategoryMarginal):
            return None
        return Cells(feature, None, marginal.cell_counts(n_codes), marginal)
    counts = marginal.cell_counts(cuts) if isinstance(marginal, NumberMarginal) else None
    return None if counts is None or marginal is None else Cells(feature, cuts, counts, marginal)
