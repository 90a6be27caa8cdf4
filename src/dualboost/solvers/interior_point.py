"""The interior-point method: solves from the start, warm starts, and one step between pricings."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from .._typing import Integers, Vector
from ..deadlines import time_is_up
from ..formulations.programme import Programme
from ..formulations.weight_sets import WeightSet
from ..matrix.columns import Columns, Products
from .base import Candidate, Reoptimiser, Solution, SolveFailure, certify
from .fallback import AIM, FallbackSolver
from .newton import Iterate, Newton, mean_product, n_products, room_above

# The method solves these conditions for mu towards 0 (s are the slacks of the edges; p, q and z the multipliers of
# the bounds of u and w)::
#
#     g'(u) + A w - E'rho - p + q = 0          s = r + cost + ridge*w + z - A'u >= 0,   w*s = mu
#     (u - lower)*p = mu                       (upper - u)*q = mu                       (bound - w)*z = mu
#     sum(w) = weight total, if there is one (r is its multiplier, else 0)
#     E u = t, the total and the intercept, if any (rho are their multipliers)
#
# u is eliminated row by row, so that a step over T columns costs one T x T matrix A'DA with a diagonal D.

MAX_STEPS = 100
"""How many steps are taken at most."""
MAX_STALLED = 8
"""After more steps than this without a smaller gap, the best point so far is returned."""
SMALL_MARGIN = 0.05
"""If the mean size of the margins is below this at the start, the weights are raised to make it one."""


class InteriorPointSolver:
    """Solves any programme, from a point inside its box."""

    name: ClassVar[str] = "ipm"
    returns_vertex: ClassVar[bool] = False
    warm_starts: ClassVar[bool] = True
    strategies: ClassVar[tuple[str, ...]] = ("direct", "cautious")

    @staticmethod
    def supports(programme: Programme) -> bool:
        return True

    def solve(self, columns: Columns, programme: Programme, tolerance: float, strategy: str) -> Candidate:
        point = starting_point(columns, programme)
        newton = Newton(columns, programme, step_back=0.9 if strategy == "cautious" else 0.995)
        best, best_gap, stalled = point.candidate, np.inf, 0
        for _ in range(MAX_STEPS):
            gap = certify(columns, programme, point.candidate, (point.margins, point.edges)).gap
            if gap < best_gap:
                best, best_gap, stalled = point.candidate, gap, 0
            else:
                stalled += 1
            if gap <= tolerance or (stalled > MAX_STALLED and best_gap < 1e-2) or time_is_up(programme.rows.workers):
                break
            try:
                with np.errstate(all="ignore"):
                    point = newton.advance(point)
            except (LinAlgError, ValueError):  # rounding has made the system indefinite or infinite
                break
        if not np.isfinite(best_gap):
            raise SolveFailure("the interior-point method found no finite point")
        return best


def starting_point(columns: Columns, programme: Programme) -> Iterate:
    """Duals inside the box, equal weights, and slacks and multipliers of the size of the problem."""
    weight_set, rows, n = programme.weight_set, programme.rows, columns.n_columns
    u = starting_duals(programme)
    w = np.full(n, min((weight_set.total or 1.0) / n, 0.5 * weight_set.bound))
    margins, edges = columns.margins(w), columns.edges(u)
    sizes = np.abs(margins)
    typical = rows.total(sizes) / rows.n_all
    is_free = weight_set.total is None and not weight_set.is_bounded
    if is_free and 0 < typical < SMALL_MARGIN:  # votes far below one need weights far above one
        w, margins = w / typical, margins / typical
    scale = max(1.0, rows.largest(np.abs(margins)))
    r = float(edges.max()) if weight_set.total is not None else 0.0
    slack = r + weight_set.cost + weight_set.ridge * w - edges
    s = np.maximum(slack, usual_slack(rows.total(np.abs(u)), weight_set))
    z = s if weight_set.is_bounded else np.zeros(n)
    p, q = (np.where(np.isfinite(bound), scale, 0.0) for bound in (programme.lower, programme.upper))
    return Iterate(u, w, s, z, p, q, np.zeros(len(programme.equations)), r, margins, edges)


def usual_slack(total: float, weight_set: WeightSet) -> float:
    """The size of slacks, given the total of the absolute duals: in their unit, which is that of the sample weights."""
    return 0.1 * total + abs(weight_set.cost) or 1.0


def starting_duals(programme: Programme) -> Vector:
    """Each row's share of the total of u, if there is one; else its response to a margin of zero.

    Where that is not inside the box of the row, another point inside the box is taken.
    """
    if programme.total is not None:
        rows = programme.rows
        share = rows.counts * (programme.total / rows.n_samples)
        if rows.all((programme.lower < share) & (share < programme.upper)):
            return share
        return programme.lower + 0.9 * (programme.upper - programme.lower)
    if programme.term.is_linear:
        return 0.5 * (programme.lower + programme.upper)
    response = programme.term.response(np.zeros_like(programme.lower), programme.lower, programme.upper)
    on_bound = (response <= programme.lower) | (response >= programme.upper)
    if not programme.rows.any(on_bound):
        return response
    return np.where(on_bound, 0.5 * (programme.lower + programme.upper), response)


# The optimum of the old programme lies on bounds that would block every step towards the new optimum. Its
# complementarity products are therefore raised, in proportion to the gap in the new programme, so that the next step
# is long.

NEW_COLUMN_WEIGHT = 0.1
"""The least weight of a new column, relative to the mean weight: most new columns turn out to be needed."""
GAP_SHARE = 4.0
"""When a column enters, the products are raised until they add up to this many times the gap that the column opens."""
RAISED_MEAN = 10.0
"""After a blocked step the method aims at a mean product this many times as large as the present mean."""
RAISED_CENTRAL = 0.3
"""After a blocked step every product is raised to at least this fraction of the larger mean."""
MOVED_CENTRAL = 0.1
"""When C changes, every product is raised to at least this fraction of the mean product."""
INSIDE = 0.99
"""The largest fraction of its bound that a weight has in a starting point."""


def with_new_columns(point: Iterate, columns: Columns, programme: Programme, central: float) -> Iterate:
    """The point with a weight for each new column, and every product at least ``central`` times the mean."""
    weight_set, n_old = programme.weight_set, len(point.w)
    n_new = columns.n_columns - n_old
    edges = np.concatenate([point.edges, columns.edges_of_last(n_new, point.u)])
    padded = point._replace(w=np.concatenate([point.w, np.zeros(n_new)]), edges=edges)
    opened = certify(columns, programme, padded.candidate, (point.margins, edges))
    gap = max(opened.primal - opened.dual, 0.0)
    mu = max(mean_product(point, programme), GAP_SHARE * gap / n_products(columns, programme))
    point = _off_bounds(point, programme, mu, central)
    if programme.is_bounded:  # moving off the bounds has changed the duals
        edges = columns.single.edges(point.u)
    least_violation = 1e-2 * programme.rows.total(np.abs(point.u))
    violation = np.maximum(np.abs(point.r + weight_set.cost - edges[n_old:]), least_violation)
    product, total = max(mu, float(point.w @ point.s) / n_old), float(point.w.sum())
    largest = 0.3 * (weight_set.bound if weight_set.total is None else total)
    fresh = np.maximum(np.minimum(product / violation, largest), NEW_COLUMN_WEIGHT * total / n_old)
    w = _inside(weight_set, np.concatenate([np.maximum(point.w, central * mu / point.s), fresh]))
    s = np.concatenate([point.s, product / fresh])
    z = np.concatenate([point.z, product / (weight_set.bound - w[n_old:])])
    return point._replace(w=w, s=s, z=z, margins=columns.single.margins(w), edges=edges)


def moved(point: Iterate, columns: Columns, old: Programme, new: Programme) -> Iterate:
    """The point at the same relative place in the new box, with products as large as the gap there requires."""
    weight_set = new.weight_set
    w = _inside(weight_set, point.w)
    if new.is_bounded:
        part = (point.u - old.lower) / old.width
        u = new.feasible(new.lower + part * (new.upper - new.lower))
    else:
        u = new.feasible(new.term.response(new.shifted(columns.margins(w), point.rho), new.lower, new.upper))
    found = certify(columns, new, Candidate(w, u, point.rho))
    difference = max(found.primal - found.dual, 1e-6 * abs(found.primal), np.finfo(float).tiny)
    mu = difference / n_products(columns, new)
    r = float(found.edges.max()) if weight_set.total is not None else 0.0
    slack = r + weight_set.cost + weight_set.ridge * w - found.edges
    s = np.maximum(slack, mu / np.maximum(w, 1e-3 * w.max()))
    w = _inside(weight_set, np.maximum(w, MOVED_CENTRAL * mu / s))
    z = np.maximum(-slack, 0.0) if weight_set.is_bounded else point.z
    point = _off_bounds(point._replace(u=u, w=w, s=s, z=z, r=r), new, mu, MOVED_CENTRAL)
    return point._replace(margins=columns.margins(w), edges=columns.edges(point.u))


def raised(point: Iterate, columns: Columns, programme: Programme) -> Iterate:
    """The point with its small products raised, so that the next step is not blocked."""
    point = _off_bounds(point, programme, RAISED_MEAN * mean_product(point, programme), RAISED_CENTRAL)
    return point._replace(edges=columns.edges(point.u))


def _off_bounds(point: Iterate, programme: Programme, mu: float, central: float) -> Iterate:
    """u moved inside its box, and the multipliers raised, until no product is far below ``central`` times mu."""
    least = central * mu
    point = point._replace(s=np.maximum(point.s, least / np.maximum(point.w, 1e-3 * point.w.max())))
    if programme.weight_set.is_bounded:
        point = point._replace(z=np.maximum(point.z, least / room_above(point.w, programme)))
    if not programme.is_bounded:
        return point
    rows = programme.rows
    u, p, q = rows.empty(), rows.empty(), rows.empty()

    def work(block: slice) -> None:
        lower, upper, width = programme.lower[block], programme.upper[block], programme.width[block]
        smallest = least / width
        np.maximum(point.p[block], smallest, out=p[block])
        np.maximum(point.q[block], smallest, out=q[block])
        lowest = lower + np.minimum(least / p[block], central * width)
        highest = upper - np.minimum(least / q[block], central * width)
        np.clip(point.u[block], lowest, highest, out=u[block])

    rows.each(work)
    return point._replace(u=programme.feasible(u), p=p, q=q)


def _inside(weight_set: WeightSet, w: Vector) -> Vector:
    return np.minimum(weight_set.nearest(w), INSIDE * weight_set.bound)


# The duals of a loosely solved programme stay away from their bounds, and pricing with such duals finds better columns
# than with extreme ones; solving the programme to the end before every pricing would be wasted work. See Gondzio,
# Gonzalez-Brevis & Munari, "New developments in the primal-dual column generation technique", EJOR 224 (2013).

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
"""After this many calls without a new column, the programme is solved to the end."""
POLISH_STEPS = 60
"""``polish`` takes at most this many steps before it leaves the programme to the fallback."""


class WarmStartedSolver(Reoptimiser):
    """Takes one or a few steps a call; a fallback solves to the end where steps do not suffice."""

    is_exact = False

    def __init__(self, fallback_solver: FallbackSolver, aim: float = AIM) -> None:
        self.tolerance = fallback_solver.tolerance
        self._aim = aim
        self._fallback_solver = fallback_solver
        self._point: Iterate | None = None
        self._programme: Programme | None = None
        self._waited = 0
        self._gap = np.inf
        self._length = 1.0
        self._in_single = False
        self._central = LEAST_CENTRAL
        self._raised_at = np.inf
        self._optimum: Solution | None = None

    def solve(self, columns: Columns, programme: Programme) -> Solution:
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

    def polish(self, columns: Columns, programme: Programme) -> Solution:
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
                        return self._fallback_solver.tidy(columns, programme, exact, is_vertex=False)
                    self._point = self._point._replace(margins=exact.margins, edges=columns.edges(self._point.u))
                if not self._advance(columns, programme):
                    break
        return self._solved(columns, programme)

    def _solved(self, columns: Columns, programme: Programme) -> Solution:
        """The optimum found by the fallback, which is called once for the same columns."""
        if self._optimum is None or not self._is_solved(columns):
            self._optimum = self._fallback_solver.solve(columns, programme)
        return self._optimum

    def _is_solved(self, columns: Columns) -> bool:
        return self._optimum is not None and len(self._optimum.w) == columns.n_columns

    def move_to(self, columns: Columns, programme: Programme) -> None:
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
        self._fallback_solver.divide_rows(parents, shares)
        self._programme = self._optimum = None

    def forget(self) -> None:
        """Forget the iterate: the next programme is over other rows, or over fewer columns."""
        self._fallback_solver.forget()
        self._point, self._waited = None, 0
        self._optimum, self._raised_at = None, np.inf
        self._gap, self._length, self._in_single = np.inf, 1.0, False

    def _enter(self, columns: Columns, programme: Programme) -> bool:
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
        """The columns in this precision; the iterate's margins and edges are recomputed after single."""
        if self._in_single and not in_single and self._point is not None:
            point = self._point
            self._point = point._replace(margins=columns.margins(point.w), edges=columns.edges(point.u))
        self._in_single = in_single
        return columns.single if in_single else columns

    def _certified(self, columns: Columns, programme: Programme) -> Solution:
        """The iterate's certificate; a small gap in single precision is measured again in double precision."""
        solution = self._measured(columns, programme)
        if self._in_single and solution.gap <= SINGLE_ABOVE:
            self._products(columns, in_single=False)
            solution = self._measured(columns, programme)
        self._gap = solution.gap
        return solution

    def _measured(self, columns: Columns, programme: Programme) -> Solution:
        assert self._point is not None
        return certify(columns, programme, self._point.candidate, (self._point.margins, self._point.edges))
