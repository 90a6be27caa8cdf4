"""The part of a Newton step that runs over the rows, one block at a time.

u, its multipliers p and q, and the margins have one entry for each row. Everything here works on each row by itself,
except for the products with the columns and the equations, which are sums over the rows. With ``below`` and ``above``
the distances of u from its bounds and c the curvature of the terms, a step solves for every row::

    D = 1/(c + p/below + q/above)
    du = -D (g'(u) + m - E'rho - (centring - corrections)/below + (centring + corrections)/above) - D (A dw - E'drho)
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from .._typing import Matrix, Vector
from ..algebra.columns import Products
from ..algebra.rows import LIGHT
from ..formulations.equations import combined
from ..formulations.programme import Programme
from .base import Candidate

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
    """The rows' part of a step: ``reduced`` is asked for first, then ``follow``, then ``finish``."""

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
    """The equations of the rows, linearised at one point: all that a Newton step needs to know of the rows."""

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
