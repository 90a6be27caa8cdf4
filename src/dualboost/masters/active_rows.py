"""A master that solves over a part of the rows at a time, and certifies its solutions over all rows.

The rows are chosen in three phases. *Sampling*: the master solves over a random sample, scaled to stand for all rows,
and draws a larger sample when the sample misleads: when its objective differs from that of all rows by more than the
duality gap on the sample. *Active rows*: the master solves over the rows whose margin is below the kink of the hinge
loss or a little above, and chooses them again when they mislead. *Result*: once no column is added any more, only the
rows near the kink are kept as they are, and the rows on either side of the kink are bundled (``reduction.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._typing import Integers, Vector
from ..algebra.columns import Columns
from ..deadlines import time_is_up
from ..formulations.programme import Programme
from ..formulations.terms import LinearTerm
from .base import Candidate, MasterFailed, MasterSolution, Reoptimiser
from .certificate import certify
from .interleaved import SINGLE_ABOVE
from .reduction import Reduction, rows_near, sample_of

GROWTH = 4
"""A sample that misleads is followed by a sample this many times as large."""
MOST_SAMPLED = 0.25
"""No sample has more than this fraction of all rows; beyond it, the active rows are chosen instead."""
NEAR = 0.05
"""The fraction of all rows that counts as near the kink; never fewer rows than the first sample had."""
SETTLED = 5e-2
"""After rows are chosen, the inner master takes steps until the gap on these rows is at most this."""
TRUSTED = 1e-3
"""The rows for the result are chosen by a solution whose gap is at most this."""


class ActiveRows:
    """Solves by ``inner``, first over samples of ``n_sampled`` rows and more, then over the rows near the kink.

    Data of at most ``n_sampled`` rows are solved over all rows. The programme must have idle rows
    (``Programme.has_idle_rows``).
    """

    def __init__(self, inner: Reoptimiser, n_sampled: int) -> None:
        self.tolerance, self.is_exact = inner.tolerance, inner.is_exact
        self._inner, self._n_sampled = inner, n_sampled
        self._held: tuple[Reduction, Columns] | None = None
        self._is_sample, self._for_result = True, False
        self._last: MasterSolution | None = None

    def solve(self, columns: Columns, programme: Programme) -> MasterSolution:
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

    def polish(self, columns: Columns, programme: Programme) -> MasterSolution:
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

    def divide_rows(self, parents: Integers, shares: Vector) -> None:
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
        """Solve over the rows of this reduction from now on."""
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
        solution: MasterSolution,
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

    def _stepped(self, columns: Columns, programme: Programme, aim: float) -> tuple[MasterSolution, bool]:
        """The next solution, and whether the rows in use mislead: the other rows matter more than the gap on these."""

        def step(held: Columns, part: Programme) -> MasterSolution:
            reduced = self._inner.solve(held, part)
            while reduced.gap > aim and not time_is_up():  # which is asked for where all rows are held here only
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
        solve: Callable[[Columns, Programme], MasterSolution],
        in_single: bool = False,
    ) -> tuple[MasterSolution, MasterSolution]:
        """A solution over the rows in use: once certified over all rows, once as the inner master returned it."""
        assert self._held is not None
        reduction, held = self._held
        try:
            reduced = solve(held, reduction.programme(programme, held.rows))
        except MasterFailed as failure:
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

    def _on_all_rows(self, reduced: MasterSolution, programme: Programme) -> Candidate:
        u = self._reduction.spread(self._active(reduced))
        return Candidate(reduced.w, u.clip(programme.lower, programme.upper), reduced.rho)

    def _active(self, reduced: MasterSolution) -> Vector:
        return self._reduction.active(reduced.u, negligible=reduced.primal - reduced.dual)
