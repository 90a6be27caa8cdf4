"""The totally corrective loop: price a column, re-optimise every weight, repeat until nothing improves.

It knows its collaborators only by their protocols: a ``Pricer`` finds columns, a ladder of masters re-optimises,
stopping rules and observers look on.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ._typing import Vector
from .columns import Columns
from .errors import InterruptedFitWarning, SolverWarning
from .formulations.base import Formulation
from .history import Iteration, Trace
from .masters import Ladder, MasterFailed, MasterSolution, n_used
from .pricing.base import PricedColumn, Pricer
from .stopping import StoppingRule
from .validation import HeldOut, accuracy, class_balance

Observer = Callable[[Iteration], None]


@dataclass
class ColumnGeneration:
    """The loop and its collaborators; ``run`` returns all that was found, whatever stopped it."""

    formulation: Formulation
    pricer: Pricer
    master: Ladder
    columns: Columns
    max_iter: int
    tol: float
    held_out: HeldOut | None = None
    keep_best: bool = False
    """Keep the iteration with the best validation accuracy instead of the last one."""
    stopping: Sequence[StoppingRule] = ()
    observers: Sequence[Observer] = ()
    trace: Trace = field(default_factory=Trace)

    def run(self) -> Trace:
        try:
            return self._generate()
        except KeyboardInterrupt:
            if not self.trace.iterations:
                raise
            warnings.warn(
                f"fit was interrupted; the ensemble of iteration {len(self.trace.iterations)} is returned.",
                InterruptedFitWarning,
                stacklevel=4,
            )
            return self.trace.stopped("interrupted")

    def _generate(self) -> Trace:
        u, threshold = self.columns.counts, -np.inf
        for _ in range(self.max_iter):
            started = time.perf_counter()
            priced = self.pricer.price(self.formulation.pricing_weights(u))
            edge = float(u @ (self.columns.labels * priced.votes))
            priced_at = time.perf_counter()
            if self.columns.holds(priced.votes) or edge - threshold <= self.tol * np.abs(u).sum():
                return self.trace.stopped("converged")
            self.columns.append(priced.votes)
            programme = self.formulation.programme(self.columns.counts, self.columns.n_columns)
            try:
                solution = self.master.solve(self.columns, programme)
            except MasterFailed as failure:
                return self._give_up(failure, priced, edge)
            record = self._record(priced, solution, edge, priced_at - started, time.perf_counter() - priced_at)
            u, threshold = solution.u, solution.threshold
            for rule in self.stopping:
                reason = rule.reason(record)
                if reason is not None:
                    return self.trace.stopped(reason)
        return self.trace.stopped("max_iter")

    def _record(
        self, priced: PricedColumn, solution: MasterSolution, edge: float, pricing: float, solving: float
    ) -> Iteration:
        if self.held_out is not None:
            self.held_out.add(priced.learner)
        validated = np.nan if self.held_out is None else self._accuracy(self.held_out, self.held_out.scores(solution.w))
        record = Iteration(
            iteration=len(self.trace.iterations) + 1,
            objective=self.formulation.objective_sign * solution.primal,
            gap=solution.gap,
            edge=edge,
            threshold=solution.threshold,
            train_accuracy=self._accuracy(self.columns, solution.margins * self.columns.labels),
            validation_accuracy=validated,
            n_columns=n_used(solution.w),
            pricing_seconds=pricing,
            master_seconds=solving,
        )
        keep = not self.keep_best or self._improves(validated)
        self.trace.append(priced.learner, solution.w, solution.u, record, keep)
        for observer in self.observers:
            observer(record)
        return record

    def _accuracy(self, rows: Columns | HeldOut, scores: Vector) -> float:
        if not scores.any():
            scores = np.full_like(scores, class_balance(self.columns.labels, self.columns.counts))
        return accuracy(scores, rows.labels, rows.counts)

    def _improves(self, validated: float) -> bool:
        return not self.trace.iterations or validated > self.trace.result.validation_accuracy

    def _give_up(self, failure: MasterFailed, priced: PricedColumn, edge: float) -> Trace:
        """No solver reached the tolerance: keep the best feasible ensemble and say so."""
        if failure.best is not None:
            self._record(priced, failure.best, edge, np.nan, np.nan)
        elif not self.trace.iterations:
            raise failure
        warnings.warn(
            f"No solver reached a relative gap of {self.master.tolerance:g} with {self.columns.n_columns} columns "
            f"({failure}); the best feasible ensemble, with gap {self.trace.result.gap:.1e}, is returned. "
            "A larger tol or another C may help.",
            SolverWarning,
            stacklevel=5,
        )
        return self.trace.stopped("solver_failed")
