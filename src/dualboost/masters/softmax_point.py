"""The values of all leaves for every class, and what the cross-entropy says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..formulations.softmax import SoftmaxProgramme
from ..workers.caching import cached_property
from .base import MasterSolution

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

    def adopting(self, solution: MasterSolution) -> SoftmaxPoint:
        """The point of a solution over the trees held."""
        return self.at(solution.w, solution.rho, solution.margins)
