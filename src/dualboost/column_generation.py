"""The totally corrective loop: price a column, re-optimise every weight, repeat until nothing improves.

It knows its collaborators only by their protocols: a ``Pricer`` finds columns, a ``Reoptimiser`` re-optimises the
weights (to the end, or only as far as the next pricing needs), stopping rules and observers look on.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from ._typing import Vector
from .columns import Columns
from .errors import InterruptedFitWarning, SolverWarning
from .formulations.base import Formulation
from .formulations.programme import Programme
from .history import Iteration, Trace
from .masters import Candidate, MasterFailed, MasterSolution, certify, n_used
from .pricing.base import Pricer
from .stopping import StoppingRule
from .validation import HeldOut, accuracy, class_balance

Observer = Callable[[Iteration], None]


class Reoptimiser(Protocol):
    """Turns the columns held into weights and sample weights."""

    is_exact: ClassVar[bool]
    """Whether ``solve`` goes all the way, so that nothing is left to polish."""

    def solve(self, columns: Columns, programme: Programme) -> MasterSolution:
        """A certified solution; called again without a new column, a better one."""

    def polish(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The optimum, to the tolerance."""


@dataclass
class ColumnGeneration:
    """The loop and its collaborators; ``run`` returns all that was found, whatever stopped it."""

    formulation: Formulation
    pricer: Pricer
    master: Reoptimiser
    columns: Columns
    max_iter: int
    tol: float
    held_out: HeldOut | None = None
    keep_best: bool = False
    """Keep the iteration with the best validation accuracy instead of the last one."""
    start: MasterSolution | None = None
    """The solution to begin from, where columns are held already."""
    stopping: Sequence[StoppingRule] = ()
    observers: Sequence[Observer] = ()
    trace: Trace = field(default_factory=Trace)

    def run(self) -> Trace:
        try:
            try:
                reason = self._generate()
            except KeyboardInterrupt:
                if not self.trace.iterations:
                    raise
                reason = "interrupted"
                warnings.warn(
                    f"fit was interrupted; the ensemble of {len(self.trace.iterations)} iterations is returned.",
                    InterruptedFitWarning,
                    stacklevel=4,
                )
            try:
                self._polish()
            except KeyboardInterrupt:  # the ensemble is feasible and certified as it is
                reason = "interrupted"
        except MasterFailed as failure:
            reason = "solver_failed"
            self._accept_best(failure)
        del self.trace.learners[len(self.trace.iterations) :]  # one that an interrupt or a failure left without weights
        return self.trace.stopped(reason)

    def _generate(self) -> str:
        """Add columns until there is a reason to stop."""
        u, threshold, gap = self.columns.counts, -np.inf, np.inf
        solution = self.start
        if solution is not None:
            u, threshold, gap = solution.u, solution.threshold, solution.gap
        last_resort = True
        while self.columns.n_columns < self.max_iter:
            started = time.perf_counter()
            priced = self.pricer.price(self.formulation.pricing_weights(u))
            edge = float(u @ (self.columns.labels * priced.votes))
            priced_at = time.perf_counter()
            improves = edge - threshold > self.tol * np.abs(u).sum() and not self.columns.holds(priced.votes)
            if not improves and gap <= self.tol:
                other = self._other_prices(solution) if last_resort and solution is not None else None
                if other is None:
                    return "converged"
                u, threshold, last_resort = other.u, other.threshold, False
                continue
            if improves:
                last_resort = True
                self.columns.append(priced.votes)
                self.trace.learners.append(priced.learner)
            solution = self.master.solve(self.columns, self._programme())
            u, threshold, gap = solution.u, solution.threshold, solution.gap
            if improves:
                record = self._record(solution, edge, priced_at - started, time.perf_counter() - priced_at)
                for reason in filter(None, (rule.reason(record) for rule in self.stopping)):
                    return reason
        return "max_iter"

    def _programme(self) -> Programme:
        return self.formulation.programme(self.columns.counts, self.columns.n_columns)

    def _other_prices(self, solution: MasterSolution) -> MasterSolution | None:
        """The extreme sample weights that the rows ask for, if they are optimal too: a degenerate dual has many."""
        programme = self._programme()
        asked = programme.term.response(solution.margins - solution.rho, programme.lower, programme.upper)
        extreme = certify(self.columns, programme, Candidate(solution.w, programme.feasible(asked), solution.rho))
        return extreme if extreme.gap <= self.tol else None

    def _record(self, solution: MasterSolution, edge: float, pricing: float, solving: float) -> Iteration:
        """Note the ensemble after a new column."""
        if self.held_out is not None:
            self.held_out.add(self.trace.learners[-1])
        record = Iteration(
            iteration=len(self.trace.iterations) + 1,
            edge=edge,
            pricing_seconds=pricing,
            master_seconds=solving,
            **self._figures(solution),
        )
        keep = not self.keep_best or self._improves(record.validation_accuracy)
        self.trace.append(solution.w, solution.u, record, keep)
        for observer in self.observers:
            observer(record)
        return record

    def _figures(self, solution: MasterSolution) -> dict[str, Any]:
        """What a solution says of itself and of the rows."""
        held = self.held_out
        return {
            "objective": self.formulation.objective_sign * solution.primal,
            "gap": solution.gap,
            "threshold": solution.threshold,
            "train_accuracy": self._accuracy(self.columns, solution.margins * self.columns.labels),
            "validation_accuracy": np.nan if held is None else self.score(held, solution.w),
            "n_columns": n_used(solution.w),
        }

    def score(self, held_out: HeldOut, w: Vector) -> float:
        """The accuracy of the weights w on held-out rows."""
        return self._accuracy(held_out, held_out.scores(w))

    def _accuracy(self, rows: Columns | HeldOut, scores: Vector) -> float:
        if not scores.any():
            scores = np.full_like(scores, class_balance(self.columns.labels, self.columns.counts))
        return accuracy(scores, rows.labels, rows.counts)

    def _improves(self, validated: float) -> bool:
        return not self.trace.iterations or validated > self.trace.result.validation_accuracy

    def _polish(self) -> None:
        """Solve the master of the iteration that is kept to the end, if it was not."""
        if not self.master.is_exact and self.trace.iterations:
            self.columns.keep_first(len(self.trace.weights[self.trace.kept]))
            self._replace_result(self.master.polish(self.columns, self._programme()))

    def _replace_result(self, solution: MasterSolution) -> None:
        record = replace(self.trace.result, **self._figures(solution))
        self.trace.replace_result(solution.w, solution.u, record)

    def _accept_best(self, failure: MasterFailed) -> None:
        """No solver reached the tolerance: keep the best feasible ensemble and say so."""
        recorded = len(self.trace.iterations)
        if failure.best is not None and len(self.trace.learners) > recorded:
            self._record(failure.best, np.nan, np.nan, np.nan)
        elif failure.best is not None:
            self._replace_result(failure.best)
        elif not recorded:
            raise failure
        warnings.warn(
            f"No solver reached a relative gap of {self.tol:g} with {self.columns.n_columns} columns "
            f"({failure}); the best feasible ensemble, with gap {self.trace.result.gap:.1e}, is returned. "
            "A larger tol or another C may help.",
            SolverWarning,
            stacklevel=5,
        )
