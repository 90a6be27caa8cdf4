"""The sample weights of the master itself: column generation as it is."""

from __future__ import annotations

from typing import ClassVar

from ..._typing import Vector
from ...algebra.columns import Columns
from ...masters.base import MasterSolution
from .base import Guide, Prices


class OwnPrices(Guide):
    """The duals of the weights; settled once the master is solved to the tolerance."""

    needs_optimum: ClassVar[bool] = False

    def next(self, columns: Columns, solution: MasterSolution, priced: Vector) -> Prices:
        return self.of(solution, self.tol)

    @staticmethod
    def of(solution: MasterSolution, tol: float) -> Prices:
        return Prices(solution.u, solution.threshold, solution.gap <= tol)
