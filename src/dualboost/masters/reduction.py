"""A few rows that stand for all rows: a sample, or the rows near the kink of a hinge loss and bundles of the others.

A bundle is one row with the sum of its members' bounds and the mean of their votes. The loss of a bundle is at most the
sum of its members' losses, and equal to it where all members are on one side of the kink. The dual of a bundle, divided
among its members, is feasible for each of them. So a programme over bundles is a relaxation, and its duals are feasible
over all rows, with the same edges.
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
"""The rows in a bundle: a power of two, so that the mean of votes of -1 and +1 is exact in single precision."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """Rows that stand alone, rows in bundles, and rows left out, whose dual is zero."""

    alone: NDArray[np.bool_]
    """For every row, whether it stands alone."""
    members: Integers
    """The rows that take part; the rows of a bundle are next to each other."""
    starts: Integers
    """Where each row of the reduced programme begins among the members."""
    shares: Vector
    """The share of each member in its bundle, by multiplicity."""
    scale: Vector
    """The factor on the multiplicity of each row of the reduced programme: above 1 in a sample, which stands for all
    rows of its class, and 1 for bundles."""
    n_idle: int = 0
    """How many bundles, at the end, are of rows above the kink: these limit the steps of the master, but their duals
    are nearly zero."""

    @property
    def unit(self) -> float:
        """The factor that makes the reduced programme's duals feasible over all rows."""
        return 1.0 / float(self.scale.max())

    def is_below(self) -> NDArray[np.bool_]:
        """For every row, whether it stands alone or in a bundle below the kink."""
        is_below = np.zeros(len(self.alone), dtype=bool)
        idle = self.starts[len(self.starts) - self.n_idle] if self.n_idle else len(self.members)
        is_below[self.members[:idle]] = True
        return is_below

    def sums(self, values: Vector) -> Vector:
        """The values of all rows, added up over each bundle and scaled."""
        return self.scale * np.add.reduceat(values[self.members], self.starts)

    def averaged(self, entries: NDArray[np.floating]) -> Vector:
        """The entries of a column, averaged over bundles."""
        return np.add.reduceat(self.shares * entries[self.members], self.starts)

    def active(self, u: Vector, negligible: float) -> Vector:
        """The reduced programme's duals, with zeros on the idle bundles if those add up to something negligible."""
        n_active = len(u) - self.n_idle
        if u[n_active:].sum() > negligible:  # a row has come down to the kink
            return u
        return np.concatenate([u[:n_active], np.zeros(self.n_idle)])

    def spread(self, u: Vector) -> Vector:
        """The reduced programme's duals spread over all rows, times ``unit``."""
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
    """About ``n_rows`` rows, equally many of each class as far as it has them, scaled to stand for their class.

    The order of the rows does not depend on the order of the data (``data/merging.py``), so that with the fixed seed
    the same data have the same sample.
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
    """The ``n_rows`` rows nearest to the kink stand alone, the others are bundled with rows of nearly the same margin.

    Rows below the kink are bundled (``bundle_below``) only once no new columns are sought: a bundle shows a pricer the
    mean of its members' votes only, which hides the rows that a new column gets wrong.

    Given the reduction ``before``, the rows that stood alone in it still do, and so do the rows that changed sides of
    the kink. If these are the same rows as before, all rows stand alone.
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
