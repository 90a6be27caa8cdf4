"""Programmes in two stages: each class alone, then the price at which both exceed their least losses by the same.

The optimum at a price is concave in the price, and what any weights give is a line above it. Those of stage one are the
first two lines, one on each side of the best price. Each solve at the price where the two lines cross gives a line that
replaces one of them. The mean of the two ensembles, weighted so that both classes exceed by the same, is as good as the
crossing is high: it ends when that meets the dual value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from .._typing import Vector
from ..algebra.columns import Columns
from ..formulations.programme import Programme
from ..formulations.two_stages import LEAST_PRICE, TwoStageProgramme
from .base import Candidate, MasterFailed, MasterSolution
from .certificate import certify

MAX_PRICES, FEW_PRICES = 40, 4
"""How many prices are tried for a solution, and between pricings."""
INNER = 0.1
"""What is solved at one price is solved to this part of the tolerance."""
GROWTH = 1.5
"""Between pricings the prices are sought anew when there are so many times as many columns as the last time."""
ROUGH = 1e-2
"""The tolerance of the prices between pricings."""
NEAR = 1e-3
"""The gap at one price, no column being new, below which another price has more to give."""
NOTHING = 1e-9
"""An excess that is no more than rounding: then every price is as good."""

Solve = Callable[[Programme], MasterSolution]


class Line(NamedTuple):
    """Weights, and by how much the classes exceed their least losses with them: a line over the second one's price."""

    w: Vector
    rho: Vector
    excess: Vector

    @property
    def slope(self) -> float:
        return float(self.excess[1] - self.excess[0])


def in_stages(
    columns: Columns, programme: TwoStageProgramme, solve: Solve, tolerance: float, n_prices: int = MAX_PRICES
) -> MasterSolution:
    """The optimum of both stages over the columns, given a way to solve programmes of the one shape over them."""
    own = [certify(columns, programme.alone(k), _solved(solve, programme.alone(k))) for k in (0, 1)]
    programme = programme.at((0.5, 0.5), np.array([[max(one.dual, 0.0), one.primal] for one in own]))
    rising, falling = (_line(programme, one) for one in own)
    best: MasterSolution | None = None
    for _ in range(n_prices):
        programme = programme.at(_crossing(rising, falling))
        found = certify(columns, programme, _solved(solve, programme))
        line = _line(programme, found)
        rising, falling = (line, falling) if line.slope > 0 else (rising, line)
        bounds = [found] if best is None else [found, best]
        tried = [certify(columns, one.programme, _mean(rising, falling)._replace(u=one.u)) for one in bounds]
        best = min(tried, key=lambda one: one.gap)
        if best.gap <= tolerance:
            return best
    raise MasterFailed(best, [f"prices of the classes: gap {best.gap:.1e}" if best else "no price"])


def _solved(solve: Solve, programme: TwoStageProgramme) -> Candidate:
    """What solves the programme at its price; short of its tolerance, the best there is, as all is certified later."""
    try:
        found = solve(programme.inner())
    except MasterFailed as failure:
        if failure.best is None:
            raise
        found = failure.best
    return Candidate(found.w, found.u, found.rho)


def _line(programme: TwoStageProgramme, solution: MasterSolution) -> Line:
    losses = programme.losses(solution.margins, solution.rho)
    return Line(solution.w, solution.rho, losses - programme.least[:, 0])


def _crossing(rising: Line, falling: Line) -> tuple[float, float]:
    """The prices at which two lines have the same height; equal ones where one ensemble is best for both classes."""
    if min(rising.slope, -falling.slope) <= NOTHING:
        return 0.5, 0.5
    price = float((falling.excess[0] - rising.excess[0]) / (rising.slope - falling.slope))
    price = min(max(price, LEAST_PRICE), 1.0 - LEAST_PRICE)
    return 1.0 - price, price


def _mean(rising: Line, falling: Line) -> Candidate:
    """The mean of two ensembles at which both classes exceed by the same, or the better of the two."""
    difference = rising.slope - falling.slope
    part = min(max(-falling.slope / difference, 0.0), 1.0) if difference > 0 else 0.5
    w, rho = (part * one + (1.0 - part) * other for one, other in zip(rising[:2], falling[:2], strict=True))
    return Candidate(w, np.zeros(0), rho)


class Steps(Protocol):
    """A master of programmes of the one shape that takes a step at a time."""

    def solve(self, columns: Columns, programme: Programme) -> MasterSolution: ...

    def move_to(self, columns: Columns, programme: Programme) -> None: ...


class Whole(Protocol):
    """A master of programmes of the one shape that solves them from the start."""

    def solve(self, columns: Columns, programme: Programme) -> MasterSolution: ...


class Stages:
    """A master of programmes in two stages: between pricings it takes steps at the last prices, found roughly."""

    def __init__(self, steps: Steps, rough: Whole, exact: Whole, tolerance: float) -> None:
        self._steps, self._rough, self._exact = steps, rough, exact
        self._tolerance = tolerance
        self._last: TwoStageProgramme | None = None
        self._optimum: MasterSolution | None = None
        self._n_held = self._n_priced = 0

    def solve(self, columns: Columns, programme: TwoStageProgramme) -> MasterSolution:
        """A solution whose gap may still be large; the least losses are those over the columns of the last prices."""
        grown, self._n_held = columns.n_columns > self._n_held, columns.n_columns
        if self._last is None:
            return self._priced(columns, programme)
        found = self._steps.solve(columns, self._last.inner())
        is_near = found.gap <= NEAR and not grown
        if columns.n_columns >= GROWTH * self._n_priced or (is_near and columns.n_columns > self._n_priced):
            return self._priced(columns, programme)
        solution = certify(columns, self._last, Candidate(found.w, found.u, found.rho), (found.margins, found.edges))
        return self.polish(columns, programme) if is_near or solution.gap <= self._tolerance else solution

    def polish(self, columns: Columns, programme: TwoStageProgramme) -> MasterSolution:
        """The optimum of both stages, to the tolerance."""
        if self._optimum is None or len(self._optimum.w) != columns.n_columns:
            solve = partial(self._exact.solve, columns)
            self._optimum = self._kept(columns, in_stages(columns, programme, solve, self._tolerance))
        return self._optimum

    def move_to(self, columns: Columns, programme: TwoStageProgramme) -> None:
        """Forget what was found for another C."""
        self._last = self._optimum = None

    def _priced(self, columns: Columns, programme: TwoStageProgramme) -> MasterSolution:
        """Both stages, roughly."""
        try:
            found = in_stages(columns, programme, partial(self._rough.solve, columns), ROUGH, FEW_PRICES)
        except MasterFailed as failure:
            if failure.best is None:
                raise
            found = failure.best
        return self._kept(columns, found)

    def _kept(self, columns: Columns, solution: MasterSolution) -> MasterSolution:
        """The solution, whose prices are those of the steps to come."""
        assert isinstance(solution.programme, TwoStageProgramme)
        self._last, self._n_priced = solution.programme, columns.n_columns
        self._steps.move_to(columns, self._last.inner())
        return solution
