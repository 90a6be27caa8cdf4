"""The solvers of programmes, and their registry."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..arguments import require_choice
from ..errors import UnsupportedFormulationError
from ..formulations.programme import Programme
from .base import (
    WEIGHT_TOLERANCE,
    Candidate,
    Reoptimiser,
    Solution,
    SolveFailure,
    Solver,
    SolverFailed,
    SolverOptions,
    bound_over_class,
    certify,
    n_used,
    relative_gap,
)
from .classes import MulticlassSolver
from .fallback import AIM, FallbackSolver
from .interior_point import InteriorPointSolver, WarmStartedSolver
from .reduced_rows import LEAST_ROWS, ActiveRows, DistinctRows
from .references import ClarabelSolver, HighsSolver
from .two_stages import Staged, in_stages

SOLVERS: dict[str, type[Solver]] = {
    InteriorPointSolver.name: InteriorPointSolver,
    HighsSolver.name: HighsSolver,
    ClarabelSolver.name: ClarabelSolver,
}
"""In the order in which ``method="auto"`` tries them."""


class Precision(NamedTuple):
    """The tolerances of solutions."""

    tolerance: float
    """The largest relative gap accepted."""
    vertices: bool = True
    """Whether the optimum of a linear programme is to be a vertex: sparse, but found later."""
    aim: float = AIM
    """WarmStartedSolver steps stop at this fraction of the tolerance, which leaves room for rounding and the vertex."""


def make_reoptimiser(
    options: SolverOptions, programme: Any, formulation_name: str, precision: Precision
) -> Reoptimiser:
    """The solver of the options, with the others as a fallback, interleaved with pricing where that is possible."""
    if programme.pairs is not None:
        _require_own(options)
        return MulticlassSolver(precision.tolerance, precision.vertices, precision.aim, options.reoptimize == "every")
    fallback_solver = make_fallback_solver(options.method, programme, formulation_name, precision)
    can_interleave = options.method == "auto" or SOLVERS[options.method].warm_starts
    warm_starts = options.reoptimize == "as_needed" and can_interleave
    can_leave_out = programme.has_idle_rows and programme.stages is None
    if options.active_rows is not None and not programme.rows.is_whole:
        raise UnsupportedFormulationError(
            f"active_rows={options.active_rows!r} needs all rows in the memory of one process: use None with "
            "several workers and on a GPU."
        )
    if options.active_rows is not None and not can_leave_out:
        raise UnsupportedFormulationError(
            f"active_rows={options.active_rows!r} needs the hinge loss of 'lp' or 'cg', whose duals may be zero "
            f"and have no total; use None for formulation {formulation_name!r}."
        )
    if programme.stages is not None:
        return Staged(fallback_solver, warm_starts)
    inner = WarmStartedSolver(fallback_solver, precision.aim) if warm_starts else fallback_solver
    if options.active_rows is not None:
        return ActiveRows(inner, options.active_rows)
    pays = programme.rows.is_whole and programme.rows.n_data >= LEAST_ROWS and programme.can_merge_rows
    return DistinctRows(inner) if pays else inner


def _require_own(options: SolverOptions) -> None:
    """Refuse the options of other solvers: more than two classes have their own solver."""
    if options.method not in ("auto", InteriorPointSolver.name) or options.active_rows is not None:
        raise UnsupportedFormulationError(
            f"solver={options!r}: with more than two classes, method must be 'auto' or 'ipm', and active_rows None."
        )


def make_fallback_solver(
    solver: str, programme: Programme, formulation_name: str, precision: Precision
) -> FallbackSolver:
    """A fallback solver that tries the given solver first, then the others."""
    require_choice("method", solver, ("auto", *SOLVERS))
    order = list(SOLVERS.values())
    if solver != "auto":
        preferred = SOLVERS[solver]
        if not preferred.supports(programme):
            able = [name for name, other in SOLVERS.items() if other.supports(programme)]
            where = "" if programme.rows.is_whole else " over rows that are not all in memory"
            raise UnsupportedFormulationError(
                f"method={solver!r} cannot solve formulation {formulation_name!r}{where}; use 'auto' or one of {able}."
            )
        preferred()  # a missing extra is reported before any work is done
        order.sort(key=lambda other: other is not preferred)
    return FallbackSolver(order, precision.tolerance, precision.vertices)


__all__ = [
    "SOLVERS",
    "WEIGHT_TOLERANCE",
    "ActiveRows",
    "Candidate",
    "DistinctRows",
    "FallbackSolver",
    "Precision",
    "Reoptimiser",
    "Solution",
    "SolveFailure",
    "Solver",
    "SolverFailed",
    "SolverOptions",
    "Staged",
    "WarmStartedSolver",
    "bound_over_class",
    "certify",
    "in_stages",
    "make_fallback_solver",
    "make_reoptimiser",
    "n_used",
    "relative_gap",
]
