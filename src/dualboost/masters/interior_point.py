"""The dedicated master: one primal-dual interior-point method for every formulation.

It works on the conditions (s are the slacks of the edges, p and q the multipliers of the box)::

    g'(u) + A w - rho - p + q = 0            s = r + cost + ridge*w - A'u >= 0,   w*s = mu
    (u - lower)*p = mu                       (upper - u)*q = mu
    sum(w) = weight total, if there is one (r is its multiplier, else 0)
    sum(u) = total, if there is one (rho is its multiplier, else 0)

u is eliminated row by row, so that a Newton step costs one T x T matrix A'DA with a diagonal D.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._typing import Vector
from ..columns import Columns
from ..formulations.programme import Programme
from .base import Candidate, SolveFailure
from .certificate import certify

MAX_STEPS = 100
MAX_STALLED = 8
STEP_BACK = 0.995
PROXIMAL = 1e-10


@dataclass(eq=False)
class Iterate:
    """A strictly interior point: u inside its box, and w, s, p, q positive."""

    u: Vector
    w: Vector
    s: Vector
    p: Vector
    q: Vector
    rho: float
    r: float


class InteriorPointMaster:
    """Solves the programme from a central starting point at every call."""

    name: ClassVar[str] = "ipm"
    returns_vertex: ClassVar[bool] = False
    strategies: ClassVar[tuple[str, ...]] = ("direct", "cautious")

    @staticmethod
    def supports(programme: Programme) -> bool:
        return True

    def solve(self, columns: Columns, programme: Programme, tolerance: float, strategy: str) -> Candidate:
        system = NewtonSystem(columns, programme)
        point = starting_point(columns, programme)
        best, best_gap, stalled = None, np.inf, 0
        step_back = STEP_BACK if strategy == "direct" else 0.9
        for _ in range(MAX_STEPS):
            candidate = Candidate(point.w, point.u, point.rho)
            gap = certify(columns, programme, candidate).gap
            if gap < best_gap:
                best, best_gap, stalled = candidate, gap, 0
            else:
                stalled += 1
            if gap <= tolerance or (stalled > MAX_STALLED and best_gap < 1e-2):
                break
            try:
                with np.errstate(all="ignore"):
                    system.advance(point, step_back)
            except (LinAlgError, ValueError):  # no longer definite, or no longer finite: rounding has the last word
                break
        if best is None:
            raise SolveFailure("the interior-point method found no finite point")
        return best


def starting_point(columns: Columns, programme: Programme) -> Iterate:
    """The middle of the box, equal weights, and slacks and multipliers of the size of the problem."""
    weight_set, counts = programme.weight_set, columns.counts
    boxed = np.isfinite(programme.upper)
    middle = 0.5 * (np.where(boxed, programme.lower, 0.0) + np.where(boxed, programme.upper, 2.0 * counts))
    u = middle
    if programme.total is not None:
        share = counts * (programme.total / counts.sum())
        u = np.minimum(share, 0.9 * programme.upper) if (share < programme.upper).all() else 0.9 * programme.upper
    n = columns.n_columns
    w = np.full(n, (weight_set.total or 1.0) / n)
    margins, edges = columns.margins(w), columns.edges(u)
    scale = max(1.0, float(np.abs(margins).max()))
    r = float(edges.max()) if weight_set.total is not None else 0.0
    slack = r + weight_set.cost + weight_set.ridge * w - edges
    s = np.maximum(slack, 0.1 * max(float(np.abs(u).sum()), 1e-3) + weight_set.cost)
    p = np.where(np.isfinite(programme.lower), scale, 0.0)
    q = np.where(boxed, scale, 0.0)
    return Iterate(u, w, s, p, q, rho=0.0, r=r)


class NewtonSystem:
    """Newton's equations at an iterate, and the step they ask for."""

    def __init__(self, columns: Columns, programme: Programme) -> None:
        self.columns = columns
        self.programme = programme
        width = programme.upper - programme.lower
        self.bounded_below = np.isfinite(programme.lower)
        self.bounded_above = np.isfinite(programme.upper)
        self.proximal = np.where(np.isfinite(width), PROXIMAL / np.where(np.isfinite(width), width, 1.0), 0.0)
        self.n_products = columns.n_columns + int(self.bounded_below.sum() + self.bounded_above.sum())

    def advance(self, point: Iterate, step_back: float) -> None:
        """One predictor-corrector step, in place."""
        self._linearise(point)
        mu = self._complementarity(point)
        affine = self._direction(point, 0.0, None)
        length = self._longest(point, affine)
        reached = self._complementarity_after(point, affine, length)
        centring = (reached / mu) ** 3 * mu if mu > 0 else 0.0
        step = self._direction(point, centring, affine)
        length = min(1.0, step_back * self._longest(point, step))
        for name, change in vars(step).items():
            setattr(point, name, getattr(point, name) + length * change)

    def _linearise(self, point: Iterate) -> None:
        """Factorise the reduced system: columns, then the free multiplier rho, then r by its Schur complement."""
        programme, columns = self.programme, self.columns
        self.below = np.where(self.bounded_below, point.u - programme.lower, 1.0)
        self.above = np.where(self.bounded_above, programme.upper - point.u, 1.0)
        curvature = programme.term.curvature(point.u) + point.p / self.below + point.q / self.above + self.proximal
        self.d = 1.0 / curvature
        self.margins, self.edges = columns.margins(point.w), columns.edges(point.u)
        n = columns.n_columns
        size = n + (programme.total is not None)
        matrix = np.empty((size, size))
        matrix[:n, :n] = columns.gram(self.d)
        matrix[np.arange(n), np.arange(n)] += programme.weight_set.ridge + point.s / point.w
        if programme.total is not None:
            matrix[:n, n] = matrix[n, :n] = -columns.edges(self.d)
            matrix[n, n] = self.d.sum()
        self.scaling = 1.0 / np.sqrt(matrix.diagonal())
        matrix *= self.scaling[:, None] * self.scaling
        matrix[np.arange(size), np.arange(size)] += 1e-14
        self.factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=True)
        self.ones = np.zeros(size)
        self.ones[:n] = 1.0

    def _solve(self, rhs: Vector) -> Vector:
        return self.scaling * cho_solve(self.factor, self.scaling * rhs, check_finite=False)

    def _direction(self, point: Iterate, centring: float, affine: Iterate | None) -> Iterate:
        """The Newton direction towards products equal to ``centring``, corrected by the predictor's second order."""
        programme, columns, weight_set = self.programme, self.columns, self.programme.weight_set
        n = columns.n_columns
        target_w = np.full(n, centring)
        target_p, target_q = centring * self.bounded_below, centring * self.bounded_above
        if affine is not None:
            target_w = target_w - affine.w * affine.s
            target_p = target_p - affine.u * affine.p
            target_q = target_q + affine.u * affine.q
        stationarity = programme.term.slope(point.u) + self.margins - point.rho
        stationarity = stationarity - target_p / self.below + target_q / self.above
        slack_residual = point.s - (point.r + weight_set.cost + weight_set.ridge * point.w - self.edges)
        rhs = np.zeros(len(self.ones))
        scaled = self.d * stationarity
        rhs[:n] = slack_residual + target_w / point.w - point.s - columns.edges(scaled)
        if programme.total is not None:
            rhs[n] = programme.total - point.u.sum() + scaled.sum()
        change, dr = self._solve(rhs), 0.0
        if weight_set.total is not None:
            response = self._solve(self.ones)
            missing = weight_set.total - point.w.sum()
            dr = (change[:n].sum() - missing) / response[:n].sum()
            change = change - dr * response
        dw = change[:n]
        drho = float(change[n]) if programme.total is not None else 0.0
        du = self.d * (drho - columns.margins(dw)) - scaled
        ds = (target_w - point.s * dw) / point.w - point.s
        dp = np.where(self.bounded_below, (target_p - point.p * du) / self.below - point.p, 0.0)
        dq = np.where(self.bounded_above, (target_q + point.q * du) / self.above - point.q, 0.0)
        return Iterate(du, dw, ds, dp, dq, drho, dr)

    def _longest(self, point: Iterate, step: Iterate) -> float:
        """The longest step that keeps every positive quantity non-negative."""
        pairs = (
            (point.w, step.w),
            (point.s, step.s),
            (point.p, step.p),
            (point.q, step.q),
            (self.below, np.where(self.bounded_below, step.u, 0.0)),
            (self.above, np.where(self.bounded_above, -step.u, 0.0)),
        )
        shrinking = max(float((-change / np.maximum(value, 1e-300)).max()) for value, change in pairs)
        return 1.0 / max(shrinking, 1.0)

    def _complementarity(self, point: Iterate) -> float:
        products = point.w @ point.s + point.p @ self.below + point.q @ self.above
        return float(products) / self.n_products

    def _complementarity_after(self, point: Iterate, step: Iterate, length: float) -> float:
        products = (
            (point.w + length * step.w) @ (point.s + length * step.s)
            + (point.p + length * step.p) @ (self.below + length * step.u)
            + (point.q + length * step.q) @ (self.above - length * step.u)
        )
        return max(float(products) / self.n_products, 0.0)
