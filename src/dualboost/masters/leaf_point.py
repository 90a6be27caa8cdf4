"""The values of all leaves, and what a smooth loss says of them: the objective, the duals, the curvature."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import Vector
from ..algebra.leaves import LeafColumns
from ..formulations.programme import Programme


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
        return cls(programme, columns, np.zeros(0), 0.0, programme.rows.full(0.0))

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
        """The total loss, and for each row its dual and the second derivative of its loss.

        Where a loss bends only in its kink, the width of the box of the dual stands in for the second derivative.
        """
        programme, rows, rho = self.programme, self.programme.rows, self.rho
        u, curvature = rows.empty(), rows.empty()

        def work(block: slice) -> float:
            part = programme.block(block)
            margins = part.shifted(self.margins[block], rho)
            found = u[block] = part.term.response(margins, part.lower, part.upper)
            if part.term.is_linear:
                curvature[block] = part.upper - part.lower
            else:
                inside = (found > part.lower) & (found < part.upper)
                curvature[block] = np.where(inside, 1.0 / part.term.curvature(found), 0.0)
            return float(part.term.loss(margins, part.lower, part.upper).sum())

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
        return self._of_rows[2]

    @cached_property
    def residual(self) -> Vector:
        """How much the loss falls if the score of a row rises, by row: the negative gradient."""
        return self.columns.operator.adjoint(self.u)

    @cached_property
    def edges(self) -> Vector:
        return self.columns.sums(self.residual)

    @property
    def descent(self) -> Vector:
        """The negative gradient of the objective with respect to the values and the intercept."""
        of_values = self.edges - self.programme.weight_set.ridge * self.values
        return np.append(of_values, self.programme.rows.total(self.residual))

    def moved(self, direction: Vector, change: Vector, length: float) -> LeafPoint:
        """The point after a step; ``change`` is how the direction changes the scores."""
        return LeafPoint(
            self.programme,
            self.columns,
            self.values + length * direction[:-1],
            self.intercept + length * float(direction[-1]),
            self.scores + length * change,
        )
