"""Leaves under several quantile losses at once: a value a leaf and level, and no crossing on any training row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import Matrix, Vector
from ..formulations.quantiles import QuantilesProgramme, residual_of
from ..matrix.leaves import VectorLeafColumns
from ..workers.base import cached_property
from .base import Solution, relative_gap
from .leaf_kinked import Boxes, InteriorPoint, optimum_of
from .leaf_points import LeafPoint, Point


class QuantilesPoint(Point):
    """A point of several quantile losses: a score for each row and level.

    The programme is ``QuantilesProgramme``, or ``SeparateLevels`` while trees are grown. Duals have the columns of the
    losses first, then the columns of the order.
    """

    @classmethod
    def start(cls, programme: Any, columns: VectorLeafColumns) -> QuantilesPoint:
        """No tree, and intercepts of zero."""
        shape = (programme.rows.n_data, programme.n_levels)
        return cls(programme, columns, np.zeros((0, shape[1])), np.zeros(shape[1]), np.zeros(shape))

    @cached_property
    def _of_rows(self) -> tuple[float, Matrix, Matrix]:
        found: tuple[float, Matrix, Matrix] = self.programme.expansion(self.scores + self.intercept)
        return found

    @cached_property
    def residual(self) -> Matrix:
        return self._of_rows[1] if self.duals is None else residual_of(*_parts(self.duals))

    @property
    def curvature(self) -> Matrix:
        return self._of_rows[2]

    def alone(self) -> list[LeafPoint]:
        """The points of the levels by themselves."""
        columns = self.columns.with_one_value()
        return [
            LeafPoint(programme, columns, self.values[:, k], float(self.intercept[k]), self.scores[:, k])
            for k, programme in enumerate(self.programme.alone)
        ]

    def adopting(self, solution: Solution) -> QuantilesPoint:
        return replace(super().adopting(solution), duals=solution.u)

    def certified(self) -> Solution:
        """By the duals found with the point, or the optimal ones at its scores."""
        without_order = (self.residual, np.zeros_like(self.scores[:, 1:]))
        duals = without_order if self.duals is None else _parts(self.duals)
        return _certified(self, self.values, self.intercept, duals)


@dataclass(frozen=True, eq=False)
class QuantilesProducts:
    """Products with the leaves of trees; unknowns are by level: first its values, then its intercept.

    Rows of A are the scores of all rows and levels, and the distances of neighbouring levels, which must not be
    negative.
    """

    columns: VectorLeafColumns
    n_levels: int
    ridge: float

    @property
    def ridges(self) -> Vector:
        return np.tile(np.append(np.full(self.columns.n_columns, self.ridge), 0.0), self.n_levels)

    def margins(self, x: Vector) -> Vector:
        values, intercept = self.split(x)
        scores = self.columns.scores(values) + intercept
        return np.concatenate([scores.ravel(), np.diff(scores, axis=1).ravel()])

    def sums(self, u: Vector) -> Vector:
        return self.columns.sums_and_total(residual_of(*self.duals(u))).T.ravel()

    def gram(self, d: Vector) -> Matrix:
        of_levels, of_order = self.duals(d)
        own = of_levels.copy()
        own[:, :-1] += of_order
        own[:, 1:] += of_order
        size = self.columns.n_columns + 1
        matrix = np.zeros((self.n_levels * size,) * 2)
        for k in range(self.n_levels):
            here = slice(k * size, (k + 1) * size)
            matrix[here, here] = self.columns.gram(own[:, k], np.float64)
            if k + 1 < self.n_levels:
                above = slice((k + 1) * size, (k + 2) * size)
                matrix[here, above] = matrix[above, here] = -self.columns.gram(of_order[:, k], np.float64)
        return matrix

    def split(self, x: Vector) -> tuple[Matrix, Vector]:
        """The values, with a column for each level, and the intercepts."""
        by_level = x.reshape(self.n_levels, -1)
        return by_level[:, :-1].T, by_level[:, -1]

    def joined(self, values: Matrix, intercept: Vector) -> Vector:
        return np.vstack([values, intercept]).T.ravel()

    def duals(self, u: Vector) -> tuple[Matrix, Matrix]:
        """The duals of rows and levels, and the duals of the distances of neighbouring levels."""
        n = self.columns.rows.n_data
        return u[: n * self.n_levels].reshape(n, -1), u[n * self.n_levels :].reshape(n, -1)


def quantiles_optimum(point: QuantilesPoint, tolerance: float) -> tuple[QuantilesPoint, Solution]:
    """A point whose relative duality gap is at most the tolerance, and its certificate."""
    solution = optimum_of(*_method(point), tolerance)
    return point.adopting(solution), solution


def separate_levels(point: QuantilesPoint, better: Callable[[LeafPoint], LeafPoint]) -> QuantilesPoint:
    """The point after ``better`` is applied to each level by itself."""
    found = [better(alone) for alone in point.alone()]
    values, scores = np.column_stack([one.values for one in found]), np.column_stack([one.scores for one in found])
    return point.at(values, np.array([one.intercept for one in found]), scores)


def _method(point: QuantilesPoint) -> tuple[InteriorPoint, Callable[[InteriorPoint], Solution]]:
    programme: QuantilesProgramme = point.programme
    products = QuantilesProducts(point.columns, programme.n_levels, programme.ridge)
    order = np.zeros(programme.rows.n_data * (programme.n_levels - 1))
    boxes = Boxes(
        programme.rows.like(np.ones(programme.lower.size + len(order))),
        np.concatenate([programme.lower.ravel(), order]),
        np.concatenate([programme.upper.ravel(), np.full_like(order, np.inf)]),
        np.concatenate([np.repeat(programme.rows.values, programme.n_levels), order]),
    )

    def certified(method: InteriorPoint) -> Solution:
        return _certified(point, *products.split(method.at.x), products.duals(method.at.u))

    return InteriorPoint(boxes, products, products.joined(point.values, point.intercept)), certified


def _parts(duals: Matrix) -> tuple[Matrix, Matrix]:
    n_levels = (duals.shape[1] + 1) // 2
    return duals[:, :n_levels], duals[:, n_levels:]


def separately_certified(point: QuantilesPoint) -> Solution:
    """The certificates of the levels by themselves as one."""
    solutions = [one.certified() for one in point.alone()]
    primal, dual = (float(sum(getattr(one, name) for one in solutions)) for name in ("primal", "dual"))
    duals = np.column_stack([*(one.u for one in solutions), np.zeros_like(point.scores[:, 1:])])
    edges = np.column_stack([one.edges for one in solutions])
    gap = relative_gap(primal, dual, primal)
    return Solution(point.values, duals, point.intercept, point.scores, edges, 0.0, primal, dual, point.programme, gap)


def _certified(point: QuantilesPoint, values: Matrix, intercept: Vector, duals: tuple[Matrix, Matrix]) -> Solution:
    programme, columns = point.programme, point.columns
    scores = columns.scores(values)
    reached = point.at(values, programme.ordered(scores, intercept), scores)
    u, order = programme.feasible(*duals)
    residual = residual_of(u, order)
    edges = columns.sums(residual)
    size = programme.n_levels * programme.alone[0].size
    return reached.solution(np.hstack([u, order]), edges, programme.dual_value(u, edges), size)
