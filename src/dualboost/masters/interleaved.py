"""Primal-dual column generation: one interior-point step between pricings, and an exact solution at the end.

The duals of a loosely solved master stay away from their bounds, and pricing with such duals finds better columns than
with extreme ones; solving the master to the end before every pricing would be wasted work. See Gondzio,
Gonzalez-Brevis & Munari, "New developments in the primal-dual column generation technique", EJOR 224 (2013).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from .._typing import Integers, Vector
from ..algebra.columns import Columns, Products
from ..deadlines import time_is_up
from ..formulations.programme import Programme
from .base import MasterSolution
from .certificate import certify
from .interior_point import starting_point
from .ladder import AIM, Ladder
from .newton import Newton
from .newton_rows import Iterate
from .warm_start import moved, raised, with_new_columns

STEP_BACK = 0.995
"""A step goes at most this fraction of the way to the nearest bound, so that the iterate stays strictly inside."""
NEW_COLUMN_CENTRING = 0.8
"""The step after a new column aims at products of at least this fraction of their mean, to stay off the bounds."""
LEAST_CENTRAL = 0.03
"""When a column enters, every complementarity product is raised to at least this fraction of the mean product."""
MOST_CENTRAL = 0.3
"""The fraction used instead of ``LEAST_CENTRAL`` after the step for a new column was blocked; every new column whose
step is not blocked halves the fraction again."""
BLOCKED = 0.1
"""A step shorter than this counts as blocked; the small products are then raised before the next step."""
NEARLY_SOLVED = 1e-2
"""At a gap below this, a second blocked step without progress means that more steps will not help either."""
PUSH = 0.3
"""When pricing found no new column, steps are taken until the gap is at most this fraction of the gap before."""
MOST_PUSHES = 4
"""At most this many steps are taken between two pricings."""
SINGLE_ABOVE = 1e-3
"""Steps from a relative gap above this are taken in single precision."""
SINGLE_ROWS = 2000
"""Over fewer rows than this, single precision saves no time."""
PATIENCE = 20
"""After this many calls without a new column, the master is solved to the end."""
POLISH_STEPS = 60
"""``polish`` takes at most this many steps before it leaves the programme to the ladder."""


class Interleaved:
    """A master that takes one or a few steps a call; a ladder solves to the end where steps do not suffice."""

    is_exact: ClassVar[bool] = False

    def __init__(self, ladder: Ladder, aim: float = AIM) -> None:
        self.tolerance = ladder.tolerance
        self._aim = aim
        self._ladder = ladder
        self._point: Iterate | None = None
        self._programme: Programme | None = None
        self._waited = 0
        self._gap = np.inf
        self._length = 1.0
        self._in_single = False
        self._central = LEAST_CENTRAL
        self._raised_at = np.inf
        self._optimum: MasterSolution | None = None

    def solve(self, columns: Columns, programme: Programme) -> MasterSolution:
        """A solution whose gap may still be large; if no column is new, it is better than the one before."""
        grown = self._point is not None and len(self._point.w) < columns.n_columns
        self._waited = 0 if grown else self._waited + 1
        if grown:
            self._optimum, self._raised_at = None, np.inf
        if self._waited > PATIENCE or self._is_solved(columns):
            return self._solved(columns, programme)
        if self._point is None:
            self._point = starting_point(columns, programme)
        aim = np.inf if grown else PUSH * self._gap
        for _ in range(MOST_PUSHES):
            if not (self._enter(columns, programme) if grown else self._advance(columns, programme)):
                return self._solved(columns, programme)
            solution = self._certified(columns, programme)
            if not np.isfinite(solution.gap):  # numbers beyond double precision: the next call begins anew
                self._point = None
                return self._solved(columns, programme)
            if solution.gap <= aim:
                break
        return solution

    def polish(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The optimum, to the tolerance; a vertex if the programme is linear; if time is up, the last solution."""
        if self._point is None:
            self._point = starting_point(columns, programme)
        if len(self._point.w) == columns.n_columns and not self._is_solved(columns):
            for _ in range(POLISH_STEPS):
                before, gap = self._gap, self._certified(columns, programme).gap
                stalled = gap <= self.tolerance and gap > 0.5 * before
                is_late = np.isfinite(gap) and time_is_up(programme.rows.workers)
                if gap <= self._aim * self.tolerance or stalled or is_late:
                    exact = certify(columns, programme, self._point.candidate)
                    if exact.gap <= self.tolerance or is_late:
                        return self._ladder.tidy(columns, programme, exact, is_vertex=False)
                    self._point = self._point._replace(margins=exact.margins, edges=columns.edges(self._point.u))
                if not self._advance(columns, programme):
                    break
        return self._solved(columns, programme)

    def _solved(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The optimum found by the ladder, which is asked once for the same columns."""
        if self._optimum is None or not self._is_solved(columns):
            self._optimum = self._ladder.solve(columns, programme)
        return self._optimum

    def _is_solved(self, columns: Columns) -> bool:
        """Whether the ladder has solved the programme over the columns held."""
        return self._optimum is not None and len(self._optimum.w) == columns.n_columns

    def move_to(self, columns: Columns, programme: Programme) -> None:
        """Carry the iterate over to a programme of another C."""
        if self._point is not None and self._programme is not None and len(self._point.w) == columns.n_columns:
            with np.errstate(all="ignore"):
                self._point = moved(self._point, columns, self._programme, programme)
            self._gap, self._length, self._waited = np.inf, 1.0, 0
        elif self._programme is None:
            self._point = None
        self._optimum, self._raised_at = None, np.inf

    def divide_rows(self, parents: Integers, shares: Vector) -> None:
        """Divide the dual of each row among its parts, which keep the multipliers and the margin of the row."""
        if self._point is not None:
            point = self._point
            u, p, q, margins = (one[parents] for one in (point.u, point.p, point.q, point.margins))
            self._point = point._replace(u=u * shares, p=p, q=q, margins=margins)
        self._ladder.divide_rows(parents, shares)
        self._programme = self._optimum = None

    def forget(self) -> None:
        """Forget the iterate: the next programme is over other rows, or over fewer columns."""
        self._ladder.forget()
        self._point, self._waited = None, 0
        self._optimum, self._raised_at = None, np.inf
        self._gap, self._length, self._in_single = np.inf, 1.0, False

    def _enter(self, columns: Columns, programme: Programme) -> bool:
        """The step after new columns."""
        assert self._point is not None
        with np.errstate(all="ignore"):
            self._point = with_new_columns(self._point, columns, programme, self._central)
        self._gap, self._in_single = np.inf, True
        possible = self._step(columns, programme, NEW_COLUMN_CENTRING)
        self._central = MOST_CENTRAL if self._length < BLOCKED else max(0.5 * self._central, LEAST_CENTRAL)
        return possible

    def _advance(self, columns: Columns, programme: Programme) -> bool:
        """A step towards the optimum over the same columns; False where steps remain blocked."""
        if self._length < BLOCKED and self._point is not None:
            if 0.5 * self._raised_at < self._gap <= NEARLY_SOLVED:
                return False
            self._point, self._raised_at = raised(self._point, columns, programme), self._gap
        return self._step(columns, programme, 0.0)

    def _step(self, columns: Columns, programme: Programme, centring: float) -> bool:
        """One step; False if rounding makes it impossible: the next call then begins from a new starting point."""
        in_doubt = self._gap > SINGLE_ABOVE and columns.rows.n_all >= SINGLE_ROWS
        for in_single in (True, False) if in_doubt else (False,):
            newton = Newton(self._products(columns, in_single), programme, STEP_BACK)
            assert self._point is not None
            try:
                with np.errstate(all="ignore"):
                    self._point = newton.advance(self._point, centring)
            except (LinAlgError, ValueError):
                continue
            self._programme, self._length = programme, newton.length
            return True
        self._point = None
        return False

    def _products(self, columns: Columns, in_single: bool) -> Products:
        """The columns in the precision asked for; the iterate's margins and edges are recomputed after single."""
        if self._in_single and not in_single and self._point is not None:
            point = self._point
            self._point = point._replace(margins=columns.margins(point.w), edges=columns.edges(point.u))
        self._in_single = in_single
        return columns.single if in_single else columns

    def _certified(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The iterate's certificate; a small gap in single precision is measured again in double precision."""
        solution = self._measured(columns, programme)
        if self._in_single and solution.gap <= SINGLE_ABOVE:
            self._products(columns, in_single=False)
            solution = self._measured(columns, programme)
        self._gap = solution.gap
        return solution

    def _measured(self, columns: Columns, programme: Programme) -> MasterSolution:
        assert self._point is not None
        return certify(columns, programme, self._point.candidate, (self._point.margins, self._point.edges))
