"""The options for how a programme is solved, as opposed to what is optimised."""

from __future__ import annotations

from dataclasses import dataclass

from ..arguments import ParameterObject, require_choice, require_integer


@dataclass
class SolverOptions(ParameterObject):
    """How a fit is computed; the defaults suit nearly everyone, and no option changes what is optimal.

    Parameters
    ----------
    master : {"auto", "ipm", "highs", "clarabel"}, default="auto"
        The solver. "ipm" is dualboost's own, for every formulation; "highs" (linear programmes) and "clarabel" (an
        extra) are independent references. If the solver chosen fails, the others are tried.
    reoptimize : {"as_needed", "every"}, default="as_needed"
        "as_needed" solves the master only as far as the next pricing needs, and to the end for the result: fast.
        "every" solves it to the end after every tree, so that each row of ``history_`` and each stage of
        ``staged_predict`` is an optimum: for anytime curves. Both return a solution with the same certificate.
    columns_per_iteration : int or "all", default=1
        How many of the columns found may enter at one iteration, the largest edge first.
    schedule : {"all", "rotate"}, default="all"
        With several learners: ask all of them at every iteration, or one after the other.
    active_rows : int, default=None
        How many rows the master begins with; it goes on with the rows that matter to the optimum, and the result is
        certified over all rows. For "lp" and "cg" on hundreds of thousands of rows. None takes all rows at once.
    """

    master: str = "auto"
    reoptimize: str = "as_needed"
    columns_per_iteration: int | str = 1
    schedule: str = "all"
    active_rows: int | None = None

    def __post_init__(self) -> None:
        require_choice("reoptimize", self.reoptimize, ["as_needed", "every"])
        require_choice("schedule", self.schedule, ["all", "rotate"])
        if isinstance(self.columns_per_iteration, str):
            require_choice("columns_per_iteration", self.columns_per_iteration, ["all"])
        else:
            require_integer("columns_per_iteration", self.columns_per_iteration, least=1)
        if self.active_rows is not None:
            require_integer("active_rows", self.active_rows, least=2)

    @property
    def most_entering(self) -> int | None:
        """``columns_per_iteration`` as a number; None for all that improve."""
        return None if isinstance(self.columns_per_iteration, str) else int(self.columns_per_iteration)
