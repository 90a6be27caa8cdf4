"""A master that looks at few rows at a time, and certifies its solutions over all of them.

Initialisation: a sample of the rows, scaled to stand for all. Generation: the master is solved, and columns are priced,
on the sample. Refinement: the rows near the kink of the hinge alone; those below it, whose sample weight is at its upper
bound, in bundles; and none of those above it, whose sample weight is zero. Rows are chosen anew, by the margins of all
of them, when what they leave out of the objective is more than the gap that is left on them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..columns import Columns
from ..formulations.programme import Programme
from ..formulations.terms import LinearTerm
from .base import Candidate, MasterSolution
from .certificate import certify
from .interleaved import SINGLE_ABOVE, Interleaved
from .ladder import Ladder, MasterFailed
from .reduction import Reduction, rows_near, sample_of

NEAR = 0.05
"""The part of all rows that stands alone near the kink, at least as many as were sampled."""

TRUSTED, PUSHES = 1e-3, 5
"""Near the kink rows are chosen anew if they still mislead at this gap, or after so many steps towards it: a loosely
solved master moves rows far from where they were when they were chosen."""


class ActiveRows:
    """Solves by ``inner`` over a sample of ``n_sampled`` rows, then over the active ones; over all if there are no more.

    For hinge losses whose sample weights may be zero, and have no total.
    """

    def __init__(self, inner: Ladder | Interleaved, n_sampled: int) -> None:
        self.is_exact = inner.is_exact
        self._inner, self._n_sampled = inner, n_sampled
        self._held: tuple[Reduction, Columns] | None = None
        self._is_sample = True

    def solve(self, columns: Columns, programme: Programme) -> MasterSolution:
        """A certified solution over all rows; called again without a new column, a better one."""
        if columns.n_rows <= self._n_sampled:
            return self._inner.solve(columns, programme)
        if self.is_exact:
            return self.polish(columns, programme)
        is_new = self._follow(columns)
        solution, is_misled = self._tightened(columns, programme)
        if is_misled:
            self._refine(columns, programme, solution, keep=not is_new)
            solution, _ = self._tightened(columns, programme)
        return solution

    def polish(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The optimum over all rows, to the tolerance: rows join until those left out make no difference."""
        if columns.n_rows <= self._n_sampled:
            return self._inner.polish(columns, programme)
        self._follow(columns)
        solution = self._optimum(columns, programme)
        while solution.gap > self._inner.tolerance and (self._is_sample or not self._reduction.alone.all()):
            self._refine(columns, programme, solution, keep=True)
            solution = self._optimum(columns, programme)
        return solution

    @property
    def _reduction(self) -> Reduction:
        assert self._held is not None
        return self._held[0]

    def _follow(self, columns: Columns) -> bool:
        """Hold the columns that all rows have, on the rows at hand; whether any is new."""
        if self._held is None:
            self._held = _over(sample_of(columns.labels, columns.counts, self._n_sampled), columns)
            return True
        reduction, held = self._held
        held.keep_first(columns.n_columns)
        new = columns.signed[held.n_columns :]
        for signed in new:
            held.append(reduction.votes(signed))
        return len(new) > 0

    def _refine(self, columns: Columns, programme: Programme, solution: MasterSolution, keep: bool) -> None:
        """Choose the rows by their margins; ``keep`` those at hand as well, so that no choice comes twice."""
        assert isinstance(programme.term, LinearTerm)
        reached = programme.shifted(solution.margins, solution.rho)
        n_rows = max(self._n_sampled, round(NEAR * columns.n_rows))
        before = self._reduction if keep and not self._is_sample else None
        reduction = rows_near(reached, programme.term.kink, columns.counts, n_rows, before)
        self._held, self._is_sample = _over(reduction, columns), False
        self._inner.move_rows(self._held[1], reduction.programme(programme))

    def _tightened(self, columns: Columns, programme: Programme) -> tuple[MasterSolution, bool]:
        """The next solution on the rows at hand, solved as far as they need to be trusted; whether they are not."""
        for _ in range(PUSHES):
            solution, gap, is_misled = self._stepped(columns, programme)
            if self._is_sample or not is_misled or gap <= TRUSTED:
                break
        return solution, is_misled

    def _stepped(self, columns: Columns, programme: Programme) -> tuple[MasterSolution, float, bool]:
        """The next solution, the gap on the rows at hand, and whether they leave out more than that."""
        assert self._held is not None
        reduction, held = self._held
        reduced = self._inner.solve(held, reduction.programme(programme))
        candidate = self._on_all_rows(reduced, programme)
        products = columns.single.margins(reduced.w), reduction.unit * held.edges(reduction.active(reduced.u))
        solution = certify(columns, programme, candidate, products)
        if solution.gap <= SINGLE_ABOVE:
            solution = certify(columns, programme, candidate)
        is_misled = abs(solution.primal - reduced.primal) > reduced.primal - reduced.dual
        is_misled |= reduced.gap <= self._inner.tolerance < solution.gap
        return self._with_threshold(solution, reduced), reduced.gap, is_misled

    def _optimum(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The optimum on the rows at hand, certified over all of them."""
        assert self._held is not None
        reduction, held = self._held
        try:
            reduced = self._inner.polish(held, reduction.programme(programme))
        except MasterFailed as failure:
            if failure.best is not None:
                failure.best = certify(columns, programme, self._on_all_rows(failure.best, programme))
            raise
        solution = certify(columns, programme, self._on_all_rows(reduced, programme))
        return self._with_threshold(solution, reduced)

    def _on_all_rows(self, reduced: MasterSolution, programme: Programme) -> Candidate:
        u = self._reduction.spread(self._reduction.active(reduced.u))
        return Candidate(reduced.w, u.clip(programme.lower, programme.upper), reduced.rho)

    def _with_threshold(self, solution: MasterSolution, reduced: MasterSolution) -> MasterSolution:
        """The solution with the threshold that belongs to its sample weights: a sample's are scaled down."""
        return replace(solution, threshold=self._reduction.unit * reduced.threshold)


def _over(reduction: Reduction, columns: Columns) -> tuple[Reduction, Columns]:
    """The reduction, and the columns on its rows."""
    held = Columns(np.ones(len(reduction.starts)), reduction.sums(columns.counts), columns.n_columns)
    for signed in columns.signed:
        held.append(reduction.votes(signed))
    return reduction, held
