"""Puts the parts together where all leaves are corrected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import Vector
from ..algebra.leaves import LeafColumns
from ..algebra.rows import Rows
from ..algebra.vector_leaves import VectorLeafColumns
from ..errors import InvalidParameterError, UnsupportedFormulationError
from ..formulations.base import Formulation
from ..masters import MASTERS, MasterSolution, Precision, SolverOptions
from ..masters.leaf_masters import leaf_master_of
from ..pricing.newton_trees import Grower
from ..tasks.base import Operator, Task
from ..workers.caching import cached_property
from .row_samples import RowSamples


@dataclass(frozen=True, eq=False)
class LeafWiring:
    """The parts of a fit: targets and their task, the formulation, the rows, who grows trees, and on which rows."""

    task: Task
    targets: Vector
    formulation: Formulation
    """The formulation, with a number for C."""
    rows: Rows
    solver: SolverOptions
    precision: Precision
    grower: Grower
    samples: RowSamples
    is_rough: bool = False
    """Whether the programme is only to lead to good trees."""
    signs: tuple[int, ...] | None = None
    """For each feature whether scores must rise or fall with it, so that values of leaves are in order; see
    ``TreeLimits``."""

    @property
    def has_normalised_scores(self) -> bool:
        """Scores are sums of leaf values, which are not divided by anything."""
        return False

    @cached_property
    def operator(self) -> Operator:
        return self.task.operator(self.targets)

    def duals_of_rows(self, u: Vector) -> Vector:
        """What the duals say of each row; where a row has several scores, they are one for each already."""
        return u if self.task.n_outputs > 1 else self.operator.duals_of_rows(u)

    @cached_property
    def columns(self) -> LeafColumns:
        if self.task.n_outputs > 1:
            return VectorLeafColumns(self.rows, self.task.n_outputs)
        return LeafColumns(self.rows, self.operator)

    @cached_property
    def programme(self) -> Any:
        """The programme of the formulation, with leaves of any value and a ridge in place of its weights."""
        programme = self.formulation.over_leaves(self.rows, self.operator, self.task.n_outputs)
        programme = programme.for_growing() if self.is_rough else programme
        return programme.in_order() if self.signs is not None else programme

    def improved(self, point: Any, newest: int | None = None) -> Any:
        """A point with a smaller objective, as good as the next pricing needs; ``newest`` is the newest tree."""
        if self.solver.reoptimize == "every":
            return self.optimum(point)[0]
        return leaf_master_of(point.programme).improved(point, newest)

    def optimum(self, point: Any) -> tuple[Any, MasterSolution]:
        """The optimum over the leaves held, to the tolerance."""
        return leaf_master_of(point.programme).optimum(point, self.precision.tolerance)

    def unit(self, point: Any) -> float:
        """The factor that makes the mean curvature of a row at this point a quarter, as trees are grown with."""
        rows = self.rows
        total = max(rows.total(point.curvature), np.finfo(float).tiny)
        return float(0.25 * rows.rows_each * rows.workers.sum(float(point.curvature.size)) / total)

    def at(self, C: float) -> LeafWiring:
        """The same parts at another C."""
        return replace(self, formulation=replace(self.formulation, C=C).resolve_for(self.rows))

    @cached_property
    def growing(self) -> LeafWiring:
        """The same parts as trees are grown with them: at another C, and for a loss without kinks."""
        is_rough = self.solver.reoptimize != "every"
        return replace(self, formulation=self.formulation.for_growing(self.rows), is_rough=is_rough)


def wire_leaves(
    task: Task,
    targets: Vector,
    formulation: Formulation,
    rows: Rows,
    solver: SolverOptions,
    precision: Precision,
    grower: Grower,
    samples: RowSamples,
    signs: tuple[int, ...] | None = None,
) -> LeafWiring:
    """Put the parts together; a formulation without a loss for free values is refused before any work is done."""
    formulation = formulation.resolve_for(rows)
    if task.n_outputs == 1:
        require_leaves(formulation, rows)
    _require_options(solver, formulation)
    parts = (task, targets, formulation, rows, solver, precision, grower, samples)
    return LeafWiring(*parts, signs=signs)


def _require_options(solver: SolverOptions, formulation: Formulation) -> None:
    """Refuse the options of masters that solve for weights: leaves have solvers of their own."""
    if solver.active_rows is not None:
        raise UnsupportedFormulationError(
            f"active_rows={solver.active_rows!r} leaves rows out of programmes over weights, but formulation "
            f"{formulation.name!r} is to correct leaves: use None, or corrects='trees' with 'lp' or 'cg'."
        )
    if solver.master == "auto":
        return
    if solver.master not in MASTERS:
        raise InvalidParameterError(
            f"master={solver.master!r} is not known; choose 'auto' or one of {sorted(MASTERS)}."
        )
    raise UnsupportedFormulationError(
        f"master={solver.master!r} solves for the weights of trees, but formulation {formulation.name!r} is to correct "
        "leaves: use 'auto', or corrects='trees'."
    )


def require_leaves(formulation: Formulation, rows: Rows) -> None:
    """Refuse a formulation that is not a loss plus a cost of the weights."""
    programme = formulation.programme(rows, 1)
    is_loss = programme.total is None and programme.weight_set.total is None and not programme.weight_set.is_bounded
    if not is_loss or programme.stages is not None or formulation.has_sides or formulation.guide != "own":
        raise UnsupportedFormulationError(
            f"corrects='leaves' needs a loss plus a cost of the weights, as in 'logistic', 'convex', 'lp' or 'cg'; "
            f"formulation {formulation.name!r} is another kind of programme: use corrects='trees'."
        )
