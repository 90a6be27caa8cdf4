"""HiGHS as a reference master for the linear programmes: columns are added to the primal, and the basis is kept.

::

    min  sum_j (cost - (A'lower)_j) w_j - (t - E lower)'rho + sum_i (upper_i - lower_i) xi_i
    s.t. sum_j A_ij w_j - (E'rho)_i + xi_i >= kink,   sum_j w_j = weight total,   w, xi >= 0

rho exists only where the programme has a total or an intercept, and the constraint on sum_j w_j only where it has a
weight total. The multiplier of row i, added to lower_i, is the dual of row i.
"""

from __future__ import annotations

from typing import ClassVar

import highspy
import numpy as np
from numpy.typing import NDArray

from .._typing import Vector
from ..algebra.columns import Columns
from ..deadlines import seconds_left
from ..formulations.programme import Programme
from ..formulations.terms import LinearTerm
from .base import Candidate, SolveFailure

INFINITY = highspy.kHighsInf
NO_INDEX: NDArray[np.int32] = np.array([], dtype=np.int32)
NO_VALUES: Vector = np.array([])
LIMITS = (1_000, 50)
"""The simplex method may take so many steps, and so many more for each row and column: it needs a few for each, but
goes round in circles on some programmes whose numbers differ by 1e10."""


class HighsMaster:
    """Solves the linear programmes by the simplex method; its solutions are vertices."""

    name: ClassVar[str] = "highs"
    returns_vertex: ClassVar[bool] = True
    interleaves: ClassVar[bool] = False
    limits: ClassVar[tuple[int, int]] = LIMITS
    strategies: ClassVar[tuple[str, ...]] = ("warm simplex", "cold simplex", "interior point and crossover")

    def __init__(self) -> None:
        self.solver = quiet_solver()
        self._n_held = 0

    @staticmethod
    def supports(programme: Programme) -> bool:
        return programme.is_linear_programme and programme.rows.is_whole

    def solve(self, columns: Columns, programme: Programme, tolerance: float, strategy: str) -> Candidate:
        assert isinstance(programme.term, LinearTerm)
        n_rows, n_columns = columns.n_rows, columns.n_columns
        if self._n_held > n_columns:
            self.solver, self._n_held = quiet_solver(), 0
        if self._n_held == 0:
            self._add_rows(programme)
        self._add_columns(columns, programme)
        rows, kinks = np.arange(n_rows, dtype=np.int32), np.full(n_rows, programme.term.kink)
        self.solver.changeRowsBounds(n_rows, rows, kinks, np.full(n_rows, INFINITY))
        self.solver.changeColsCost(n_rows, rows, programme.upper - programme.lower)
        if strategy != "warm simplex":
            self.solver.clearSolver()
        self.solver.setOptionValue("solver", "ipm" if strategy.startswith("interior") else "simplex")
        solution = run(within(seconds_left(), self.solver), self.limits)
        values = np.asarray(solution.col_value)
        u = programme.lower + np.asarray(solution.row_dual)[:n_rows]
        return Candidate(values[-n_columns:], u, values[n_rows : n_rows + len(programme.equations)])

    def _add_rows(self, programme: Programme) -> None:
        """Add the rows, the slacks, rho and the total of the weights: everything but the columns."""
        n = len(programme.lower)
        rows = np.arange(n, dtype=np.int32)
        self.solver.addRows(n, np.zeros(n), np.full(n, INFINITY), 0, NO_INDEX, NO_INDEX, NO_VALUES)
        slack_costs = programme.upper - programme.lower
        self.solver.addCols(n, slack_costs, np.zeros(n), np.full(n, INFINITY), n, rows, rows, np.ones(n))
        left = programme.right_side - programme.equations.sums(programme.lower)
        for equation, side in zip(programme.equations.matrix, left, strict=True):
            self.solver.addCol(-side, -INFINITY, INFINITY, n, rows, -equation)
        weight_total = programme.weight_set.total
        if weight_total is not None:
            self.solver.addRow(weight_total, weight_total, 0, NO_INDEX, NO_VALUES)

    def _add_columns(self, columns: Columns, programme: Programme) -> None:
        lower = programme.rows.gathered(programme.lower)
        for column in columns.dense(self._n_held):
            cost = programme.weight_set.cost - float(column @ lower)
            values = column if programme.weight_set.total is None else np.append(column, 1.0)
            index = np.arange(len(values), dtype=np.int32)
            self.solver.addCol(cost, 0.0, INFINITY, len(values), index, values)
        self._n_held = columns.n_columns


def quiet_solver() -> highspy.Highs:
    """HiGHS, silent, on one thread, with tight tolerances."""
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("primal_feasibility_tolerance", 1e-9)
    solver.setOptionValue("dual_feasibility_tolerance", 1e-9)
    return solver


def within(seconds: float, solver: highspy.Highs) -> highspy.Highs:
    """The solver, which gives up after so many seconds from now; HiGHS counts those of all its runs."""
    if seconds < INFINITY:
        solver.setOptionValue("time_limit", solver.getRunTime() + max(seconds, 0.0))
    return solver


def run(solver: highspy.Highs, limits: tuple[int, int] = LIMITS) -> highspy.HighsSolution:
    """Solve, or raise ``SolveFailure`` with the status that HiGHS reports."""
    n_steps, n_each = limits
    so_far = max(int(solver.getInfo().simplex_iteration_count), 0)
    most = so_far + n_steps + n_each * (solver.getNumRow() + solver.getNumCol())
    solver.setOptionValue("simplex_iteration_limit", most)
    solver.setOptionValue("ipm_iteration_limit", n_steps)
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolveFailure(f"HiGHS: {solver.modelStatusToString(status)}")
    return solver.getSolution()
