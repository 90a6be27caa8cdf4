"""A point: values for all leaves, and the derivatives of the objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..formulations.classes import SoftmaxProgramme
from ..formulations.programme import Programme
from ..matrix.leaves import LeafColumns
from ..workers.base import cached_property
from .base import Solution


@dataclass(frozen=True, eq=False)
class LeafPoint:
    """Values for the leaves held, an intercept, and the scores of the rows without the intercept."""

    programme: Programme
    columns: LeafColumns
    values: Vector
    intercept: float
    scores: Vector
    duals: Vector | None = None
    """Optimal duals where the loss has kinks, at which the scores leave them undecided."""

    @classmethod
    def start(cls, programme: Programme, columns: LeafColumns) -> LeafPoint:
        """No tree, and an intercept of zero."""
        return cls(programme, columns, np.zeros(0), 0.0, columns.rows.full(0.0))

    @property
    def ridge(self) -> float:
        return self.programme.weight_set.ridge

    @property
    def rho(self) -> Vector:
        """The multiplier of the free intercept."""
        return np.array([self.intercept])

    @cached_property
    def margins(self) -> Vector:
        """A v, without the intercept."""
        return self.columns.operator.apply(self.scores)

    @cached_property
    def _of_rows(self) -> tuple[float, Vector, Vector]:
        """The total loss, and for each row its dual and the second derivative of its loss."""
        programme, rows, rho = self.programme, self.programme.rows, self.rho
        u, curvature = rows.empty(), rows.empty()

        def work(block: slice) -> float:
            part = programme.block(block)
            margins = part.shifted(self.margins[block], rho)
            losses, u[block], curvature[block] = part.term.expansion(margins, part.lower, part.upper)
            return float(losses.sum())

        return float(rows.add_up(work)), u, curvature

    @cached_property
    def objective(self) -> float:
        return self._of_rows[0] + self.programme.weight_set.value(self.values)

    @property
    def u(self) -> Vector:
        """The duals that are optimal for the rows at these scores."""
        return self._of_rows[1] if self.duals is None else self.duals

    @property
    def curvature(self) -> Vector:
        return self.columns.operator.curvature(self._of_rows[2])

    @property
    def shared_curvature(self) -> Vector:
        """The curvature that a Hessian is made of."""
        return self.curvature

    @cached_property
    def residual(self) -> Vector:
        """How much the loss falls if the score of a row rises, by row: the negative gradient."""
        return self.columns.operator.adjoint(self.u)

    @property
    def edges(self) -> Vector:
        return self._sums[:-1]

    @property
    def descent(self) -> Vector:
        """The negative gradient of the objective with respect to the values and the intercept."""
        return self._sums - np.append(self.ridge * self.values, 0.0)

    @cached_property
    def _sums(self) -> Vector:
        return self.columns.sums_and_total(self.residual)

    def moved(self, direction: Vector, change: Vector, length: float) -> LeafPoint:
        """The point after a step; ``change`` is how the direction changes the scores."""
        return LeafPoint(
            self.programme,
            self.columns,
            self.values + length * direction[:-1],
            self.intercept + length * float(direction[-1]),
            self.scores + length * change,
        )

    def at(self, values: Vector, intercept: float, scores: Vector) -> LeafPoint:
        """Another point of the same programme, over the leaves held now."""
        return LeafPoint(self.programme, self.columns, values, intercept, scores)

    def adopting(self, solution: Solution) -> LeafPoint:
        """The point of a solution over the trees held."""
        scores = self.columns.operator.scores(solution.margins)
        return LeafPoint(self.programme, self.columns, solution.w, float(solution.rho[-1]), scores, solution.u)


RAREST = 1e-12
"""The probability that a class without rows begins with."""


@dataclass(frozen=True, eq=False)
class SoftmaxPoint:
    """A value for each leaf held and class, an intercept for each class, and the scores without the intercept."""

    programme: SoftmaxProgramme
    columns: Any
    """``VectorLeafColumns``, or ``RoundLeafColumns`` where every class has trees of its own."""
    values: Matrix
    intercept: Vector
    scores: Matrix

    @classmethod
    def start(cls, programme: SoftmaxProgramme, columns: Any) -> SoftmaxPoint:
        """No tree, and the intercepts of the class balance."""
        totals = programme.totals
        balance = np.log(np.maximum(totals, RAREST * totals.sum()))
        shape = (programme.rows.n_data, programme.n_classes)
        return cls(programme, columns, np.zeros((0, shape[1])), balance - balance.mean(), np.zeros(shape))

    @property
    def ridge(self) -> float:
        return self.programme.ridge

    @cached_property
    def _of_rows(self) -> tuple[float, Matrix]:
        return self.programme.expansion(self.scores + self.intercept)

    @property
    def probabilities(self) -> Matrix:
        return self._of_rows[1]

    @cached_property
    def objective(self) -> float:
        return self._of_rows[0] + 0.5 * self.ridge * float((self.values**2).sum())

    @cached_property
    def residual(self) -> Matrix:
        """How much the loss falls if a score rises, by row and class: the negative gradient."""
        return self.programme.residual(self.programme.prices[:, None] * self.probabilities)

    @cached_property
    def curvature(self) -> Matrix:
        """A second derivative for each row and class, as if classes were independent.

        The factor K/(K-1) makes up for that: it is exact for two classes, and for evenly likely ones in directions that
        sum to zero, which all steps do.
        """
        p, n_classes = self.probabilities, self.programme.n_classes
        return (n_classes / (n_classes - 1)) * self.programme.prices[:, None] * (p * (1.0 - p))

    @cached_property
    def shared_curvature(self) -> Vector:
        """The mean of the curvature over the classes, where one Hessian serves all classes."""
        return self.curvature.mean(axis=1)

    def curved(self, change: Matrix) -> Matrix:
        """The true second derivatives times a change of the scores."""
        p = self.probabilities
        moved = p * change
        moved -= p * moved.sum(axis=1, keepdims=True)
        moved *= self.programme.prices[:, None]
        return moved

    @property
    def descent(self) -> Matrix:
        """The negative gradient of the objective: a row for each leaf, and a last one for the intercepts."""
        of_values = self.columns.sums(self.residual) - self.ridge * self.values
        return np.vstack([of_values, self.summed(self.residual)])

    def summed(self, values: NDArray[np.floating]) -> Vector:
        """The sum of the rows of a matrix, wherever they are held."""
        return self.programme.rows.workers.sum(values.sum(axis=0, dtype=float))

    def moved(self, direction: Matrix, change: Matrix, length: float) -> SoftmaxPoint:
        """The point after a step; ``change`` is how the values' part of the direction changes the scores."""
        return SoftmaxPoint(
            self.programme,
            self.columns,
            self.values + length * direction[:-1],
            self.intercept + length * direction[-1],
            self.scores + length * change,
        )

    def at(self, values: Matrix, intercept: Vector, scores: Matrix) -> SoftmaxPoint:
        """Another point of the same programme, over the leaves held now."""
        return SoftmaxPoint(self.programme, self.columns, values, intercept, scores)

    def adopting(self, solution: Solution) -> SoftmaxPoint:
        """The point of a solution over the trees held."""
        return self.at(solution.w, solution.rho, solution.margins)


@dataclass(frozen=True, eq=False)
class ClassPart:
    """The values of one class's leaves, its intercept, and the second derivative of each row's loss in its score."""

    programme: SoftmaxProgramme
    columns: LeafColumns
    values: Vector
    intercept: float
    shared_curvature: Vector

    @property
    def ridge(self) -> float:
        return self.programme.ridge


def class_parts(point: SoftmaxPoint) -> list[ClassPart]:
    """The point of rounds, class by class."""
    programme, p = point.programme, point.probabilities
    return [
        ClassPart(
            programme,
            columns,
            point.values[:, k],
            float(point.intercept[k]),
            programme.prices * p[:, k] * (1.0 - p[:, k]),
        )
        for k, columns in enumerate(point.columns.of_class)
    ]
