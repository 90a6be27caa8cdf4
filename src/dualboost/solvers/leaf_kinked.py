"""Values of leaves under losses with kinks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_solve

from .._typing import Matrix, Vector
from ..deadlines import is_affordable, time_is_up
from ..formulations.terms import LinearTerm
from ..matrix.leaves import LeafColumns
from ..matrix.rows import Rows
from .base import Candidate, Solution, SolverFailed, certify
from .leaf_newton import conjugate_gradients, factored
from .leaf_points import LeafPoint

# Every row of A has a loss max over lower <= u <= upper of u (kink - m), with m = B x its margin and x the values of
# the leaves and the intercepts. With slack multipliers p and q of both bounds, the optimum is where::
#
#     R x = B'u,    kink - B x + p - q = 0,    (u - lower) p = 0,    (upper - u) q = 0,    p, q >= 0
#
# R being the ridge of each unknown, zero for an intercept. Newton's equations for these, with the products moved to a
# barrier parameter instead of zero, leave (R + B'DB) dx = ..., where D is positive and diagonal: as many equations as
# there are leaves, whatever the number of rows. An upper bound may be infinite, which makes m >= kink a constraint.
#
# Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optimization 2 (1992).

MOST_STEPS = 80
"""The method needs 10 to 25 steps."""
TO_THE_BOUNDARY = 0.995
"""The share of the longest step inside the bounds that is taken."""
LEAST_OFFSET = 1e-3
"""The least multiplier to start from, as a share of the mean kink: rows in their kinks give no scale."""
REFINEMENTS = 6
"""The most iterations of conjugate gradients, which make up for rounding in the factor."""
BEYOND = 1e-3
"""The share of the tolerance at which steps end."""
EXACT = 1e-12
"""The relative residual at which Newton's equations count as solved."""


class LeafProducts(Protocol):
    """B by its products, and the ridge of each unknown."""

    @property
    def ridges(self) -> Vector: ...

    def margins(self, x: Vector) -> Vector:
        """B x."""

    def sums(self, u: Vector) -> Vector:
        """B'u."""

    def gram(self, d: Vector) -> Matrix:
        """B' diag(d) B."""


class Boxes(NamedTuple):
    """The box and the kink of every row of A, and the ``Rows`` that add up over these rows."""

    rows: Rows
    lower: Vector
    upper: Vector
    kink: Vector


class Iterate(NamedTuple):
    """The unknowns, the duals inside their box, and for each side of the box the distance and its multiplier.

    Distances have their own vectors, as the difference of a dual and its bound loses digits where both are close.
    """

    x: Vector
    u: Vector
    s: Vector
    """From the lower bound."""
    t: Vector
    """From the upper bound."""
    p: Vector
    q: Vector

    def moved(self, step: Iterate, length: float) -> Iterate:
        return Iterate(*(old + length * change for old, change in zip(self, step, strict=True)))


class InteriorPoint:
    """Steps from a point inside the box towards the optimum."""

    def __init__(self, boxes: Boxes, products: LeafProducts, x: Vector) -> None:
        self._boxes, self._products = boxes, products
        self._is_capped = np.isfinite(boxes.upper)
        self._n_capped = boxes.rows.total(np.where(self._is_capped, 1.0, 0.0))
        self.at = self._started(x)

    @property
    def is_late(self) -> bool:
        """Whether there is no time for another step."""
        workers = self._boxes.rows.workers
        return time_is_up(workers) or not is_affordable(len(self.at.x) ** 3 / 3, workers)

    def _started(self, x: Vector) -> Iterate:
        """Duals in the middle of their box, and as far inside on average where there is no upper bound."""
        boxes = self._boxes
        widths = self._of_caps(boxes.upper - boxes.lower)
        half = 0.5 * np.where(self._is_capped, widths, boxes.rows.total(widths) / self._n_capped)
        ahead = self._products.margins(x) - boxes.kink
        unit, offset = boxes.rows.totals([np.abs(boxes.kink), np.abs(ahead)]) / boxes.rows.n_all
        offset = max(offset, LEAST_OFFSET * (unit or 1.0))
        p, q = np.maximum(ahead, 0.0) + offset, self._of_caps(np.maximum(-ahead, 0.0) + offset)
        return Iterate(x, boxes.lower + half, half, np.where(self._is_capped, half, 1.0), p, q)

    def step(self) -> None:
        """Predict where the products would vanish, and go there as far as the middle of the bounds allows."""
        at, mean = self.at, self._mean(self.at)
        solve = self._equations()
        predicted = solve(-at.s * at.p, self._of_caps(-at.t * at.q))
        ahead = self._mean(at.moved(predicted, self._longest(predicted)))
        centre = mean * min((max(ahead, 0.0) / mean) ** 3, 1.0) if mean > 0 else 0.0
        step = solve(
            centre - at.s * at.p - predicted.s * predicted.p,
            self._of_caps(centre - at.t * at.q - predicted.t * predicted.q),
        )
        self.at = at.moved(step, TO_THE_BOUNDARY * self._longest(step))

    def _of_caps(self, values: Vector) -> Vector:
        """Zero for rows without an upper bound."""
        return np.where(self._is_capped, values, 0.0)

    def _mean(self, at: Iterate) -> float:
        rows = self._boxes.rows
        return (rows.dot(at.s, at.p) + rows.dot(at.t, at.q)) / (rows.n_all + self._n_capped)

    def _equations(self) -> Callable[[Vector, Vector], Iterate]:
        at, products, R = self.at, self._products, self._products.ridges
        D = 1.0 / (at.p / at.s + at.q / at.t)
        matrix = products.gram(D)
        matrix[np.diag_indices_from(matrix)] += R
        factor = factored(matrix)
        missed = self._boxes.kink - products.margins(at.x) + at.p - at.q
        slopes = products.sums(at.u) - R * at.x

        def product(search: Vector) -> tuple[Vector, Vector]:
            margins = products.margins(search)
            return margins, products.sums(D * margins) + R * search

        def preconditioned(residual: Vector) -> Vector:
            return np.asarray(cho_solve(factor, residual))

        def solve(of_lower: Vector, of_upper: Vector) -> Iterate:
            pulled = D * (missed + of_lower / at.s - of_upper / at.t)
            target = slopes + products.sums(pulled)
            # Few iterations, which do not look at the time.
            x, moved, _ = conjugate_gradients(product, preconditioned, target, np.zeros_like(D), EXACT, REFINEMENTS)
            u = pulled - D * moved
            q = self._of_caps((of_upper + at.q * u) / at.t)
            return Iterate(x, u, u, self._of_caps(-u), (of_lower - at.p * u) / at.s, q)

        return solve

    def _longest(self, step: Iterate) -> float:
        pairs = zip(self.at[2:], step[2:], strict=True)
        return min(1.0, *(_reach(self._boxes.rows, value, change) for value, change in pairs))


Certify = Callable[[InteriorPoint], Solution]
"""Makes a certificate of where the method is."""


def optimum_of(method: InteriorPoint, certified: Certify, tolerance: float) -> Solution:
    """The certificate of a point whose relative duality gap is at most the tolerance, or ``SolverFailed``.

    Below the tolerance steps go on while each still gains a digit, so that a solution hardly depends on the path to it.
    If time is up, it is the certificate of the best x and the best duals on the way, which a step may be far from.
    """
    best = certified(method)
    x, u, primal, dual = method.at.x, method.at.u, best.primal, best.dual
    for _ in range(MOST_STEPS):
        if best.gap <= BEYOND * tolerance or method.is_late:
            break
        try:
            method.step()
        except ValueError:  # rounding has made the equations infinite
            break
        found = certified(method)
        x, primal = (method.at.x, found.primal) if found.primal < primal else (x, primal)
        u, dual = (method.at.u, found.dual) if found.dual > dual else (u, dual)
        if best.gap <= tolerance and found.gap > 0.1 * best.gap:
            break
        best = found if found.gap < best.gap else best
    if best.gap <= tolerance:
        return best
    if method.is_late:
        method.at = method.at._replace(x=x, u=u)
        return certified(method)
    raise SolverFailed(best, [f"the interior-point method over the leaves ended at a gap of {best.gap:.1e}"])


def _reach(rows: Rows, value: Vector, change: Vector) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):  # entries without a change are not used
        return rows.least(np.where(change < 0, value / np.abs(change), np.inf))


@dataclass(frozen=True, eq=False)
class ScalarProducts:
    """Products with the leaves of trees; the last unknown is the intercept."""

    columns: LeafColumns
    ridge: float

    @property
    def ridges(self) -> Vector:
        return np.append(np.full(self.columns.n_columns, self.ridge), 0.0)

    def margins(self, x: Vector) -> Vector:
        return self.columns.operator.apply(self.columns.scores(x[:-1]) + x[-1])

    def sums(self, u: Vector) -> Vector:
        return self.columns.sums_and_total(self.columns.operator.adjoint(u))

    def gram(self, d: Vector) -> Matrix:
        return self.columns.gram(self.columns.operator.curvature(d), np.float64)


def kinked_optimum(point: LeafPoint, tolerance: float) -> tuple[LeafPoint, Solution]:
    """A point whose relative duality gap is at most the tolerance, and its certificate."""
    products = ScalarProducts(point.columns, point.ridge)
    method = InteriorPoint(boxes_of(point), products, np.append(point.values, point.intercept))

    def certified(method: InteriorPoint) -> Solution:
        x = method.at.x
        return certify(point.columns, point.programme, Candidate(x[:-1], method.at.u, x[-1:]))

    solution = optimum_of(method, certified, tolerance)
    return point.adopting(solution), solution


def boxes_of(point: LeafPoint) -> Boxes:
    """The boxes of the duals, and the kinks of the losses."""
    programme = point.programme
    assert isinstance(programme.term, LinearTerm), "other losses have no kinks"
    kink = np.zeros_like(programme.lower) + programme.term.kink
    return Boxes(programme.rows, programme.lower, programme.upper, kink)
