"""The master where rows have several classes: an interior-point method over the pairs that matter.

A row is near few of the other classes. The programme is solved over some pairs of rows and classes, at first the class
of the least margin of each row; where another class has a smaller margin at the solution, its pair is added, until the
certificate over all pairs holds (``formulations/class_programme.py``).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from .._typing import Integers, Vector
from ..algebra.columns import Columns
from ..algebra.pairs import PairColumns
from ..deadlines import time_is_up
from ..formulations.class_programme import ClassProgramme
from .base import Candidate, MasterFailed, MasterSolution
from .certificate import certify, drop_negligible, with_best_multipliers
from .class_rows import ClassRowSystem, has_lower_bounds
from .class_vertex import to_class_vertex
from .interior_point import MAX_STALLED, MAX_STEPS, starting_duals, usual_slack
from .newton import Newton
from .newton_rows import Iterate

ROUGHLY = 1e-2
"""The relative gap at which the weights are left after a new column: duals away from their bounds price better."""
TIGHTER = 0.1
"""Without a new column, the next solution has at most this share of the gap of the one before."""
STEP_BACKS = (0.995, 0.9)
"""How far towards the nearest bound a step may go: the second is tried where the first does not lead to the optimum."""
VIOLATED = 1e-9
"""A margin counts as smaller than another one if it is so by more than this share of the largest margin."""


class ClassMaster:
    """Solves class programmes; with ``solves_fully`` each is solved to the end."""

    def __init__(self, tolerance: float, vertices: bool, aim: float, solves_fully: bool) -> None:
        self.tolerance, self.is_exact = tolerance, solves_fully
        self._vertices, self._aim = vertices, aim
        self._active: NDArray[np.bool_] | None = None
        self._last: MasterSolution | None = None

    def solve(self, columns: Columns, programme: ClassProgramme) -> MasterSolution:
        if self.is_exact:
            return self.polish(columns, programme)
        last = self._last
        is_new = last is None or len(last.w) != columns.n_columns
        if is_new or last is None:
            return self._solved(columns, programme, ROUGHLY)
        solution = self._solved(columns, programme, max(TIGHTER * last.gap, self._aim * self.tolerance))
        return solution if solution.gap <= max(0.5 * last.gap, self.tolerance) else self.polish(columns, programme)

    def polish(self, columns: Columns, programme: ClassProgramme) -> MasterSolution:
        """The optimum, to the tolerance; a vertex if the programme is linear."""
        solution = self._solved(columns, programme, self._aim * self.tolerance)
        if self._vertices and programme.is_linear_programme and not time_is_up(programme.rows.workers):
            vertex = to_class_vertex(columns, programme, solution, self.tolerance)
            solution = vertex if vertex.gap <= max(solution.gap, self.tolerance) else solution
        solution = drop_negligible(columns, programme, solution, self.tolerance)
        solution = with_best_multipliers(columns, programme, solution)
        if solution.gap > self.tolerance and not time_is_up(programme.rows.workers):
            raise MasterFailed(solution, [f"interior point over classes: gap {solution.gap:.1e}"])
        return solution

    def move_to(self, columns: Columns, programme: ClassProgramme) -> None:
        """Nothing is kept but the pairs that matter, which are as good a choice for another C."""
        self._last = None

    def divide_rows(self, parents: Integers, shares: Vector) -> None:
        self.forget()

    def forget(self) -> None:
        self._active, self._last = None, None

    def _solved(self, columns: Columns, programme: ClassProgramme, aim: float) -> MasterSolution:
        """A solution over all pairs with a gap of at most ``aim``, or the best that was found."""
        entries = columns.dense()
        if self._active is None:
            even = entries.mean(axis=0)
            self._active = even <= programme.pairs.spread(programme.pairs.least(even))
        best: MasterSolution | None = None
        while True:
            found = _over_some(entries, programme, self._active, aim)
            solution = certify(columns, programme, found)
            if best is None or solution.gap < best.gap:
                best = solution
            missed = _violated(programme, solution.margins, self._active)
            if solution.gap <= aim or not programme.rows.any(missed) or time_is_up(programme.rows.workers):
                break
            self._active = self._active | missed
        self._last = best
        return best


def _over_some(
    entries: NDArray[np.float64], programme: ClassProgramme, active: NDArray[np.bool_], aim: float
) -> Candidate:
    """The optimum over the active pairs, with zeros as the duals of the others."""
    pairs = programme.pairs.some(active)
    part, columns = programme.over(pairs), PairColumns(np.ascontiguousarray(entries[:, active]), programme.rows)
    found, gap = Candidate(np.zeros(0), np.zeros(0)), np.inf
    for step_back in STEP_BACKS:
        other, its_gap = interior_optimum(columns, part, aim, step_back)
        if its_gap < gap:
            found, gap = other, its_gap
        if gap <= aim or time_is_up(programme.rows.workers):
            break
    u = np.zeros(len(active))
    u[active] = found.u
    return found._replace(u=u)


def interior_optimum(
    columns: PairColumns, programme: ClassProgramme, aim: float, step_back: float
) -> tuple[Candidate, float]:
    """The best point found by the interior-point method, and its relative gap."""
    point = _starting_point(columns, programme)
    newton = Newton(columns, programme.plain, step_back, partial(ClassRowSystem, programme.pairs))
    best, best_gap, stalled = point.candidate, np.inf, 0
    for _ in range(MAX_STEPS):
        gap = certify(columns, programme, point.candidate).gap
        if gap < best_gap:
            best, best_gap, stalled = point.candidate, gap, 0
        else:
            stalled += 1
        if gap <= aim or (stalled > MAX_STALLED and best_gap < ROUGHLY) or time_is_up(programme.rows.workers):
            break
        try:
            with np.errstate(all="ignore"):
                point = newton.advance(point)
        except (LinAlgError, ValueError):  # rounding has made the system indefinite or infinite
            break
    return best, best_gap


def _starting_point(columns: PairColumns, programme: ClassProgramme) -> Iterate:
    """Equal weights, and for each row a dual inside its box, shared out evenly among its classes."""
    plain, pairs, rows, n = programme.plain, programme.pairs, programme.rows, columns.n_columns
    weight_set = plain.weight_set
    u = pairs.spread(starting_duals(plain) / pairs.sizes)
    w = np.full(n, min((weight_set.total or 1.0) / n, 0.5 * weight_set.bound))
    margins, edges = columns.margins(w), columns.edges(u)
    scale = max(1.0, rows.largest(np.abs(margins)))
    r = float(edges.max()) if weight_set.total is not None else 0.0
    slack = r + weight_set.cost + weight_set.ridge * w - edges
    s = np.maximum(slack, usual_slack(rows.total(u), weight_set))
    z = s if weight_set.is_bounded else np.zeros(n)
    n_lower = len(plain.lower) if has_lower_bounds(plain) else 0
    p, q = np.full(len(u) + n_lower, scale), np.full(len(plain.upper), scale)
    return Iterate(u, w, s, z, p, q, np.zeros(len(plain.equations)), r, margins, edges)


def _violated(programme: ClassProgramme, margins: Vector, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The inactive pairs that have the least margin of their row, below those of all of its active pairs."""
    pairs = programme.pairs
    held = pairs.least(np.where(active, margins, np.inf))
    least = pairs.least(margins)
    is_missed = least < held - VIOLATED * programme.rows.largest(np.abs(margins))
    return np.asarray((margins <= pairs.spread(least)) & pairs.spread(is_missed))
