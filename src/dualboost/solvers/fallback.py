"""Solvers that are tried in turn until a certificate holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..deadlines import time_is_up
from ..errors import MissingDependencyError
from ..formulations.programme import Programme
from ..matrix.columns import Columns
from .base import (
    SOLVER_ERRORS,
    Reoptimiser,
    Solution,
    Solver,
    SolverFailed,
    certify,
    drop_negligible,
    with_best_multipliers,
)
from .crossover import to_vertex

AIM = 1e-2
"""Solvers aim at this fraction of the accepted gap, which leaves room for rounding and for the step to a vertex."""


class FallbackSolver(Reoptimiser):
    """Tries the given solvers in order until one returns a solution with a gap of at most ``tolerance``.

    If time is up, the best solution is returned, whatever its gap is. ``vertices=False`` leaves an interior optimum of
    a linear programme as it is: dense, but found sooner.
    """

    is_exact = True

    def __init__(self, factories: Sequence[Callable[[], Solver]], tolerance: float, vertices: bool = True) -> None:
        self._factories = factories
        self._vertices = vertices
        self._solvers: dict[int, Solver] = {}
        self.tolerance = tolerance

    def solve(self, columns: Columns, programme: Programme) -> Solution:
        best: Solution | None = None
        attempts: list[str] = []
        for solver in self._able(programme):
            for strategy in solver.strategies:
                try:
                    candidate = solver.solve(columns, programme, AIM * self.tolerance, strategy)
                except SOLVER_ERRORS as failure:
                    attempts.append(f"{solver.name} ({strategy}): {failure}")
                    continue
                if not candidate.is_finite(programme.rows):
                    attempts.append(f"{solver.name} ({strategy}): numbers that are not finite")
                    continue
                solution = certify(columns, programme, candidate)
                solution = self.tidy(columns, programme, solution, solver.returns_vertex)
                if solution.gap <= self.tolerance:
                    return solution
                attempts.append(f"{solver.name} ({strategy}): gap {solution.gap:.1e}")
                if best is None or solution.gap < best.gap:
                    best = solution
                if time_is_up(programme.rows.workers):
                    return best
        raise SolverFailed(best, attempts)

    def part(self, tolerance: float, vertices: bool = True) -> FallbackSolver:
        """The same solvers with another tolerance, for programmes that are a part of another programme."""
        return FallbackSolver(self._factories, tolerance, self._vertices and vertices)

    def polish(self, columns: Columns, programme: Programme) -> Solution:
        return self.solve(columns, programme)

    def forget(self) -> None:
        """Discard the solvers, which hold costs that depend on C and on the rows."""
        self._solvers.clear()

    def _able(self, programme: Programme) -> Iterator[Solver]:
        for rung, factory in enumerate(self._factories):
            if rung not in self._solvers:
                try:
                    self._solvers[rung] = factory()
                except MissingDependencyError:
                    continue
            if self._solvers[rung].supports(programme):
                yield self._solvers[rung]

    def tidy(self, columns: Columns, programme: Programme, solution: Solution, is_vertex: bool) -> Solution:
        """A vertex of a linear programme and no negligible weights, as far as the tolerance allows; their objective."""
        is_late = time_is_up(programme.rows.workers)
        if self._vertices and programme.is_linear_programme and not is_vertex and not is_late:
            vertex = to_vertex(columns, programme, solution, self.tolerance)
            solution = vertex if vertex.gap <= max(solution.gap, self.tolerance) else solution
        solution = drop_negligible(columns, programme, solution, self.tolerance)
        return with_best_multipliers(columns, programme, solution)
