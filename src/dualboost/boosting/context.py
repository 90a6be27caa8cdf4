"""The parts of one fit, put together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .._typing import Vector
from ..formulations.base import Formulation
from ..formulations.programme import Programme
from ..learners.pool import Pool
from ..matrix.columns import Columns
from ..matrix.rows import Rows
from ..solvers import Precision, Reoptimiser, SolverOptions, make_fallback_solver, make_reoptimiser
from ..solvers.fallback import FallbackSolver
from ..targets.base import Operator, Target
from ..workers.base import cached_property
from .dual_strategies import DualStrategy, make_dual_strategy


@dataclass(frozen=True, eq=False)
class FitContext:
    """The parts of a fit: targets and their task, the formulation, the columns, the master and the pricers."""

    target: Target
    targets: Vector
    formulation: Formulation
    """The formulation, with a number for C."""
    columns: Columns
    solver_options: SolverOptions
    precision: Precision
    solver: Reoptimiser
    rows: Rows
    """The rows of the data, which are not those of A where y has several classes."""
    pool: Pool | None = None
    """The pricers; None where all columns are given from the start."""
    has_intercept: bool = False
    """Whether scores have a free intercept."""
    n_columns: int | None = None
    """How many columns the programme is stated for; None for as many as are held."""

    @property
    def has_normalised_scores(self) -> bool:
        """Whether scores are divided by the sum of the weights."""
        return not self.formulation.has_final_scores

    @cached_property
    def operator(self) -> Operator:
        """Computes rows of A from learners' votes, and from duals the residual that pricers see."""
        return self.target.operator(self.targets)

    def solver_for(self, programme: Programme, precision: Precision) -> Reoptimiser:
        """A master for programmes like the one given, such as the programme over a part of the columns."""
        return make_reoptimiser(self.solver_options, programme, self.formulation.name, precision)

    def fallback_solver_for(self, programme: Programme, precision: Precision) -> FallbackSolver:
        """A ladder, which solves every programme from the start."""
        return make_fallback_solver(self.solver_options.method, programme, self.formulation.name, precision)

    def programme(self, n_columns: int | None = None) -> Any:
        """The programme for ``n_columns`` columns, by default for as many as are held."""
        n_columns = n_columns or self.n_columns or self.columns.n_columns
        programme = self.operator.programme(self.formulation, self.columns, self.rows, n_columns)
        if not self.has_intercept:
            return programme
        return programme.with_intercepts(self.rows.put(self.operator.intercepts()))

    def duals_of_rows(self, u: Vector) -> Vector:
        """What the duals say of each row of the data, as the learners see it."""
        return self.operator.duals_of_rows(self.columns.seen(u))

    def dual_strategy(self) -> DualStrategy:
        """The guide that chooses the duals between two pricings."""
        return make_dual_strategy(self.formulation, self.precision.tolerance)

    def at(self, C: float) -> FitContext:
        """The same parts at another C; the master goes on from its present iterate."""
        moved = replace(self, formulation=replace(self.formulation, C=C).resolve_for(self.rows))
        if self.columns.n_columns:
            self.solver.move_to(self.columns, moved.programme())
        return moved


def make_fit_context(
    target: Target,
    targets: Vector,
    formulation: Formulation,
    columns: Columns,
    solver_options: SolverOptions,
    precision: Precision,
    pool: Pool | None = None,
    has_intercept: bool = False,
    n_columns: int | None = None,
    rows: Rows | None = None,
) -> FitContext:
    """Put the parts together; options that contradict the formulation are refused before any work is done.

    ``rows`` are those of the data, where they are not those of the columns.
    """
    rows = columns.rows if rows is None else rows
    formulation = formulation.resolve_for(rows)
    programme = target.operator(targets).programme(formulation, columns, rows, n_columns or 1)
    solver = make_reoptimiser(solver_options, programme, formulation.name, precision)
    return FitContext(
        target, targets, formulation, columns, solver_options, precision, solver, rows, pool, has_intercept, n_columns
    )
