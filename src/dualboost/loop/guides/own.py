"""The default guide, ordinary column generation: the next pricing uses the duals of the master itself."""

from __future__ import annotations

from typing import ClassVar

from ..._typing import Vector
from ...algebra.columns import Columns
from ...masters.base import MasterSolution
from .base import Guide, PricingDuals


class OwnDuals(Guide):
    """The duals of the master's solution; they are settled once the master is solved to the tolerance."""

    needs_optimum: ClassVar[bool] = False

    def next(self, columns: Columns, solution: MasterSolution, priced: Vector) -> PricingDuals:
        return self.of(solution, self.tol)

    @staticmethod
    def of(solution: MasterSolution, tol: float) -> PricingDuals:
        return PricingDuals(solution.u, solution.threshold, solution.gap <= tol)
