"""The solver over the members of a model, of which few take part at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._typing import Integers, Vector
from ..boosting.context import WeightFitContext
from ..boosting.paths import PATH_TOLERANCE
from ..formulations import Programme
from ..solvers import WEIGHT_TOLERANCE, Candidate, Precision, Reoptimiser, Solution, certify, in_stages
from ..solvers.two_stages import INNER

FIRST = 20
"""How many columns the first programme begins with: those with the largest edges."""
FAST = 1.0
"""At most this fraction of the number of active columns enters at a time, where only the optimum matters."""
PACE = 0.15
"""At most this fraction enters at a time (but at least one column), where every ensemble on the way matters."""
MAX_ROUNDS = 50
"""How many times ``solve`` solves over the active columns before it returns its best solution."""


class Trust(NamedTuple):
    """How precisely programmes are solved, and which weights count as used."""

    precision: Precision
    least_weight: float
    """A weight counts as used if it exceeds this fraction of the largest weight."""

    @property
    def of_active(self) -> Precision:
        """The precision over the active columns: half of the tolerance is left for the other columns, and no vertex
        is sought."""
        return Precision(0.5 * self.precision.tolerance, vertices=False, aim=1.0)

    def tightened(self) -> Trust:
        """For programmes that are solved as a part of another programme."""
        return self._replace(precision=self.precision._replace(tolerance=INNER * self.precision.tolerance))

    def used(self, w: Vector) -> Integers:
        return np.flatnonzero(w > self.least_weight * w.max(initial=0.0))


EXACT = Trust(Precision(1e-6), WEIGHT_TOLERANCE)
"""For the weights that are returned to the user."""
LOOSE = Trust(Precision(PATH_TOLERANCE, vertices=False), 1e-3)
"""For comparing ensembles, as when C is tuned."""


class MemberSolver:
    """Optimal weights over many columns, for one programme after another; few columns are active at a time."""

    def __init__(self, fit_context: WeightFitContext, trust: Trust) -> None:
        self._fit_context, self._trust = fit_context, trust
        self._columns = fit_context.columns
        self._is_active = np.zeros(self._columns.n_columns, dtype=bool)
        self.active: Integers = np.zeros(0, dtype=np.intp)
        """The active columns, in the order in which they entered."""
        self._part = self._columns.subset(self.active)
        self._made: Reoptimiser | None = None

    def solve(self, programme: Programme) -> Solution:
        """The optimum over all columns, starting from that of the last programme; may raise ``SolverFailed``."""
        tolerance = self._trust.precision.tolerance
        if programme.stages is not None:
            inner = MemberSolver(self._fit_context, self._trust.tightened())
            return in_stages(self._columns, programme.stages, inner.solve, tolerance)
        solver = self._solver(programme)
        if len(self.active):
            solver.move_to(self._part, programme)
        else:
            self._enter(self._first_edges(programme), FIRST)
        for _ in range(MAX_ROUNDS):
            while self._enter_improving(solver.solve(self._part, programme), FAST):
                pass
            found = solver.polish(self._part, programme)
            edges = self._columns.edges(found.u)
            solution = self._over_all(programme, found, edges)
            if solution.gap <= tolerance or not self._enter_improving(found, FAST, edges):
                break
        if self._trust.precision.vertices:
            fallback_solver = self._fit_context.fallback_solver_for(programme, self._trust.precision)
            found = fallback_solver.tidy(self._part, programme, found, is_vertex=False)
            solution = self._over_all(programme, found, self._columns.edges(found.u))
        return solution

    def grow(self, programme: Programme) -> Iterator[Solution]:
        """Column generation among the members: after each entry, the optimum over the active columns."""
        self._enter(self._first_edges(programme), 1)
        solver = self._solver(programme)
        found = solver.polish(self._part, programme)
        yield found
        while self._enter_improving(found, PACE):
            solver.solve(self._part, programme)
            found = solver.polish(self._part, programme)
            yield found

    def _solver(self, programme: Programme) -> Reoptimiser:
        """The solver over the active columns, made for the first programme and kept for the others."""
        if self._made is None:
            self._made = self._fit_context.solver_for(programme, self._trust.of_active)
        return self._made

    def _first_edges(self, programme: Programme) -> Vector:
        """The edges under duals equal to the multiplicities of the rows, made feasible."""
        return self._columns.edges(programme.feasible(self._columns.rows.counts))

    def _enter_improving(self, found: Solution, growth: float, edges: Vector | None = None) -> bool:
        """Activate columns that would improve the solution, the best first; whether there were any."""
        edges = self._columns.edges(found.u) if edges is None else edges
        improving = ~self._is_active & (edges > found.threshold)
        most = max(int(growth * len(self.active)), 1)
        self._enter(np.where(improving, edges, -np.inf), min(most, int(improving.sum())))
        return bool(improving.any())

    def _over_all(self, programme: Programme, found: Solution, edges: Vector) -> Solution:
        """The solution over the active columns, certified over all columns."""
        w = np.zeros(self._columns.n_columns)
        w[self.active] = found.w
        return certify(self._columns, programme, Candidate(w, found.u, found.rho), (found.margins, edges))

    def _enter(self, edges: Vector, n: int) -> None:
        order = np.argsort(-edges, kind="stable")
        best = order[~self._is_active[order]][:n]
        self._part.take(self._columns, best)
        self.active = np.concatenate([self.active, best])
        self._is_active[best] = True
