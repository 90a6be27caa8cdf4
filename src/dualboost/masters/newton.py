"""Newton's equations of the interior-point method: one predictor-corrector step.

The computations over the rows are in ``newton_rows.py``; this module has those over the weights and the few multipliers
of the equations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import solve
from scipy.linalg.lapack import dpotrf, dpotrs

from .._typing import Matrix, Vector
from ..algebra.columns import Products
from ..formulations.programme import Programme
from .newton_rows import Iterate, LinearisedRows, RowDirection, RowSystem


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
    """The number of those of the weights."""
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
