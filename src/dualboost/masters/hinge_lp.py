"""A hinge-loss linear programme as a HiGHS model that columns can be added to.

The paper's primal, over all rows or a part of them (the other rows' sample weights being settled)::

    min  sum_j (cost - settled_j - (A'lower)_j) w_j - total*rho + sum_i (upper_i - lower_i) xi_i
    s.t. sum_j A_ij w_j - rho + xi_i >= kink,   sum_j w_j = weight total,   w, xi >= 0

where ``settled`` are the edges of the settled rows. rho and the last constraint exist only where the programme has a
total and a weight total. The multiplier of row i, added to lower_i, is its sample weight.
"""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..formulations.terms import LinearTerm
from .base import Candidate, SolveFailure

INFINITY = highspy.kHighsInf
FEASIBILITY = 1e-9
Indices = NDArray[np.int32]
NO_INDEX: Indices = np.array([], dtype=np.int32)
NO_VALUES: Vector = np.array([])


class HingeLP:
    """The model and its solver; the basis is kept between solves."""

    def __init__(self, lower: Vector, upper: Vector, total: float | None, weight_total: float | None) -> None:
        self.lower = lower
        self.n_rows = len(lower)
        self.n_columns = 0
        self.has_rho = total is not None
        self.has_weight_total = weight_total is not None
        self.solver = _quiet_solver()
        n = self.n_rows
        self.solver.addRows(n, np.zeros(n), np.full(n, INFINITY), 0, NO_INDEX, NO_INDEX, NO_VALUES)
        rows = np.arange(n, dtype=np.int32)
        self._add(upper - lower, 0.0, rows, rows, np.ones(n))
        if total is not None:
            self._add(np.array([-total]), -INFINITY, rows[:1], rows, -np.ones(n))
        if weight_total is not None:
            self.solver.addRow(weight_total, weight_total, 0, NO_INDEX, NO_VALUES)

    def _add(self, cost: Vector, lowest: float, starts: Indices, index: Indices, values: Vector) -> None:
        n = len(cost)
        self.solver.addCols(n, cost, np.full(n, lowest), np.full(n, INFINITY), len(values), starts, index, values)

    def add_columns(self, block: Matrix, settled: Vector, cost: float) -> None:
        """Add columns, one a row of ``block``, with the edges of their settled rows."""
        added = len(block)
        if self.has_weight_total:
            block = np.hstack([block, np.ones((added, 1))])
        width = block.shape[1]
        starts = np.arange(added, dtype=np.int32) * width
        index = np.tile(np.arange(width, dtype=np.int32), added)
        costs = cost - settled - block[:, : self.n_rows] @ self.lower
        self._add(costs, 0.0, starts, index, np.ascontiguousarray(block).ravel())
        self.n_columns += added

    def solve(self, term: LinearTerm, algorithm: str = "simplex", keep_basis: bool = True) -> Candidate:
        """The optimal weights, the multipliers plus ``lower`` as sample weights, and rho."""
        n = self.n_rows
        rows = np.arange(n, dtype=np.int32)
        self.solver.changeRowsBounds(n, rows, np.full(n, term.kink), np.full(n, INFINITY))
        if not keep_basis:
            self.solver.clearSolver()
        self.solver.setOptionValue("solver", algorithm)
        self.solver.run()
        status = self.solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolveFailure(f"HiGHS: {self.solver.modelStatusToString(status)}")
        solution = self.solver.getSolution()
        values = np.asarray(solution.col_value)
        u = self.lower + np.asarray(solution.row_dual)[:n]
        return Candidate(values[len(values) - self.n_columns :], u, float(values[n]) if self.has_rho else 0.0)


def _quiet_solver() -> highspy.Highs:
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("primal_feasibility_tolerance", FEASIBILITY)
    solver.setOptionValue("dual_feasibility_tolerance", FEASIBILITY)
    return solver
