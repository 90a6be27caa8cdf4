"""The base of both loops: the end, the record, and the choice of the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._typing import Scores, Vector
from ..arguments import warn_user
from ..deadlines import time_is_up, time_to_solve
from ..errors import GrowerWarning, GrowingError, InterruptedFitWarning, SolverWarning
from ..solvers import Solution, SolverFailed, n_used
from ..targets.scoring import ScoredRows
from .context import FitContext
from .history import HeldOut, Iteration, Trace
from .observers import StoppingRule

Observer = Callable[[Iteration], None]


@dataclass
class Generation(ABC):
    """A loop that adds trees; ``run`` returns all that was found, whatever ended the loop."""

    fit_context: FitContext
    max_trees: int
    held_out: HeldOut | None = None
    scores_each: bool = True
    """Whether every iteration is scored on the held-out rows."""
    keep_best: bool = False
    """Keep the iteration with the best validation score instead of the last one."""
    is_last: bool = False
    """Whether no other fit follows, so that the optimum at the end may take longer than the time limit."""
    stopping: Sequence[StoppingRule] = ()
    observers: Sequence[Observer] = ()
    earlier: Sequence[Any] = ()
    """Columns or trees of an earlier fit, to begin with."""
    trace: Trace = field(default_factory=Trace)

    def __post_init__(self) -> None:
        self.rows, self.tol = self.fit_context.rows, self.fit_context.precision.tolerance

    def run(self) -> Trace:
        try:
            reason = self._finished(self._generated())
        except SolverFailed as failure:
            reason = "time_limit" if self._is_late else "solver_failed"
            self._accept_best(failure.best)
            if reason == "solver_failed":
                self._warn_of_solver(failure)
        self._conclude()
        self.trace.stop_reason = reason
        return self.trace

    @property
    def _is_late(self) -> bool:
        return time_is_up(self.rows.workers)

    @abstractmethod
    def _generate(self) -> str:
        """Add trees until there is a reason to stop."""

    @abstractmethod
    def _recover(self, reason: str) -> None:
        """Go back to a consistent state after an interrupt or a failure of a grower."""

    @abstractmethod
    def _polish(self, reason: str) -> None:
        """Solve the ensemble that is kept to the optimum."""

    @abstractmethod
    def _polished(self, k: int) -> Solution | None:
        """The optimum over the trees of iteration ``k``, after the trace is revised; None where time is up."""

    @abstractmethod
    def _accept_best(self, best: Solution | None) -> None:
        """Keep the best feasible ensemble, because no solver reached the tolerance."""

    @abstractmethod
    def _conclude(self) -> None:
        """Leave the learners of the result in the trace."""

    @property
    @abstractmethod
    def _held(self) -> str:
        """The trees held, in the words of a message."""

    @abstractmethod
    def _certify(self) -> None:
        """Compute a bound over all learners of the class, where pricers can prove one."""

    def _generated(self) -> str:
        """Generate; an interrupt or a failure of a grower ends the loop if there is an ensemble to return."""
        try:
            return self._generate()
        except KeyboardInterrupt:
            n_iterations = len(self.trace.iterations)
            if not n_iterations:
                raise
            message = f"fit was interrupted; the ensemble of {n_iterations} iterations is returned."
            warn_user(message, InterruptedFitWarning)
            reason = "interrupted"
        except GrowingError as failure:
            n_iterations = len(self.trace.iterations)
            if not n_iterations:
                raise
            warn_user(
                f"{failure}. The ensemble of {n_iterations} iterations is returned, and a further tree might improve "
                "it: another max_depth, or learner='optimal', grows trees in another way.",
                GrowerWarning,
            )
            reason = "grower_failed"
        self._recover(reason)
        return reason

    def _finished(self, reason: str) -> str:
        """Polish and certify the result; returns why the fit ended, given why the loop did."""
        with time_to_solve() if self.is_last else nullcontext():
            self._polish(reason)
        if reason != "time_limit" and not self._is_late:
            self._certify()
        if self._is_late and self.trace.iterations and self.trace.result.gap > self.tol:
            return "time_limit"
        return "converged" if reason == "certified" and not self.trace.certified else reason

    def _polish_best(self) -> int | None:
        """Polish the iteration with the best score until it is a polished one, since polishing changes the score.

        Returns this iteration; None where the time does not suffice to polish any.
        """
        polished: dict[int, Solution] = {}
        while (best := self.trace.best) not in polished:
            solution = None if polished and self._is_late else self._polished(best)
            if solution is None and not polished:
                return None
            if solution is None:
                best = max(polished, key=lambda k: self.trace.iterations[k].validation_score)
                break
            polished[best] = solution
        self.trace.kept, self.trace.solution = best, polished[best]
        return best

    def _record(
        self,
        stage: Any,
        figures: dict[str, Any],
        edge: float,
        pricing_seconds: float,
        solver_seconds: float,
        solution: Solution | None = None,
    ) -> None:
        iteration = Iteration(
            iteration=len(self.trace.iterations) + 1,
            edge=edge,
            pricing_seconds=pricing_seconds,
            solver_seconds=solver_seconds,
            **figures,
        )
        recorded = self.trace.iterations
        is_best = not recorded or iteration.validation_score > self.trace.result.validation_score
        self.trace.record(stage, iteration, solution, keep=is_best or not self.keep_best)
        self.trace.n_generated = iteration.n_generated
        for observer in self.observers:
            observer(iteration)

    def _figures(
        self,
        objective: float,
        gap: float,
        scores: Scores,
        weights: Vector,
        scored: Callable[[HeldOut], ScoredRows] | None,
    ) -> dict[str, Any]:
        """The figures of an ensemble, given its scores in training; without ``scored`` it has no validation score."""
        fit_context, validation_score = self.fit_context, np.nan
        if self.held_out is not None and self.scores_each and scored is not None:
            validation_score = self.held_out.scoring.score(scored(self.held_out))
        return {
            "objective": fit_context.formulation.objective_sign * objective,
            "gap": gap,
            "train_score": fit_context.target.quality(scores, fit_context.targets, self.rows),
            "validation_score": validation_score,
            "n_trees": n_used(weights),
        }

    def _reason_to_stop(self) -> str | None:
        """The reason of a stopping rule, given the last ensemble; None to go on."""
        last = self.trace.iterations[-1:]
        reasons = (rule.reason(record) for record in last for rule in self.stopping)
        return next(filter(None, reasons), "time_limit" if last and self._is_late else None)

    def _warn_of_solver(self, failure: SolverFailed) -> None:
        warn_user(
            f"No solver reached a relative gap of {self.tol:g} {self._held} ({failure}); the best feasible ensemble, "
            f"with gap {self.trace.result.gap:.1e}, is returned. A larger tol or another C may help.",
            SolverWarning,
        )
