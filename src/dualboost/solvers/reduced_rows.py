"""Solvers over fewer rows: rows with identical entries as one, and the rows that matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from ..deadlines import time_is_up
from ..formulations.programme import Programme
from ..formulations.terms import LinearTerm
from ..matrix.columns import Columns
from ..matrix.pairs import Partition
from ..matrix.rows import Rows
from .base import Candidate, Reoptimiser, Solution, SolverFailed, certify
from .interior_point import SINGLE_ABOVE

# Merging such rows does not change the optimum, since in every formulation a row of multiplicity two is the same as
# the row twice. A new column divides some merged rows; the inner solver then continues from its iterate, which
# is divided likewise. With stumps, a million rows often have only a few thousand distinct rows of A. Once most rows
# differ, nothing is merged.

LEAST_ROWS = 10_000
"""With fewer rows than this, merging takes longer than it saves."""
MOST_DISTINCT = 0.7
"""Once the distinct rows are more than this fraction of the rows, the rows are no longer merged."""


class DistinctRows(Reoptimiser):
    """Solves by ``inner`` over the distinct rows while there are few; returns solutions over all rows."""

    def __init__(self, inner: Reoptimiser) -> None:
        self.tolerance, self.is_exact = inner.tolerance, inner.is_exact
        self._inner = inner
        self._partition: Partition | None = None
        self._held: Columns | None = None
        self._shares: Vector = np.zeros(0)
        self._programme: Programme | None = None
        self._n_columns = 0

    def solve(self, columns: Columns, programme: Programme) -> Solution:
        self._follow(columns, programme)
        if self._held is None:
            return self._inner.solve(columns, programme)
        return self._spread(self._inner.solve(self._held, self._merged(programme)), programme)

    def polish(self, columns: Columns, programme: Programme) -> Solution:
        """The optimum, with a certificate that is computed over all rows."""
        self._follow(columns, programme)
        if self._held is None:
            return self._inner.polish(columns, programme)
        try:
            found = self._spread(self._inner.polish(self._held, self._merged(programme)), programme)
        except SolverFailed as failure:
            if failure.best is not None:
                failure.best = self._spread(failure.best, programme)
            raise
        solution = certify(columns, programme, Candidate(found.w, found.u, found.rho))
        if solution.gap <= self.tolerance or time_is_up(columns.rows.workers):
            return solution
        self.forget()
        return self._inner.polish(columns, programme)

    def move_to(self, columns: Columns, programme: Programme) -> None:
        self._programme = None
        self._follow(columns, programme)
        if self._held is None:
            self._inner.move_to(columns, programme)
        else:
            self._inner.move_to(self._held, self._merged(programme))

    def forget(self) -> None:
        self._inner.forget()
        self._partition = self._held = self._programme = None
        self._n_columns = 0

    def _follow(self, columns: Columns, programme: Programme) -> None:
        """Divide merged rows that differ in new columns; if the programme forbids merging, solve over all rows."""
        if not programme.can_merge_rows or (self._partition is None and not programme.is_uniform()):
            if self._held is not None:
                self.forget()
            self._n_columns = columns.n_columns
            return
        if columns.n_columns < self._n_columns:
            self.forget()
        if columns.n_columns == self._n_columns or (self._n_columns and self._held is None):
            self._n_columns = columns.n_columns
            return
        partition = self._partition or Partition.trivial(columns.n_data)
        parents = np.arange(partition.n_kinds)
        for j in range(self._n_columns, columns.n_columns):
            partition, of_last = partition.refined(columns.entries(j))
            parents = parents[of_last]
        is_first, self._n_columns, self._programme = self._held is None, columns.n_columns, None
        if partition.n_kinds > MOST_DISTINCT * columns.n_data:
            if not is_first and self._partition is not None:
                self._inner.divide_rows(self._partition.kind, self._shares)
            self._partition, self._held = None, None
            return
        self._hold(columns, partition, None if is_first else parents)

    def _hold(self, columns: Columns, partition: Partition, parents: Integers | None) -> None:
        counts = partition.sums(columns.rows.gathered(columns.rows.counts))
        rows, before = Rows(counts, n_jobs=columns.rows.n_jobs), self._held
        if before is None or parents is None:
            self._held = columns.over(rows, partition.examples)
        else:  # the columns known so far are the same in all parts of a divided row
            self._held = before.over(rows, parents)
            for j in range(before.n_columns, columns.n_columns):
                self._held.append(columns.entries(j)[partition.examples])
        self._partition, self._shares = partition, columns.rows.counts / counts[partition.kind]
        if before is not None and parents is not None:
            self._inner.divide_rows(parents, counts / before.rows.counts[parents])

    def _merged(self, programme: Programme) -> Programme:
        """The programme over the distinct rows, computed once for the same columns."""
        if self._programme is None:
            assert self._held is not None
            assert self._partition is not None
            sums = self._partition.sums
            lower, upper, term = sums(programme.lower), sums(programme.upper), programme.term.merged(sums)
            self._programme = replace(programme, rows=self._held.rows, lower=lower, upper=upper, term=term)
        return self._programme

    def _spread(self, merged: Solution, programme: Programme) -> Solution:
        """The solution over all rows: each has the margin of its distinct row, and a share of its dual."""
        assert self._partition is not None
        kind = self._partition.kind
        return replace(merged, u=merged.u[kind] * self._shares, margins=merged.margins[kind], programme=programme)


# A bundle is one row with the sum of its members' bounds and the mean of their votes. The loss of a bundle is at most
# the sum of its members' losses, and equal to it where all members are on one side of the kink. The dual of a bundle,
# divided among its members, is feasible for each of them. So a programme over bundles is a relaxation, and its duals
# are feasible over all rows, with the same edges.

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
    """How many bundles, at the end, are of rows above the kink: these limit the steps of the solver, but their duals
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
        return Rows(self.sums(whole.gathered(whole.counts)), n_jobs=whole.n_jobs)

    def programme(self, whole: Programme, rows: Rows) -> Programme:
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
        drawn = rng.choice(members, min(len(members), most), replace=False)
        scale[drawn] = total / counts[drawn].sum()
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
    return np.diff(np.append(starts, end))


# The rows are chosen in three phases. *Sampling*: the solver uses a random sample, scaled to stand for all
# rows, and draws a larger sample when the sample misleads: when its objective differs from that of all rows by more
# than the duality gap on the sample. *Active rows*: the solver uses the rows whose margin is below the kink of
# the hinge loss or a little above, and chooses them again when they mislead. *Result*: once no column is added any
# more, only the rows near the kink are kept as they are, and the rows on either side of the kink are bundled
# (``reduction.py``).

GROWTH = 4
"""A sample that misleads is followed by a sample this many times as large."""
MOST_SAMPLED = 0.25
"""No sample has more than this fraction of all rows; beyond it, the active rows are chosen instead."""
NEAR = 0.05
"""The fraction of all rows that counts as near the kink; never fewer rows than the first sample had."""
SETTLED = 5e-2
"""After rows are chosen, the inner solver takes steps until the gap on these rows is at most this."""
TRUSTED = 1e-3
"""The rows for the result are chosen by a solution whose gap is at most this."""


class ActiveRows(Reoptimiser):
    """Solves by ``inner``, first over samples of ``n_sampled`` rows and more, then over the rows near the kink.

    Data of at most ``n_sampled`` rows are solved over all rows. The programme must have idle rows
    (``Programme.has_idle_rows``).
    """

    def __init__(self, inner: Reoptimiser, n_sampled: int) -> None:
        self.tolerance, self.is_exact = inner.tolerance, inner.is_exact
        self._inner, self._n_sampled = inner, n_sampled
        self._held: tuple[Reduction, Columns] | None = None
        self._is_sample, self._for_result = True, False
        self._last: Solution | None = None

    def solve(self, columns: Columns, programme: Programme) -> Solution:
        """A certified solution over all rows; called again without a new column, a better one."""
        if self.is_exact or columns.n_rows <= self._n_sampled:
            return self.polish(columns, programme) if self.is_exact else self._inner.solve(columns, programme)
        is_new = self._follow(columns)
        solution, is_misled = self._stepped(columns, programme, np.inf)
        if is_misled:
            if not self._sample_more(columns):
                self._choose(columns, programme, solution, keep=not is_new)
            solution, _ = self._stepped(columns, programme, SETTLED)
        self._last = solution
        return solution

    def polish(self, columns: Columns, programme: Programme) -> Solution:
        """The optimum over all rows, to the tolerance: rows are added until the other rows make no difference."""
        if columns.n_rows <= self._n_sampled:
            return self._inner.polish(columns, programme)
        self._follow(columns)
        if not self._for_result:
            solution = self._last
            if solution is None or len(solution.w) != columns.n_columns or solution.gap > TRUSTED:
                solution, _ = self._stepped(columns, programme, TRUSTED)
            self._choose(columns, programme, solution, for_result=True)
        solution, _ = self._certified(columns, programme, self._inner.polish)
        while solution.gap > self.tolerance and not columns.rows.all(self._reduction.alone) and not time_is_up():
            self._choose(columns, programme, solution, keep=True, for_result=True)
            solution, _ = self._certified(columns, programme, self._inner.polish)
        return solution

    def move_to(self, columns: Columns, programme: Programme) -> None:
        """Choose the rows again: a row that is near the kink at one C need not be near it at another."""
        if columns.n_rows <= self._n_sampled:
            self._inner.move_to(columns, programme)
        else:
            self.forget()

    def forget(self) -> None:
        self._inner.forget()
        self._held, self._last = None, None
        self._is_sample, self._for_result = True, False

    @property
    def _reduction(self) -> Reduction:
        assert self._held is not None
        return self._held[0]

    def _follow(self, columns: Columns) -> bool:
        """Copy the columns to the rows in use; whether any column is new."""
        if self._held is None:
            self._hold(sample_of(columns.rows, self._n_sampled), columns)
            return True
        reduction, held = self._held
        if held.n_columns > columns.n_columns:
            held.keep_first(columns.n_columns)
            self._inner.forget()
        is_new = held.n_columns < columns.n_columns
        for j in range(held.n_columns, columns.n_columns):
            held.append(reduction.averaged(columns.entries(j)))
        return is_new

    def _hold(self, reduction: Reduction, columns: Columns) -> None:
        held = Columns(reduction.rows(columns.rows), columns.n_columns)
        for j in range(columns.n_columns):
            held.append(reduction.averaged(columns.entries(j)))
        self._held = reduction, held
        self._inner.forget()

    def _sample_more(self, columns: Columns) -> bool:
        """Draw a larger sample, if the rows in use are a sample and the larger one is not too large."""
        n_sampled = GROWTH * len(self._reduction.members)
        if not self._is_sample or n_sampled > MOST_SAMPLED * columns.n_rows:
            return False
        self._hold(sample_of(columns.rows, n_sampled), columns)
        return True

    def _choose(
        self,
        columns: Columns,
        programme: Programme,
        solution: Solution,
        keep: bool = False,
        for_result: bool = False,
    ) -> None:
        """Choose the rows by their margins; ``keep`` the rows that stand alone, so that no choice is made twice."""
        assert isinstance(programme.term, LinearTerm)
        assert isinstance(programme.term.kink, float)
        rows = columns.rows
        reached, counts = rows.gathered(programme.shifted(solution.margins, solution.rho)), rows.gathered(rows.counts)
        n_rows = max(self._n_sampled, round(NEAR * columns.n_rows))
        before = self._reduction if keep and not self._is_sample else None
        self._hold(rows_near(reached, programme.term.kink, counts, n_rows, before, for_result), columns)
        self._is_sample, self._for_result = False, for_result

    def _stepped(self, columns: Columns, programme: Programme, aim: float) -> tuple[Solution, bool]:
        """The next solution, and whether the rows in use mislead: the other rows matter more than the gap on these."""

        def step(held: Columns, part: Programme) -> Solution:
            reduced = self._inner.solve(held, part)
            while reduced.gap > aim and not time_is_up():  # all rows are held here, so no worker need agree
                reduced = self._inner.solve(held, part)
            return reduced

        solution, reduced = self._certified(columns, programme, step, in_single=True)
        left_out, gap = abs(solution.primal - reduced.primal), reduced.primal - reduced.dual
        is_solved = reduced.gap <= self.tolerance
        return solution, solution.gap > self.tolerance and (left_out > gap or is_solved)

    def _certified(
        self,
        columns: Columns,
        programme: Programme,
        solve: Callable[[Columns, Programme], Solution],
        in_single: bool = False,
    ) -> tuple[Solution, Solution]:
        """A solution over the rows in use: once certified over all rows, once as the inner solver returned it."""
        assert self._held is not None
        reduction, held = self._held
        try:
            reduced = solve(held, reduction.programme(programme, held.rows))
        except SolverFailed as failure:
            if failure.best is not None:
                failure.best = certify(columns, programme, self._on_all_rows(failure.best, programme))
            raise
        candidate = self._on_all_rows(reduced, programme)
        products = None
        if in_single:
            products = columns.single.margins(reduced.w), reduction.unit * held.edges(self._active(reduced))
        solution = certify(columns, programme, candidate, products)
        if in_single and solution.gap <= SINGLE_ABOVE:
            solution = certify(columns, programme, candidate)
        return replace(solution, threshold=reduction.unit * reduced.threshold), reduced

    def _on_all_rows(self, reduced: Solution, programme: Programme) -> Candidate:
        u = self._reduction.spread(self._active(reduced))
        return Candidate(reduced.w, u.clip(programme.lower, programme.upper), reduced.rho)

    def _active(self, reduced: Solution) -> Vector:
        return self._reduction.active(reduced.u, negligible=reduced.primal - reduced.dual)
