"""Programmes in two stages: the search for the class weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from .._typing import Vector
from ..deadlines import time_is_up
from ..formulations.programme import LEAST_CLASS_WEIGHT, Programme, TwoStageProgramme
from ..matrix.columns import Columns
from .base import Candidate, Reoptimiser, Solution, SolverFailed, certify
from .fallback import FallbackSolver
from .interior_point import WarmStartedSolver

MOST_SEARCHED = 40
"""How many pairs of class weights are tried at most for a solution."""
FEW_SEARCHED = 4
"""How many pairs of class weights are tried at most between two pricings."""
INNER = 0.1
"""The programme at one pair of class weights is solved to this fraction of the tolerance."""
GROWTH = 1.5
"""Between pricings the class weights are searched again once there are this many times the columns of the last
search."""
ROUGH = 1e-2
"""The tolerance of the search for class weights between pricings."""
NEAR = 1e-3
"""If no column is new and the gap at the present class weights is below this, the class weights are searched again."""
NOTHING = 1e-9
"""A slope of a line no larger than this is a rounding error: one ensemble is then best for both classes."""

Solve = Callable[[Programme], Solution]


class Line(NamedTuple):
    """An ensemble and the excess of each class: a straight line over the weight of the second class."""

    w: Vector
    rho: Vector
    excess: Vector

    @property
    def slope(self) -> float:
        return float(self.excess[1] - self.excess[0])


def in_stages(
    columns: Columns, programme: TwoStageProgramme, solve: Solve, tolerance: float, n_searched: int = MOST_SEARCHED
) -> Solution:
    """The optimum of both stages over the columns; ``solve`` solves ordinary programmes over the same columns."""
    own = [certify(columns, programme.alone(k), _solved(solve, programme.alone(k))) for k in (0, 1)]
    programme = programme.at((0.5, 0.5), np.array([[max(one.dual, 0.0), one.primal] for one in own]))
    rising, falling = (_line(programme, one) for one in own)
    best: Solution | None = None
    for _ in range(n_searched):
        programme = programme.at(_crossing(rising, falling))
        found = certify(columns, programme, _solved(solve, programme))
        line = _line(programme, found)
        rising, falling = (line, falling) if line.slope > 0 else (rising, line)
        bounds = [found] if best is None else [found, best]
        tried = [certify(columns, one.programme, _mean(rising, falling)._replace(u=one.u)) for one in bounds]
        best = min(tried, key=lambda one: one.gap)
        if best.gap <= tolerance or time_is_up(programme.rows.workers):
            return best
    raise SolverFailed(best, [f"class weights: gap {best.gap:.1e}" if best else "no class weights"])


def _solved(solve: Solve, programme: TwoStageProgramme) -> Candidate:
    """The optimum at the programme's class weights, or the best solution found if no solver reaches the tolerance."""
    try:
        found = solve(programme.inner())
    except SolverFailed as failure:
        if failure.best is None:
            raise
        found = failure.best
    return Candidate(found.w, found.u, found.rho)


def _line(programme: TwoStageProgramme, solution: Solution) -> Line:
    losses = programme.losses(solution.margins, solution.rho)
    return Line(solution.w, solution.rho, losses - programme.least[:, 0])


def _crossing(rising: Line, falling: Line) -> tuple[float, float]:
    """The class weights where two lines cross; equal class weights where one ensemble is best for both classes."""
    if min(rising.slope, -falling.slope) <= NOTHING:
        return 0.5, 0.5
    second = float((falling.excess[0] - rising.excess[0]) / (rising.slope - falling.slope))
    second = min(max(second, LEAST_CLASS_WEIGHT), 1.0 - LEAST_CLASS_WEIGHT)
    return 1.0 - second, second


def _mean(rising: Line, falling: Line) -> Candidate:
    """The mean of two ensembles whose line is level, or else the better of the two."""
    difference = rising.slope - falling.slope
    part = min(max(-falling.slope / difference, 0.0), 1.0) if difference > 0 else 0.5
    w, rho = (part * one + (1.0 - part) * other for one, other in zip(rising[:2], falling[:2], strict=True))
    return Candidate(w, np.zeros(0), rho)


class Staged(Reoptimiser):
    """Solves programmes in two stages by a solver of ordinary programmes.

    With ``warm_starts`` it takes single steps between pricings, at class weights found by a rough search; else every
    call of ``solve`` returns the optimum.
    """

    def __init__(self, fallback_solver: FallbackSolver, warm_starts: bool) -> None:
        self.tolerance = fallback_solver.tolerance
        self.is_exact = not warm_starts
        self._rough, self._exact = (
            fallback_solver.part(ROUGH, vertices=False),
            fallback_solver.part(INNER * fallback_solver.tolerance),
        )
        self._steps = WarmStartedSolver(self._rough, aim=1.0)
        self._last: TwoStageProgramme | None = None
        self._optimum: Solution | None = None
        self._n_held = self._n_searched = 0

    def solve(self, columns: Columns, programme: Programme) -> Solution:
        """A solution whose gap may be large; the least losses are those over the columns of the last search."""
        if self.is_exact:
            return self.polish(columns, programme)
        grown, self._n_held = columns.n_columns > self._n_held, columns.n_columns
        if self._last is None:
            return self._searched(columns, programme)
        found = self._steps.solve(columns, self._last.inner())
        is_near = found.gap <= NEAR and not grown
        if columns.n_columns >= GROWTH * self._n_searched or (is_near and columns.n_columns > self._n_searched):
            return self._searched(columns, programme)
        solution = certify(columns, self._last, Candidate(found.w, found.u, found.rho), (found.margins, found.edges))
        return self.polish(columns, programme) if is_near or solution.gap <= self.tolerance else solution

    def polish(self, columns: Columns, programme: Programme) -> Solution:
        if self._optimum is None or len(self._optimum.w) != columns.n_columns:
            solve = partial(self._exact.solve, columns)
            self._optimum = self._kept(columns, in_stages(columns, _staged(programme), solve, self.tolerance))
        return self._optimum

    def forget(self) -> None:
        self._rough.forget()
        self._exact.forget()
        self._steps.forget()
        self._last = self._optimum = None
        self._n_held = self._n_searched = 0

    def _searched(self, columns: Columns, programme: Programme) -> Solution:
        solve = partial(self._rough.solve, columns)
        try:
            found = in_stages(columns, _staged(programme), solve, ROUGH, FEW_SEARCHED)
        except SolverFailed as failure:
            if failure.best is None:
                raise
            found = failure.best
        return self._kept(columns, found)

    def _kept(self, columns: Columns, solution: Solution) -> Solution:
        self._last, self._n_searched = _staged(solution.programme), columns.n_columns
        self._steps.move_to(columns, self._last.inner())
        return solution


def _staged(programme: Programme) -> TwoStageProgramme:
    stages = programme.stages
    assert stages is not None, "Staged is for programmes in two stages only"
    return stages
