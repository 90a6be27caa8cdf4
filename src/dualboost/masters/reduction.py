"""Fewer rows that stand for all: a sample, or the rows near the kink of a hinge alone and the others in bundles.

Rows are chosen and bundled in one place, from vectors that ``Rows.gathered`` brings there.

A bundle is one row with the sum of its members' bounds and the mean of their votes. Its loss is at most the sum of
theirs, and the same where all of them are on one side of the kink; its sample weight, divided among them, is one that
they may have. So a programme over bundles is a relaxation whose sample weights are feasible over all rows, with the
same edges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from ..algebra.rows import Rows
from ..formulations.programme import Programme
from ..formulations.terms import LinearTerm

BUNDLE = 256
"""Members of a bundle: with a power of two, the mean of hard votes of equal rows is exact in single precision."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """Rows that stand alone, rows in bundles, and rows left out, whose sample weight is zero."""

    alone: NDArray[np.bool_]
    """For each of all rows, whether it stands alone."""
    members: Integers
    """The rows that take part, those of a bundle side by side."""
    starts: Integers
    """Where each row of the reduced programme begins among the members."""
    shares: Vector
    """Each member's part of its bundle."""
    scale: Vector
    """How many times itself each row of the reduced programme stands for; the largest is taken off sample weights."""
    n_idle: int = 0
    """The last bundles, those above the kink: they hold the master back, but need no sample weight to speak of."""

    @property
    def unit(self) -> float:
        """The part of the reduced programme's sample weights that is feasible over all rows."""
        return 1.0 / float(self.scale.max())

    def is_below(self) -> NDArray[np.bool_]:
        """Whether a row in a bundle is in one below the kink; false for the others."""
        is_below = np.zeros(len(self.alone), dtype=bool)
        idle = self.starts[len(self.starts) - self.n_idle] if self.n_idle else len(self.members)
        is_below[self.members[:idle]] = True
        return is_below

    def sums(self, values: Vector) -> Vector:
        """Values of all rows, added up over bundles, to scale."""
        return self.scale * np.add.reduceat(values[self.members], self.starts)

    def averaged(self, entries: NDArray[np.floating]) -> Vector:
        """The entries of a column, averaged over bundles."""
        return np.add.reduceat(self.shares * entries[self.members], self.starts)

    def active(self, u: Vector, negligible: float) -> Vector:
        """The reduced programme's sample weights, with none on idle bundles if all they have is negligible."""
        n_active = len(u) - self.n_idle
        if u[n_active:].sum() > negligible:  # rows that moved, or that tie with the kink
            return u
        return np.concatenate([u[:n_active], np.zeros(self.n_idle)])

    def spread(self, u: Vector) -> Vector:
        """Sample weights of the reduced programme on all rows, times ``unit``."""
        spread = np.zeros(len(self.alone))
        spread[self.members] = self.shares * np.repeat(self.unit * u, _sizes(self.starts, len(self.members)))
        return spread

    def rows(self, whole: Rows) -> Rows:
        """The reduced programme's rows."""
        return Rows(self.sums(whole.gathered(whole.counts)), n_jobs=whole.n_jobs)

    def programme(self, whole: Programme, rows: Rows) -> Programme:
        """The programme over these rows."""
        assert isinstance(whole.term, LinearTerm)
        vectors = (whole.lower, whole.upper, whole.term.origin)
        lower, upper, origin = (self.sums(whole.rows.gathered(vector)) for vector in vectors)
        return replace(whole, rows=rows, lower=lower, upper=upper, term=LinearTerm(whole.term.kink, origin))


def sample_of(rows: Rows, n_rows: int) -> Reduction:
    """About ``n_rows`` rows, an equal part of them of each class or all it has, scaled to stand for their class.

    Rows are in an order of their own (``data/merging.py``), so with the fixed seed the same data have the same sample.
    """
    rng = np.random.default_rng(0)
    groups, counts = rows.gathered(rows.groups), rows.gathered(rows.counts)
    scale = np.zeros(rows.n_data)
    for group, total in enumerate(rows.totals_of_groups):
        members = np.flatnonzero(groups == group)
        most = max(n_rows // len(rows.totals_of_groups), 1)
        chosen = rng.choice(members, min(len(members), most), replace=False)
        scale[chosen] = total / counts[chosen].sum()
    members = np.flatnonzero(scale)
    return Reduction(scale > 0, members, np.arange(len(members)), np.ones(len(members)), scale[members])


def rows_near(
    reached: Vector,
    kink: float,
    counts: Vector,
    n_rows: int,
    before: Reduction | None = None,
    bundle_below: bool = True,
) -> Reduction:
    """The ``n_rows`` rows nearest to the kink alone, the others in bundles of rows with much the same margins.

    Rows below the kink are bundled for columns that are given only: a new one would gain by what its votes are in the
    mean, and lose by none of those that it misses.

    Given the reduction ``before``, the rows that stood alone still do, and so do those that changed sides; if that
    makes no difference, all do.
    """
    distance, is_below = np.abs(reached - kink), reached < kink
    n_rows = min(n_rows, len(reached))
    alone = distance <= np.partition(distance, n_rows - 1)[n_rows - 1]
    if not bundle_below:
        alone |= is_below
    if before is not None:
        alone |= before.alone | (before.is_below() != is_below)
        alone |= np.array_equal(alone, before.alone)
    order = np.argsort(reached, kind="stable")
    parts = [np.flatnonzero(alone), *(order[(side & ~alone)[order]] for side in (is_below, ~is_below))]
    bounds = np.cumsum([len(part) for part in parts])
    starts = [np.arange(bounds[0]), *(np.arange(*ends, BUNDLE) for ends in pairwise(bounds))]
    return _bundled(alone, np.concatenate(parts), np.concatenate(starts), counts, n_idle=len(starts[-1]))


def _bundled(alone: NDArray[np.bool_], members: Integers, starts: Integers, counts: Vector, n_idle: int) -> Reduction:
    sums = np.add.reduceat(counts[members], starts)
    shares = counts[members] / np.repeat(sums, _sizes(starts, len(members)))
    return Reduction(alone, members, starts, shares, np.ones(len(starts)), n_idle)


def _sizes(starts: Integers, end: int) -> Integers:
    """How many members each row of the reduced programme has."""
    return np.diff(np.append(starts, end))
