"""Primal-dual column generation: one interior-point step between pricings, and a polish at the end.

The duals of a loosely solved master are central, which makes them good prices; solving it to the end before every
pricing is wasted work. See Gondzio, Gonzalez-Brevis & Munari, "New developments in the primal-dual column generation
technique", EJOR 224 (2013).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from .._typing import Integers, Vector
from ..algebra.columns import Columns, Products
from ..formulations.programme import Programme
from .base import MasterSolution
from .certificate import certify
from .interior_point import starting_point
from .ladder import AIM, Ladder
from .newton import Newton
from .newton_rows import Iterate
from .warm_start import moved, raised, with_new_columns

STEP_BACK = 0.995
NEW_COLUMN_CENTRING = 0.8
LEAST_CENTRAL = 0.03
"""When a column enters, every complementarity product is raised to at least this fraction of the mean product."""
MOST_CENTRAL = 0.3
"""The fraction after the step of an entry was blocked; it is halved with every entry that is not."""
BLOCKED = 0.1
"""After a step shorter than this, the small products are raised before the next one."""
NEARLY_SOLVED = 1e-2
"""At a smaller gap than this, steps that are blocked twice without a smaller gap in between go round in a circle."""
PUSH = 0.3
"""When pricing found no new column, steps are taken until the gap is this part of what it was."""
MOST_PUSHES = 4
"""So many steps at most are taken in one go."""
SINGLE_ABOVE = 1e-3
"""Steps from a relative gap above this are taken in single precision."""
SINGLE_ROWS = 2000
"""Over fewer rows than this, single precision saves nothing."""
PATIENCE = 20
"""Calls without a new column after which the master is solved to the end."""
POLISH_STEPS = 60


class Interleaved:
    """A master that takes one step a call; the ladder behind it solves to the end when that does not suffice."""

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
        """A solution whose gap may still be large, better than the last one if no column is new."""
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
            if solution.gap <= aim:
                break
        return solution

    def polish(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The optimum, to the tolerance; a vertex if the programme is linear."""
        if self._point is None:
            self._point = starting_point(columns, programme)
        if len(self._point.w) == columns.n_columns and not self._is_solved(columns):
            for _ in range(POLISH_STEPS):
                before, gap = self._gap, self._certified(columns, programme).gap
                stalled = gap <= self.tolerance and gap > 0.5 * before
                if gap <= self._aim * self.tolerance or stalled:
                    exact = certify(columns, programme, self._point.candidate)
                    if exact.gap <= self.tolerance:
                        return self._ladder.tidy(columns, programme, exact, is_vertex=False)
                    self._point = self._point._replace(margins=exact.margins, edges=columns.edges(self._point.u))
                if not self._advance(columns, programme):
                    break
        return self._solved(columns, programme)

    def _solved(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The optimum by the ladder, found once for the same columns."""
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
        """A row's dual is divided among its parts; multipliers and margins are those of every part."""
        if self._point is not None:
            point = self._point
            u, p, q, margins = (one[parents] for one in (point.u, point.p, point.q, point.margins))
            self._point = point._replace(u=u * shares, p=p, q=q, margins=margins)
        self._ladder.divide_rows(parents, shares)
        self._programme = self._optimum = None

    def forget(self) -> None:
        """Begin anew: the next programme is over other rows, or fewer columns."""
        self._ladder.forget()
        self._point, self._waited = None, 0
        self._optimum, self._raised_at = None, np.inf
        self._gap, self._length, self._in_single = np.inf, 1.0, False

    def _enter(self, columns: Columns, programme: Programme) -> bool:
        """The step after new columns."""
        assert self._point is not None
        self._point = with_new_columns(self._point, columns, programme, self._central)
        self._gap, self._in_single = np.inf, True
        possible = self._step(columns, programme, NEW_COLUMN_CENTRING)
        self._central = MOST_CENTRAL if self._length < BLOCKED else max(0.5 * self._central, LEAST_CENTRAL)
        return possible

    def _advance(self, columns: Columns, programme: Programme) -> bool:
        """A step towards the optimum over the same columns; False where steps are blocked whatever is tried."""
        if self._length < BLOCKED and self._point is not None:
            if 0.5 * self._raised_at < self._gap <= NEARLY_SOLVED:
                return False
            self._point, self._raised_at = raised(self._point, columns, programme), self._gap
        return self._step(columns, programme, 0.0)

    def _step(self, columns: Columns, programme: Programme, centring: float) -> bool:
        """One step; False, and a fresh start next time, if rounding has made it impossible."""
        in_doubt = self._gap > SINGLE_ABOVE and columns.n_rows >= SINGLE_ROWS
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
        """The products to step with; the iterate's own are computed anew when they become exact."""
        if self._in_single and not in_single and self._point is not None:
            point = self._point
            self._point = point._replace(margins=columns.margins(point.w), edges=columns.edges(point.u))
        self._in_single = in_single
        return columns.single if in_single else columns

    def _certified(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The iterate's certificate, by its own products; a small gap is not believed in single precision."""
        solution = self._measured(columns, programme)
        if self._in_single and solution.gap <= SINGLE_ABOVE:
            self._products(columns, in_single=False)
            solution = self._measured(columns, programme)
        self._gap = solution.gap
        return solution

    def _measured(self, columns: Columns, programme: Programme) -> MasterSolution:
        assert self._point is not None
        return certify(columns, programme, self._point.candidate, (self._point.margins, self._point.edges))
