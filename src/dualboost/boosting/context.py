"""The parts of one fit, put together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from .._typing import Vector
from ..formulations.base import Formulation
from ..formulations.programme import Programme
from ..learners import Pool
from ..matrix.columns import Columns
from ..matrix.rows import Rows
from ..solvers import Precision, Reoptimiser, SolverOptions, make_fallback_solver, make_reoptimiser
from ..solvers.fallback import FallbackSolver
from ..targets.base import Operator, Target
from ..workers.base import cached_property
from .dual_strategies import DualStrategy, make_dual_strategy

AnyContext = TypeVar("AnyContext", bound="FitContext")


@dataclass(frozen=True, eq=False)
class FitContext(ABC):
    """The parts of a fit that do not depend on whether weights or leaves are optimised."""

    target: Target
    targets: Vector
    formulation: Formulation
    """The formulation, with a number for C."""
    rows: Rows
    """The rows of the data, which differ from the rows of A where y has several classes."""
    solver_options: SolverOptions
    precision: Precision
    columns: Any = field(init=False)

    @cached_property
    def operator(self) -> Operator:
        """Computes rows of A from learners' votes, and the residual of the pricers from duals."""
        return self.target.operator(self.targets)

    @property
    @abstractmethod
    def has_normalised_scores(self) -> bool:
        """Whether scores are divided by the sum of the weights."""

    @abstractmethod
    def duals_of_rows(self, u: Vector) -> Vector:
        """The dual of each row of the data, as the learners see it."""

    def at(self: AnyContext, C: float) -> AnyContext:
        """The same parts at another C."""
        return replace(self, formulation=replace(self.formulation, C=C).resolve_for(self.rows))


@dataclass(frozen=True, eq=False)
class WeightFitContext(FitContext):
    """The parts of a fit whose weights are optimised."""

    columns: Columns
    solver: Reoptimiser
    pool: Pool | None = None
    """The pricers; None where all columns are given from the start."""
    has_intercept: bool = False
    """Whether scores have a free intercept."""
    n_columns: int | None = None
    """The number of columns that the programme is stated for; None for the number held."""

    @property
    def has_normalised_scores(self) -> bool:
        return not self.formulation.has_final_scores

    def duals_of_rows(self, u: Vector) -> Vector:
        return self.operator.duals_of_rows(self.columns.seen(u))

    def solver_for(self, programme: Programme, precision: Precision) -> Reoptimiser:
        """A solver for programmes like this one, such as the programme over a part of the columns."""
        return make_reoptimiser(self.solver_options, programme, self.formulation.name, precision)

    def fallback_solver_for(self, programme: Programme, precision: Precision) -> FallbackSolver:
        """A solver that starts from the beginning for every programme."""
        return make_fallback_solver(self.solver_options.method, programme, self.formulation.name, precision)

    def programme(self, n_columns: int | None = None) -> Any:
        """The programme for ``n_columns`` columns, by default for the number held."""
        n_columns = n_columns or self.n_columns or self.columns.n_columns
        programme = self.operator.programme(self.formulation, self.columns, self.rows, n_columns)
        if not self.has_intercept:
            return programme
        return programme.with_intercepts(self.rows.put(self.operator.intercepts()))

    def dual_strategy(self) -> DualStrategy:
        return make_dual_strategy(self.formulation, self.precision.tolerance)

    def at(self, C: float) -> WeightFitContext:
        """The same parts at another C; the solver goes on from its present iterate."""
        moved = super().at(C)
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
) -> WeightFitContext:
    """The context of a fit of weights; options that contradict the formulation raise an error before any work.

    ``rows`` are the rows of the data where they differ from the rows of the columns.
    """
    rows = columns.rows if rows is None else rows
    formulation = formulation.resolve_for(rows)
    programme = target.operator(targets).programme(formulation, columns, rows, n_columns or 1)
    solver = make_reoptimiser(solver_options, programme, formulation.name, precision)
    parts = (target, targets, formulation, rows, solver_options, precision, columns, solver)
    return WeightFitContext(*parts, pool, has_intercept, n_columns)
