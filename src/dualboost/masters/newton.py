"""Newton's equations of the interior-point method: one predictor-corrector step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve
from scipy.linalg.lapack import dpotrf, dpotrs

from .._typing import Matrix, Vector
from ..algebra.columns import Products
from ..formulations.programme import Programme
from .base import Candidate

PROXIMAL = 1e-10
"""Keeps D finite on rows that tie with the kink of a hinge; relative to the width of the box."""


class Iterate(NamedTuple):
    """A strictly interior point (u inside its box; w, s, p, q positive; z too, if w is bounded), or a step from one."""

    u: Vector
    w: Vector
    s: Vector
    z: Vector
    p: Vector
    q: Vector
    rho: Vector
    r: float
    margins: Vector
    edges: Vector

    @property
    def candidate(self) -> Candidate:
        return Candidate(self.w, self.u, self.rho)


class Newton:
    """Newton's equations for one programme over the columns held."""

    def __init__(self, columns: Products, programme: Programme, step_back: float) -> None:
        self.columns = columns
        self.programme = programme
        self.step_back = step_back
        self.bounded, self.capped = programme.is_bounded, programme.weight_set.is_bounded
        width = np.maximum(programme.upper - programme.lower, np.finfo(float).tiny)
        self.proximal = PROXIMAL / width if self.bounded else 0.0
        self.n_products = n_products(columns, programme)

    def advance(self, point: Iterate, least_centring: float = 0.0) -> Iterate:
        """The point after one predictor-corrector step; ``least_centring`` of 1 would keep the mean product."""
        self._linearise(point)
        mu = mean_product(point, self.programme)
        affine = self._direction(point, 0.0, None)
        reached = self._mean_product_after(point, affine, self._longest(point, affine))
        step = self._direction(point, mu * max((reached / mu) ** 3, least_centring), affine)
        self.length = length = min(1.0, self.step_back * self._longest(point, step))
        return Iterate(
            u=point.u + length * step.u,
            w=point.w + length * step.w,
            s=point.s + length * step.s,
            z=point.z + length * step.z,
            p=point.p + length * step.p,
            q=point.q + length * step.q,
            rho=point.rho + length * step.rho,
            r=point.r + length * step.r,
            margins=point.margins + length * step.margins,
            edges=point.edges + length * step.edges,
        )

    def _linearise(self, point: Iterate) -> None:
        """Factorise the reduced system: the columns, then the free multipliers rho."""
        programme, columns, n = self.programme, self.columns, self.columns.n_columns
        curvature = programme.term.curvature(point.u) + self.proximal
        if self.bounded:
            self.below, self.above = point.u - programme.lower, programme.upper - point.u
            self.p_over_below, self.q_over_above = point.p / self.below, point.q / self.above
            curvature = curvature + self.p_over_below
            curvature += self.q_over_above
        self.d = 1.0 / curvature
        size = n + len(programme.right_side)
        matrix = np.zeros((size, size), order="F")
        matrix[:n, :n] = columns.gram(self.d)
        diagonal = np.arange(n)
        self.room = room_above(point.w, programme)
        self.z_over_room = point.z / self.room
        matrix[diagonal, diagonal] += programme.weight_set.ridge + point.s / point.w + self.z_over_room
        if size > n:
            weighted = programme.equations * self.d
            for k, row in enumerate(weighted, start=n):
                matrix[:n, k] = -columns.edges(row)
            matrix[n:, n:] = self.coupling = weighted @ programme.equations.T
        self.scaling = 1.0 / np.sqrt(matrix.diagonal())
        matrix *= self.scaling[:, None] * self.scaling
        matrix[np.arange(size), np.arange(size)] += columns.rounding
        self.factor: Matrix
        self.factor, failed = dpotrf(matrix, lower=0, overwrite_a=1)
        if failed or not np.isfinite(self.factor[-1, -1]):
            raise np.linalg.LinAlgError("the normal equations are no longer definite")
        if programme.weight_set.total is not None:
            ones = np.zeros(size)
            ones[:n] = 1.0
            self.response = self._solve(ones)

    def _solve(self, rhs: Vector) -> Vector:
        solution, _ = dpotrs(self.factor, self.scaling * rhs, lower=0)
        return self.scaling * solution

    def _direction(self, point: Iterate, centring: float, affine: Iterate | None) -> Iterate:
        """Towards products equal to ``centring``, corrected by the predictor's second order."""
        programme, columns, weight_set = self.programme, self.columns, self.programme.weight_set
        n = columns.n_columns
        target_w = np.full(n, centring) if affine is None else centring - affine.w * affine.s
        reached_z = (centring if affine is None else centring + affine.w * affine.z) / self.room
        stationarity = programme.term.slope(point.u) + programme.shifted(point.margins, point.rho)
        if self.bounded:
            dp = (centring if affine is None else centring - affine.u * affine.p) / self.below
            dq = (centring if affine is None else centring + affine.u * affine.q) / self.above
            stationarity += dq
            stationarity -= dp
        excess = point.edges - (point.r + weight_set.cost + weight_set.ridge * point.w)
        scaled = self.d * stationarity
        rhs = np.empty(len(self.scaling))
        rhs[:n] = excess + target_w / point.w - reached_z - columns.edges(scaled)
        missing_u = programme.right_side - programme.equations @ point.u
        rhs[n:] = missing_u + programme.equations @ scaled
        change, dr = self._solve(rhs), 0.0
        if weight_set.total is not None:
            missing = weight_set.total - point.w.sum()
            dr = float((change[:n].sum() - missing) / self.response[:n].sum())
            change = change - dr * self.response
        dw = change[:n]
        dm = columns.margins(dw)
        du, drho = -self.d * dm, change[n:]
        du -= scaled
        if len(drho):  # by the sums of du itself: the solution of the system is less exact
            drho = solve(self.coupling, missing_u - programme.equations @ du, assume_a="pos")
            du += self.d * (drho @ programme.equations)
        ds = (target_w - point.s * dw) / point.w - point.s
        reached_z = reached_z + self.z_over_room * dw
        if self.bounded:
            dp -= self.p_over_below * du + point.p
            dq += self.q_over_above * du - point.q
        else:
            dp, dq = point.p, point.q
        de = dr + weight_set.ridge * dw + reached_z - ds - point.s - excess  # A'du, by the equation that du solves
        return Iterate(du, dw, ds, reached_z - point.z, dp, dq, drho, dr, dm, de)

    def _longest(self, point: Iterate, step: Iterate) -> float:
        """The longest step, at most 1, that keeps every positive quantity non-negative."""
        growth = [-1.0, float((step.w / point.w).min()), float((step.s / point.s).min())]
        if self.bounded:
            growth += [float((step.p / point.p).min()), float((step.q / point.q).min())]
            growth += [float((step.u / self.below).min()), -float((step.u / self.above).max())]
        if self.capped:
            growth += [float((step.z / point.z).min()), -float((step.w / self.room).max())]
        return -1.0 / min(growth)

    def _mean_product_after(self, point: Iterate, step: Iterate, length: float) -> float:
        total = (point.w + length * step.w) @ (point.s + length * step.s)
        if self.bounded:
            total += (point.p + length * step.p) @ (self.below + length * step.u)
            total += (point.q + length * step.q) @ (self.above - length * step.u)
        if self.capped:
            total += (point.z + length * step.z) @ (self.room - length * step.w)
        return max(float(total) / self.n_products, 0.0)


def n_products(columns: Products, programme: Programme) -> int:
    """How many complementarity products there are: one a column, or two if it is bounded, and two a row with bounds."""
    a_column = 2 if programme.weight_set.is_bounded else 1
    return a_column * columns.n_columns + (2 * columns.n_rows if programme.is_bounded else 0)


def mean_product(point: Iterate, programme: Programme) -> float:
    """The mean complementarity product at a point."""
    total, n = float(point.w @ point.s), len(point.w)
    if programme.is_bounded:
        total += float(point.p @ (point.u - programme.lower) + point.q @ (programme.upper - point.u))
        n += 2 * len(point.u)
    if programme.weight_set.is_bounded:
        total += float(point.z @ room_above(point.w, programme))
        n += len(point.w)
    return total / n


def room_above(w: Vector, programme: Programme) -> Vector:
    """How far each weight is from its bound, not less than rounding leaves."""
    bound = programme.weight_set.bound
    return np.maximum(bound - w, np.finfo(float).eps * bound)
