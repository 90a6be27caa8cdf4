"""One Newton step of the interior-point method, over the weights and over the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import solve
from scipy.linalg.lapack import dpotrf, dpotrs

from .._typing import Matrix, Vector
from ..formulations.programme import Programme
from ..formulations.weight_sets import combined
from ..matrix.columns import Products
from ..matrix.rows import LIGHT
from .base import Candidate

# u, its multipliers p and q, and the margins have one entry for each row. Everything here works on each row by
# itself, except for the products with the columns and the equations, which are sums over the rows. With ``below`` and
# ``above`` the distances of u from its bounds and c the curvature of the terms, a step solves for every row::
#
#     D = 1/(c + p/below + q/above)
#     du = -D (g'(u) + m - E'rho - (centring - corrections)/below + (centring + corrections)/above) - D (A dw -
#   E'drho)

PROXIMAL = 1e-10
"""A curvature added to every term, relative to the width of the box, so that D is finite for linear terms too."""


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


class RowDirection(Protocol):
    """The rows' part of a step: call ``reduced`` first, then ``follow``, then ``finish``."""

    u: Vector
    p: Vector
    q: Vector
    margins: Vector

    def reduced(self) -> Vector:
        """A'D r and then E D r, where r is the residual of the rows' own equations."""

    def follow(self, dw: Vector) -> Vector:
        """Compute du for a change of the weights, leaving out the change of rho; returns the change of E u."""

    def finish(self, drho: Vector) -> float:
        """Complete the step with the change of rho; returns the largest relative decrease of a positive quantity."""

    def product_after(self, length: float) -> float:
        """The sum of the rows' complementarity products after a step of that length."""


class RowSums(NamedTuple):
    """The sums over all rows that a step begins with."""

    gram: Matrix
    """A'DA; only its upper triangle is needed."""
    product: float
    """The sum of the rows' complementarity products."""
    of_equations: Matrix
    """A'DE' above EDE': the columns of the reduced system that belong to rho."""
    missing_u: Vector
    """t - E u."""
    reduced: Vector
    """Of the predictor, the step towards products of zero."""


class LinearisedRows(Protocol):
    """The equations of the rows, linearised at one point: all that a Newton step needs of the rows."""

    predictor: Any
    """The step towards products of zero, whose ``reduced`` is among the sums."""

    @property
    def n_products(self) -> int:
        """The number of the rows' complementarity products."""

    def sums(self) -> RowSums: ...

    def towards(self, centring: float, affine: Iterate | None) -> RowDirection:
        """A step towards products equal to ``centring``, corrected by the predictor's second order."""

    def moved(self, step: Iterate, length: float) -> dict[str, Vector]:
        """The vectors of the point that have an entry for each row, after a step."""


class RowSystem:
    """The equations of rows that have one dual each."""

    def __init__(self, columns: Products, programme: Programme, point: Iterate) -> None:
        self.columns, self.programme, self.rows, self.point = columns, programme, programme.rows, point
        self.bounded = programme.is_bounded
        self.d, self.stationarity = self.rows.empty(), self.rows.empty()
        if self.bounded:
            self.below, self.above = self.rows.empty(), self.rows.empty()
            self.p_over_below, self.q_over_above = self.rows.empty(), self.rows.empty()
        self.rows.each(self._linearise)
        self.predictor = self.towards(0.0, None)

    def _linearise(self, block: slice) -> None:
        part, u = self.programme.block(block), self.point.u[block]
        margins = part.shifted(self.point.margins[block], self.point.rho)
        np.add(part.term.slope(u), margins, out=self.stationarity[block])
        curvature = part.term.curvature(u)
        if self.bounded:
            below = np.subtract(u, part.lower, out=self.below[block])
            above = np.subtract(part.upper, u, out=self.above[block])
            curvature = curvature + PROXIMAL / self.programme.width[block]
            curvature += np.divide(self.point.p[block], below, out=self.p_over_below[block])
            curvature += np.divide(self.point.q[block], above, out=self.q_over_above[block])
        np.divide(1.0, curvature, out=self.d[block])

    @property
    def n_products(self) -> int:
        return 2 * self.rows.n_all if self.bounded else 0

    def sums(self) -> RowSums:
        equations, n = self.programme.equations, self.columns.n_columns
        own = [
            self.columns.gram_here(self.d),
            self.rows.here(self._product_in) if self.bounded else 0.0,
            self.rows.here(self._equations_in, size=n * len(equations)) if len(equations) else np.zeros((n, 0)),
            equations.sums_here(self.point.u),
            self.predictor.reduced_here(),
        ]
        gram, product, of_equations, sums_of_u, reduced = self.rows.sums_of(own)
        return RowSums(gram, product, of_equations, equations.right_side - sums_of_u, reduced)

    def _product_in(self, block: slice) -> float:
        return float(self.point.p[block] @ self.below[block] + self.point.q[block] @ self.above[block])

    def _equations_in(self, block: slice) -> Matrix:
        equations = self.programme.equations.matrix[:, block]
        weighted = equations * self.d[block]
        edges = [self.columns.edges_in(block, row) for row in weighted]
        return np.concatenate([np.column_stack(edges), weighted @ equations.T])

    def towards(self, centring: float, affine: Iterate | None) -> Direction:
        return Direction(self, centring, affine)

    def moved(self, step: Iterate, length: float) -> dict[str, Vector]:
        names = ("u", "p", "q", "margins") if self.bounded else ("u", "margins")
        found = {name: self.rows.empty() for name in names}

        def work(block: slice) -> None:
            for name, after in found.items():
                np.multiply(length, getattr(step, name)[block], out=after[block])
                after[block] += getattr(self.point, name)[block]

        self.rows.each(work)
        return found


class Direction:
    """The rows' part of a step towards products equal to ``centring``, corrected by the predictor's second order."""

    def __init__(self, system: RowSystem, centring: float, affine: Iterate | None) -> None:
        self.system, self.rows = system, system.rows
        self.centring, self.affine = centring, affine
        self.scaled = self.rows.empty()
        self.u, self.margins = self.rows.empty(), self.rows.empty()
        self.p, self.q = system.point.p, system.point.q
        if system.bounded:
            self.p, self.q = self.rows.empty(), self.rows.empty()

    def reduced(self) -> Vector:
        found: Vector = self.rows.sums_of([self.reduced_here()])[0]
        return found

    def reduced_here(self) -> Vector:
        found: Vector = self.rows.here(self._reduced_in, size=LIGHT + self.system.columns.n_columns)
        return found

    def _reduced_in(self, block: slice) -> Vector:
        system, affine = self.system, self.affine
        missing = system.stationarity[block]
        if system.bounded:
            centring_p: Vector | float = self.centring
            centring_q: Vector | float = self.centring
            if affine is not None:
                centring_p = self.centring - affine.u[block] * affine.p[block]
                centring_q = self.centring + affine.u[block] * affine.q[block]
            missing = missing + np.divide(centring_q, system.above[block], out=self.q[block])
            missing -= np.divide(centring_p, system.below[block], out=self.p[block])
        scaled = np.multiply(system.d[block], missing, out=self.scaled[block])
        edges = system.columns.edges_in(block, scaled)
        return np.concatenate([edges, system.programme.equations.matrix[:, block] @ scaled])

    def follow(self, dw: Vector) -> Vector:
        def work(block: slice) -> Vector:
            margins = self.margins[block] = self.system.columns.margins_in(block, dw)
            du = np.multiply(self.system.d[block], margins, out=self.u[block])
            np.negative(du, out=du)
            du -= self.scaled[block]
            return self.system.programme.equations.matrix[:, block] @ du

        found: Vector = self.rows.add_up(work, size=LIGHT + len(dw))
        return found

    def finish(self, drho: Vector) -> float:
        def work(block: slice) -> float:
            system, point, du = self.system, self.system.point, self.u[block]
            if len(drho):
                du += system.d[block] * combined(drho, system.programme.equations.matrix[:, block])
            if not system.bounded:
                return -1.0
            dp, dq = self.p[block], self.q[block]
            dp -= system.p_over_below[block] * du + point.p[block]
            dq += system.q_over_above[block] * du - point.q[block]
            return min(
                float((dp / point.p[block]).min()),
                float((dq / point.q[block]).min()),
                float((du / system.below[block]).min()),
                -float((du / system.above[block]).max()),
            )

        return self.rows.least_of(work)

    def product_after(self, length: float) -> float:
        system, point = self.system, self.system.point
        if not system.bounded:
            return 0.0

        def work(block: slice) -> float:
            du = length * self.u[block]
            total = (point.p[block] + length * self.p[block]) @ (system.below[block] + du)
            total += (point.q[block] + length * self.q[block]) @ (system.above[block] - du)
            return float(total)

        return float(self.rows.add_up(work))


# The computations over the rows are in ``newton_rows.py``; this module has those over the weights and the few
# multipliers of the equations.


class Newton:
    """Newton's equations for one programme over the columns held."""

    def __init__(
        self,
        columns: Any,
        programme: Programme,
        step_back: float,
        linearise_rows: Callable[[Any, Programme, Iterate], LinearisedRows] = RowSystem,
    ) -> None:
        self.columns = columns
        self.programme = programme
        self.step_back = step_back
        self.linearise_rows = linearise_rows

    def advance(self, point: Iterate, least_centring: float = 0.0) -> Iterate:
        """The point after one predictor-corrector step that aims at ``least_centring`` of the mean product or more."""
        self._linearise(point)
        mu = self._mean_product(point)
        predictor = self.system.predictor
        affine, growth = self._direction(point, 0.0, None, predictor, self.sums.reduced)
        reached = self._mean_product_after(point, affine, predictor, -1.0 / growth)
        centring = mu * max((reached / mu) ** 3, least_centring)
        corrector = self.system.towards(centring, affine)
        step, growth = self._direction(point, centring, affine, corrector, corrector.reduced())
        self.length = length = min(1.0, self.step_back * (-1.0 / growth))
        return point._replace(
            w=point.w + length * step.w,
            s=point.s + length * step.s,
            z=point.z + length * step.z,
            rho=point.rho + length * step.rho,
            r=point.r + length * step.r,
            edges=point.edges + length * step.edges,
            **self.system.moved(step, length),
        )

    def _linearise(self, point: Iterate) -> None:
        """Factorise the reduced system: the columns, then the free multipliers rho."""
        programme, columns, n = self.programme, self.columns, self.columns.n_columns
        self.system = self.linearise_rows(columns, programme, point)
        self.sums = self.system.sums()
        self.n_products = n_of_columns(columns, programme) + self.system.n_products
        size = n + len(programme.equations)
        matrix = np.zeros((size, size), order="F")
        matrix[:n, :n] = self.sums.gram
        diagonal = np.arange(n)
        self.room = room_above(point.w, programme)
        self.z_over_room = point.z / self.room
        matrix[diagonal, diagonal] += programme.weight_set.ridge + point.s / point.w + self.z_over_room
        if size > n:
            of_equations = self.sums.of_equations
            matrix[:n, n:] = -of_equations[:n]
            matrix[n:, n:] = self.coupling = of_equations[n:]
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

    def _direction(
        self, point: Iterate, centring: float, affine: Iterate | None, rows: RowDirection, reduced: Vector
    ) -> tuple[Iterate, float]:
        """A step towards products equal to ``centring``, given the rows' part of it, and the largest relative decrease.

        The relative decrease of a positive quantity is its change divided by the quantity: at -1 the whole step would
        take it to zero, so that a step with a larger decrease must be shortened.
        """
        weight_set, n = self.programme.weight_set, self.columns.n_columns
        target_w = np.full(n, centring) if affine is None else centring - affine.w * affine.s
        reached_z = (centring if affine is None else centring + affine.w * affine.z) / self.room
        excess = point.edges - (point.r + weight_set.cost + weight_set.ridge * point.w)
        missing_u = self.sums.missing_u
        rhs = np.empty(len(self.scaling))
        rhs[:n] = excess + target_w / point.w - reached_z - reduced[:n]
        rhs[n:] = missing_u + reduced[n:]
        change, dr = self._solve(rhs), 0.0
        if weight_set.total is not None:
            missing = weight_set.total - point.w.sum()
            dr = float((change[:n].sum() - missing) / self.response[:n].sum())
            change = change - dr * self.response
        dw, drho = change[:n], change[n:]
        added = rows.follow(dw)
        if len(drho):  # the sums of du give drho more exactly than the solution of the system
            drho = solve(self.coupling, missing_u - added, assume_a="pos")
        growth = [-1.0, rows.finish(drho)]
        ds = (target_w - point.s * dw) / point.w - point.s
        reached_z = reached_z + self.z_over_room * dw
        dz = reached_z - point.z
        growth += [float((dw / point.w).min()), float((ds / point.s).min())]
        if weight_set.is_bounded:
            growth += [float((dz / point.z).min()), -float((dw / self.room).max())]
        de = dr + weight_set.ridge * dw + reached_z - ds - point.s - excess  # A'du, by the equation that du solves
        return Iterate(rows.u, dw, ds, dz, rows.p, rows.q, drho, dr, rows.margins, de), min(growth)

    def _mean_product(self, point: Iterate) -> float:
        total = float(point.w @ point.s) + self.sums.product
        if self.programme.weight_set.is_bounded:
            total += float(point.z @ self.room)
        return total / self.n_products

    def _mean_product_after(self, point: Iterate, step: Iterate, rows: RowDirection, length: float) -> float:
        total = (point.w + length * step.w) @ (point.s + length * step.s) + rows.product_after(length)
        if self.programme.weight_set.is_bounded:
            total += (point.z + length * step.z) @ (self.room - length * step.w)
        return max(float(total) / self.n_products, 0.0)


def n_products(columns: Products, programme: Programme) -> int:
    """The number of complementarity products: one for each bound of a weight and for each bound of a dual."""
    return n_of_columns(columns, programme) + (2 * programme.rows.n_all if programme.is_bounded else 0)


def n_of_columns(columns: Any, programme: Programme) -> int:
    """The number of the complementarity products of the weights."""
    return (2 if programme.weight_set.is_bounded else 1) * int(columns.n_columns)


def mean_product(point: Iterate, programme: Programme) -> float:
    """The mean complementarity product at a point."""
    total, n = float(point.w @ point.s), len(point.w)
    if programme.is_bounded:
        u, lower, upper = point.u, programme.lower, programme.upper
        total += float(
            programme.rows.add_up(
                lambda block: point.p[block] @ (u[block] - lower[block]) + point.q[block] @ (upper[block] - u[block])
            )
        )
        n += 2 * programme.rows.n_all
    if programme.weight_set.is_bounded:
        total += float(point.z @ room_above(point.w, programme))
        n += len(point.w)
    return total / n


def room_above(w: Vector, programme: Programme) -> Vector:
    """How far each weight is below its bound, but at least one rounding error."""
    bound = programme.weight_set.bound
    return np.maximum(bound - w, np.finfo(float).eps * bound)
