"""The values of all leaves, and what a smooth loss says of them: the objective, the duals, the curvature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Vector
from ..algebra.leaves import LeafColumns
from ..formulations.programme import Programme
from ..workers.caching import cached_property
from .base import MasterSolution


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

    def adopting(self, solution: MasterSolution) -> LeafPoint:
        """The point of a solution over the trees held."""
        scores = self.columns.operator.scores(solution.margins)
        return LeafPoint(self.programme, self.columns, solution.w, float(solution.rho[-1]), scores, solution.u)
