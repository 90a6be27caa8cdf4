"""Leaves under a loss with kinks, such as the absolute or the hinge loss: one value a leaf."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Matrix, Vector
from ..algebra.leaves import LeafColumns
from ..formulations.terms import LinearTerm
from .base import Candidate, MasterSolution
from .certificate import certify
from .leaf_interior import Boxes, InteriorPoint, optimum_of
from .leaf_point import LeafPoint


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


def kinked_optimum(point: LeafPoint, tolerance: float) -> tuple[LeafPoint, MasterSolution]:
    """A point whose relative duality gap is at most the tolerance, and its certificate."""
    solution = optimum_of(_method(point), lambda method: _certified(point, method), tolerance)
    return point.adopting(solution), solution


def _method(point: LeafPoint) -> InteriorPoint:
    products = ScalarProducts(point.columns, point.ridge)
    return InteriorPoint(boxes_of(point), products, np.append(point.values, point.intercept))


def boxes_of(point: LeafPoint) -> Boxes:
    """The boxes of the duals, and the kinks of the losses."""
    programme = point.programme
    assert isinstance(programme.term, LinearTerm), "other losses have no kinks"
    kink = np.zeros_like(programme.lower) + programme.term.kink
    return Boxes(programme.rows, programme.lower, programme.upper, kink)


def _certified(point: LeafPoint, method: InteriorPoint) -> MasterSolution:
    x = method.at.x
    return certify(point.columns, point.programme, Candidate(x[:-1], method.at.u, x[-1:]))
