"""Several classes with one weight a learner."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from .._typing import Matrix, Vector
from ..deadlines import time_is_up
from ..formulations.classes import ClassProgramme
from ..formulations.programme import Programme
from ..matrix.columns import Columns
from ..matrix.pairs import PairColumns, Pairs
from ..workers.base import cached_property
from .base import Candidate, Reoptimiser, Solution, SolverFailed, certify, drop_negligible, with_best_multipliers
from .crossover import to_class_vertex
from .interior_point import MAX_STALLED, MAX_STEPS, starting_duals, usual_slack
from .newton import PROXIMAL, Iterate, Newton, RowSums

# The duals u_ik of a row are bounded by zero each (multipliers p_ik), and their sum s_i by ``upper`` (q_i) and, if it
# is above zero, by ``lower`` (in p, after the p_ik). With d_ik = u_ik/p_ik, c_i = g_i''(s_i) + q_i/above_i +
# p_i/below_i and sigma_i = sum_k d_ik, a row's part of D is the inverse of diag(1/d) + c 11'. With means weighted by
# d over each row::
#
#     D v = d (v - mean) + d mean/(1 + c sigma),
#     A'DA = sum_ik d_ik (A_ik - mean_i)(A_ik - mean_i)' + sum_i sigma_i/(1 + c_i sigma_i) mean_i mean_i'
#
# in which nothing is subtracted that nearly cancels, as it would in the formula of Sherman and Morrison.

NEGLIGIBLE = 1e-12
"""Lower bounds below this share of the upper ones are left to the certificate: they would only block steps."""


class Change(NamedTuple):
    """A change of u, and of its sums by row."""

    entries: Vector
    sums: Vector


def has_lower_bounds(programme: Programme) -> bool:
    """Whether the lower bounds of the sums are above zero, and not only by a negligible share of the upper ones."""
    return programme.rows.any(programme.lower > NEGLIGIBLE * programme.upper)


class ClassRowSystem:
    """The equations of the pairs, linearised at one point; ``programme`` is the plain one, with one dual a row."""

    def __init__(self, pairs: Pairs, columns: PairColumns, programme: Programme, point: Iterate) -> None:
        self.pairs, self.columns, self.programme, self.point = pairs, columns, programme, point
        self.rows = programme.rows
        self.sums_of_u = pairs.sums(point.u)
        self.above = programme.upper - self.sums_of_u
        self.q_over_above = point.q / self.above
        self.curvature = programme.term.curvature(self.sums_of_u) + PROXIMAL / programme.width + self.q_over_above
        if self.has_lower:
            self.below = self.sums_of_u - programme.lower
            self.lower_over_below = self.of_sums(point.p) / self.below
            self.curvature = self.curvature + self.lower_over_below
        self.d = point.u / self.of_pairs(point.p)
        self.sigma = pairs.sums(self.d)
        self.shares = self.d / pairs.spread(self.sigma)
        self.damping = 1.0 / (1.0 + self.curvature * self.sigma)
        slopes = programme.term.slope(self.sums_of_u) - self.rho
        self.stationarity = point.margins + pairs.spread(slopes)
        self.n_equations = len(programme.equations)
        self.predictor = self.towards(0.0, None)

    @cached_property
    def has_lower(self) -> bool:
        """Whether sums have a bound below, beyond that of their terms."""
        return has_lower_bounds(self.programme)

    @property
    def rho(self) -> float:
        """The multiplier of the total of the duals, the only equation that there may be."""
        return float(self.point.rho.sum())

    def of_pairs(self, p: Vector) -> Vector:
        return p[: len(self.pairs.row_of)]

    def of_sums(self, p: Vector) -> Vector:
        return p[len(self.pairs.row_of) :]

    @cached_property
    def n_products(self) -> int:
        return int(self.rows.workers.sum(float(len(self.point.p) + len(self.point.q))))

    def sums(self) -> RowSums:
        equations = self.programme.equations
        own = [
            self._gram(),
            self._product(),
            self._of_equations(),
            equations.sums_here(self.sums_of_u),
            self.predictor.reduced_here(),
        ]
        gram, product, of_equations, sums_of_u, reduced = self.rows.sums_of(own)
        return RowSums(gram, product, of_equations, equations.right_side - sums_of_u, reduced)

    def _product(self) -> float:
        own = self.of_pairs(self.point.p) @ self.point.u + self.point.q @ self.above
        return float(own + (self.of_sums(self.point.p) @ self.below if self.has_lower else 0.0))

    def applied(self, values: Vector) -> Change:
        """D times a vector.

        The sums are known from the means, and the entries are corrected to have them: the sums of u may be nearer to
        their bounds than rounding takes large entries that cancel.
        """
        means = self.pairs.sums(self.shares * values)
        sums = self.sigma * self.damping * means
        entries = self.d * (values - self.pairs.spread(means))
        entries += self.shares * self.pairs.spread(sums - self.pairs.sums(entries))
        return Change(entries, sums)

    def _gram(self) -> Matrix:
        means = self.pairs.sums(self.columns.entries * self.shares)
        centred = self.columns.entries - self.pairs.spread(means)
        centred *= np.sqrt(self.d)
        means *= np.sqrt(self.sigma * self.damping)
        return np.asarray(np.dot(centred, centred.T) + np.dot(means, means.T))

    def _of_equations(self) -> Matrix:
        if not self.n_equations:
            return np.empty((self.columns.n_columns, 0))
        return self.with_total(self.applied(np.ones(len(self.d))))[:, None]

    def with_total(self, change: Change) -> Vector:
        """The edges of a change of u over the pairs held here, and its total if the programme has an equation."""
        own = self.columns.entries @ change.entries
        return np.append(own, np.full(self.n_equations, change.sums.sum()))

    def towards(self, centring: float, affine: Iterate | None) -> ClassDirection:
        return ClassDirection(self, centring, affine)

    def moved(self, step: Iterate, length: float) -> dict[str, Vector]:
        names = ("u", "p", "q", "margins")
        return {name: getattr(self.point, name) + length * getattr(step, name) for name in names}


class ClassDirection:
    """The pairs' part of a step towards products equal to ``centring``."""

    def __init__(self, system: ClassRowSystem, centring: float, affine: Iterate | None) -> None:
        self.system = system
        self.centring_u, self.centring_above, self.centring_below = self._centrings(centring, affine)
        self.u = self.margins = self.p = self.q = np.zeros(0)

    def _centrings(self, centring: float, affine: Iterate | None) -> tuple[Any, Any, Any]:
        if affine is None:
            return centring, centring, centring
        system, change = self.system, self.system.pairs.sums(affine.u)
        below = centring - change * system.of_sums(affine.p) if system.has_lower else centring
        return centring - affine.u * system.of_pairs(affine.p), centring + change * affine.q, below

    def reduced_here(self) -> Vector:
        system, point = self.system, self.system.point
        of_sums = self.centring_above / system.above
        if system.has_lower:
            of_sums = of_sums - self.centring_below / system.below
        missing = system.stationarity + system.pairs.spread(of_sums) - self.centring_u / point.u
        self.missing = missing
        return system.with_total(system.applied(missing))

    def reduced(self) -> Vector:
        found: Vector = self.system.rows.sums_of([self.reduced_here()])[0]
        return found

    def follow(self, dw: Vector) -> Vector:
        self.margins = self.system.columns.margins(dw)
        if not self.system.n_equations:
            return np.zeros(0)
        return np.array([-self.system.rows.total(self.system.applied(self.missing + self.margins).sums)])

    def finish(self, drho: Vector) -> float:
        system, point = self.system, self.system.point
        found = system.applied(self.missing + self.margins - drho.sum())
        self.u, change, p = -found.entries, -found.sums, system.of_pairs(point.p)
        dp = (self.centring_u - p * self.u) / point.u - p
        self.q = self.centring_above / system.above + system.q_over_above * change - point.q
        growth = [(self.u / point.u).min(), -(change / system.above).max(), (self.q / point.q).min()]
        if system.has_lower:
            of_sums = self.centring_below / system.below - system.lower_over_below * change - system.of_sums(point.p)
            dp = np.append(dp, of_sums)
            growth.append((change / system.below).min())
        self.p = dp
        return -system.rows.workers.max(-float(min(*growth, (dp / point.p).min())))

    def product_after(self, length: float) -> float:
        system, point = self.system, self.system.point
        change, p = length * system.pairs.sums(self.u), point.p + length * self.p
        total = system.of_pairs(p) @ (point.u + length * self.u)
        total += (point.q + length * self.q) @ (system.above - change)
        own = float(total + (system.of_sums(p) @ (system.below + change) if system.has_lower else 0.0))
        return system.rows.workers.sum(own)


# A row is near few of the other classes. The programme is solved over some pairs of rows and classes, at first the
# class of the least margin of each row; where another class has a smaller margin at the solution, its pair is added,
# until the certificate over all pairs holds (``formulations/classes.py``).

ROUGHLY = 1e-2
"""The relative gap at which the weights are left after a new column: duals away from their bounds price better."""
TIGHTER = 0.1
"""Without a new column, the next solution has at most this share of the gap of the one before."""
STEP_BACKS = (0.995, 0.9)
"""How far towards the nearest bound a step may go: the second is tried where the first does not lead to the optimum."""
VIOLATED = 1e-9
"""A margin counts as smaller than another one if it is so by more than this share of the largest margin."""


class MulticlassSolver(Reoptimiser):
    """Solves class programmes; with ``solves_fully`` each is solved to the end."""

    def __init__(self, tolerance: float, vertices: bool, aim: float, solves_fully: bool) -> None:
        self.tolerance, self.is_exact = tolerance, solves_fully
        self._vertices, self._aim = vertices, aim
        self._active: NDArray[np.bool_] | None = None
        self._last: Solution | None = None

    def solve(self, columns: Columns, programme: ClassProgramme) -> Solution:
        if self.is_exact:
            return self.polish(columns, programme)
        last = self._last
        is_new = last is None or len(last.w) != columns.n_columns
        if is_new or last is None:
            return self._solved(columns, programme, ROUGHLY)
        solution = self._solved(columns, programme, max(TIGHTER * last.gap, self._aim * self.tolerance))
        return solution if solution.gap <= max(0.5 * last.gap, self.tolerance) else self.polish(columns, programme)

    def polish(self, columns: Columns, programme: ClassProgramme) -> Solution:
        """The optimum, to the tolerance; a vertex if the programme is linear."""
        solution = self._solved(columns, programme, self._aim * self.tolerance)
        if self._vertices and programme.is_linear_programme and not time_is_up(programme.rows.workers):
            vertex = to_class_vertex(columns, programme, solution, self.tolerance)
            solution = vertex if vertex.gap <= max(solution.gap, self.tolerance) else solution
        solution = drop_negligible(columns, programme, solution, self.tolerance)
        solution = with_best_multipliers(columns, programme, solution)
        if solution.gap > self.tolerance and not time_is_up(programme.rows.workers):
            raise SolverFailed(solution, [f"interior point over classes: gap {solution.gap:.1e}"])
        return solution

    def move_to(self, columns: Columns, programme: ClassProgramme) -> None:
        """Keep only the active pairs, which are as good a choice for another C."""
        self._last = None

    def forget(self) -> None:
        self._active, self._last = None, None

    def _solved(self, columns: Columns, programme: ClassProgramme, aim: float) -> Solution:
        """A solution over all pairs with a gap of at most ``aim``, or the best that was found."""
        entries = columns.dense()
        if self._active is None:
            even = entries.mean(axis=0)
            self._active = even <= programme.pairs.spread(programme.pairs.least(even))
        best: Solution | None = None
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
    """The inactive pairs with the least margin of their row, below the margins of all its active pairs."""
    pairs = programme.pairs
    held = pairs.least(np.where(active, margins, np.inf))
    least = pairs.least(margins)
    is_missed = least < held - VIOLATED * programme.rows.largest(np.abs(margins))
    return np.asarray((margins <= pairs.spread(least)) & pairs.spread(is_missed))
