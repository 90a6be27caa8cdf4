"""Leaves whose values must be in order, so that scores rise or fall with some features: D v >= 0 within each tree.

Between two pricings, sweeps as for free values are put in order. The optimum under a loss without kinks is found by a
primal-dual method inside the order: Newton's equations of the objective minus mu times the sum of log(D v),

    (H + D'WD) dx = -gradient + mu D'(1/s),    s = D v,    W = lambda/s,

for ever smaller mu, solved by conjugate gradients as without an order. Under a loss with kinks, D v >= 0 are further
rows of the interior-point method. The certificate is for the programme with the order (``Ordered``): it uses the
values and the duals of the rows, and nothing from the method.

Nocedal & Wright, "Numerical optimization", 2006, chapter 19.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import cho_solve

from .._typing import Matrix, Vector
from ..deadlines import time_is_up
from ..formulations.weight_sets import WeightSet
from ..matrix.leaves import LeafColumns
from .base import Candidate, Solution, SolverFailed, certify
from .leaf_kinked import Boxes, InteriorPoint, ScalarProducts, boxes_of, optimum_of
from .leaf_newton import AIM, conjugate_gradients, factored, hessian, hessian_product
from .leaf_newton import optimum as free_optimum
from .leaf_points import LeafPoint
from .leaf_sweeps import MOST_HALVINGS, lowered, sweep

MOST_STEPS = 100
"""The method needs 10 to 30 steps."""
TO_THE_BOUNDARY = 0.995
"""The share of the longest step inside the order that is taken."""
FASTER, SLOWER = 0.1, 0.5
"""The factors on mu after a long step, and after a short one."""
INSIDE = 1e-2
"""How far apart values of neighbouring leaves are at the start, relative to the mean size of all values."""
PRECISION = 1e-3
"""By how much conjugate gradients reduce the residual of Newton's equations."""
LEAST_SHARE = 1e-4
"""A step is halved unless the objective falls by this share of the slope times the length."""


def in_order(point: LeafPoint) -> LeafPoint:
    """The point with its values put in order; the point itself if they are in order."""
    values = _weight_set(point).nearest(point.values)
    if (values == point.values).all():
        return point
    return point.at(values, point.intercept, point.columns.scores(values))


def ordered_sweep(point: LeafPoint, newest: int | None) -> LeafPoint:
    """A point in order with a smaller objective than the given one has when put in order."""
    start = in_order(point)
    free = sweep(start, newest)
    change = _weight_set(free).nearest(free.values) - start.values
    direction = np.append(change, free.intercept - start.intercept)
    return lowered(start, direction, point.columns.scores(change))


def ordered_certified(point: LeafPoint) -> Solution:
    """The point, put in order, with its duality gap."""
    return _certified(point, Candidate(point.values, point.balanced()[0], point.rho))


def ordered_optimum(point: LeafPoint, tolerance: float) -> tuple[LeafPoint, Solution]:
    """A point in order whose relative duality gap is at most the tolerance, and its certificate.

    It is the best point found if time is up.
    """
    if all(order is None for order in point.columns.orders):
        return free_optimum(point, tolerance)
    method = BarrierMethod.started(in_order(point))
    best, workers = ordered_certified(method.point), point.programme.rows.workers
    for _ in range(MOST_STEPS):
        if best.gap <= AIM * tolerance or time_is_up(workers) or not method.step():
            break
        found = ordered_certified(method.point)
        best = found if found.gap < best.gap else best
    if best.gap > tolerance and not time_is_up(workers):
        raise SolverFailed(best, [f"the method over ordered leaves ended at a gap of {best.gap:.1e}"])
    return replace(point.adopting(best), duals=None), best


def kinked_ordered_optimum(point: LeafPoint, tolerance: float) -> tuple[LeafPoint, Solution]:
    """The optimum in order under a loss with kinks, and its certificate."""
    boxes, differences = boxes_of(point), _differences(point.columns)
    order = boxes.rows.put(np.zeros(differences.shape[0]))
    n_rows = len(boxes.lower)
    method = InteriorPoint(
        Boxes(
            boxes.rows.like(np.ones(n_rows + len(order))),  # every worker holds the rows of the order
            np.concatenate([boxes.lower, order]),
            np.concatenate([boxes.upper, np.full_like(order, np.inf)]),
            np.concatenate([boxes.kink, order]),
        ),
        OrderedProducts(point.columns, point.ridge, differences, n_rows),
        np.append(point.values, point.intercept),
    )

    def certified(at: InteriorPoint) -> Solution:
        return _certified(point, Candidate(at.at.x[:-1], at.at.u[:n_rows], at.at.x[-1:]))

    solution = optimum_of(method, certified, tolerance)
    return point.adopting(solution), solution


def _weight_set(point: LeafPoint) -> WeightSet:
    return point.programme.in_order(point.columns.sizes, point.columns.orders).weight_set


def _certified(point: LeafPoint, candidate: Candidate) -> Solution:
    programme = point.programme.in_order(point.columns.sizes, point.columns.orders)
    return certify(point.columns, programme, candidate)


def _differences(columns: LeafColumns) -> sparse.csr_matrix:
    """D: a row for each pair of neighbouring leaves, the upper value minus the lower one."""
    found = [
        tuple(start + part for part in order.pairs)
        for start, order in zip(columns.starts.tolist(), columns.orders, strict=False)
        if order is not None
    ]
    lower, upper = (np.concatenate([np.zeros(0, dtype=np.intp), *(pairs[k] for pairs in found)]) for k in (0, 1))
    n = len(lower)
    entries = np.concatenate([np.full(n, -1.0), np.ones(n)])
    places = np.tile(np.arange(n), 2), np.concatenate([lower, upper])
    return sparse.csr_matrix((entries, places), shape=(n, columns.n_columns))


@dataclass(frozen=True, eq=False)
class OrderedProducts(ScalarProducts):
    """Products with the leaves of trees, and with the differences of values, which come after the rows."""

    differences: sparse.csr_matrix
    n_rows: int

    def margins(self, x: Vector) -> Vector:
        return np.concatenate([super().margins(x), self.columns.rows.put(self.differences @ x[:-1])])

    def sums(self, u: Vector) -> Vector:
        sums = super().sums(u[: self.n_rows])
        sums[:-1] += self.differences.T @ self.columns.rows.host(u[self.n_rows :])
        return sums

    def gram(self, d: Vector) -> Matrix:
        of_order = self.columns.rows.host(d[self.n_rows :])
        return with_differences(super().gram(d[: self.n_rows]), self.differences, of_order)


def with_differences(matrix: Matrix, differences: sparse.csr_matrix, weights: Vector) -> Matrix:
    """The matrix plus D' diag(weights) D, in place; the last row and column belong to the intercept."""
    product = (differences.T @ sparse.diags(weights) @ differences).tocoo()
    matrix[product.row, product.col] += product.data
    return matrix


@dataclass(eq=False)
class BarrierMethod:
    """A point strictly inside the order, and the multipliers of the differences."""

    point: LeafPoint
    multipliers: Vector
    differences: sparse.csr_matrix
    mu: float

    @classmethod
    def started(cls, point: LeafPoint) -> BarrierMethod:
        """Inside the order: leaves with more below them move up."""
        columns = point.columns
        levels = [
            np.zeros(size) if order is None else order.levels
            for size, order in zip(columns.sizes, columns.orders, strict=True)
        ]
        largest = np.sqrt(
            2.0 * abs(point.objective) / (point.ridge * len(point.values))
        )  # values cost no more than that
        apart = INSIDE * (np.abs(point.values).mean() + INSIDE * largest)
        values = point.values + apart * np.concatenate(levels)
        point = point.at(values, point.intercept, columns.scores(values))
        differences = _differences(columns)
        mu = INSIDE * max(abs(point.objective), np.finfo(float).tiny) / differences.shape[0]
        return cls(point, mu / (differences @ values), differences, mu)

    @property
    def slack(self) -> Vector:
        """D v, which stays positive."""
        return np.asarray(self.differences @ self.point.values)

    def step(self) -> bool:
        """One step of Newton's method for the present mu, which falls afterwards; False if no step is found."""
        slack = self.slack
        direction, change = self._direction(slack)
        moved = self.differences @ direction[:-1]
        of_multipliers = self.mu / slack - self.multipliers - self.multipliers / slack * moved
        length = self._lowering(direction, change, slack, moved)
        if length == 0.0:
            return False
        self.point = self.point.moved(direction, change, length)
        self.multipliers = self.multipliers + _reach(self.multipliers, of_multipliers) * of_multipliers
        self.mu *= FASTER if length > SLOWER else SLOWER
        return True

    def _direction(self, slack: Vector) -> tuple[Vector, Vector]:
        point, D, weights = self.point, self.differences, self.multipliers / slack
        matrix = hessian(point.columns, point.shared_curvature, point.ridge)
        factor, workers = factored(with_differences(matrix, D, weights)), point.programme.rows.workers

        def product(search: Vector) -> tuple[Vector, Vector]:
            scores, image = hessian_product(point, search)
            image[:-1] += D.T @ (weights * (D @ search[:-1]))
            return scores, image

        direction, change, _ = conjugate_gradients(
            product,
            lambda residual: cho_solve(factor, residual),
            self._descent(slack),
            np.zeros_like(point.scores),
            PRECISION,
            point.most_iterations,
            lambda: time_is_up(workers),
        )
        return direction, change

    def _descent(self, slack: Vector) -> Vector:
        descent = self.point.descent
        descent[:-1] += self.mu * (self.differences.T @ (1.0 / slack))
        return descent

    def _lowering(self, direction: Vector, change: Vector, slack: Vector, moved: Vector) -> float:
        """The length of the step, halved until the objective with the logarithms falls; zero if it never does."""
        length = _reach(slack, moved)
        slope = float(self._descent(slack) @ direction)
        start = self._value(self.point)
        for _ in range(MOST_HALVINGS):
            reached = self._value(self.point.moved(direction, change, length))
            if reached <= start - LEAST_SHARE * length * slope:
                return length
            length /= 2
        return 0.0

    def _value(self, point: LeafPoint) -> float:
        slack = self.differences @ point.values
        if not (slack > 0).all():
            return np.inf
        return point.objective - self.mu * float(np.log(slack).sum())


def _reach(values: Vector, changes: Vector) -> float:
    falling = changes < 0
    return min(1.0, TO_THE_BOUNDARY * float((values[falling] / -changes[falling]).min(initial=np.inf)))
