"""The totally corrective loop: price a column, re-optimise every weight, repeat until nothing improves.

It knows its collaborators only by their protocols: a ``Pool`` of pricers finds columns, a ``Reoptimiser`` re-optimises
the weights (to the end, or only as far as the next pricing needs), stopping rules and observers look on.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from .._typing import Vector
from ..algebra.columns import Columns
from ..errors import InterruptedFitWarning, SolverWarning
from ..formulations.base import Formulation
from ..formulations.programme import Programme
from ..masters import Candidate, MasterFailed, MasterSolution, bound_over_class, certify, n_used, relative_gap
from ..pricing.pool import Offer, Pool
from ..tasks.binary import accuracy, class_balance
from .guides import OwnPrices, Prices, make_guide
from .held_out import HeldOut
from .history import Iteration, Trace
from .stopping import StoppingRule

Observer = Callable[[Iteration], None]

EXACT_IMPROVEMENT = 1e-9
"""With an exact pricer every improvement above rounding counts, so that the bound can meet the objective."""


class Reoptimiser(Protocol):
    """Turns the columns held into weights and sample weights."""

    @property
    def is_exact(self) -> bool:
        """Whether ``solve`` goes all the way, so that nothing is left to polish."""

    def solve(self, columns: Columns, programme: Programme) -> MasterSolution:
        """A certified solution; called again without a new column, a better one."""

    def polish(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The optimum, to the tolerance."""


@dataclass
class ColumnGeneration:
    """The loop and its collaborators; ``run`` returns all that was found, whatever stopped it."""

    formulation: Formulation
    pool: Pool
    master: Reoptimiser
    columns: Columns
    max_trees: int
    tol: float
    columns_per_iteration: int | None = 1
    """How many columns may enter at one iteration; None for all that improve."""
    held_out: HeldOut | None = None
    keep_best: bool = False
    """Keep the iteration with the best validation accuracy instead of the last one."""
    start: MasterSolution | None = None
    """The solution to begin from, where columns are held already."""
    stopping: Sequence[StoppingRule] = ()
    observers: Sequence[Observer] = ()
    trace: Trace = field(default_factory=Trace)
    _kept_programme: Programme | None = None
    """What the ensemble that is kept is the optimum of."""

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
                if reason != "time_limit":
                    self._certify_result()
                if reason == "certified" and not self.trace.certified:
                    reason = "converged"
            except KeyboardInterrupt:  # the ensemble is feasible, and its gap known, as it is
                reason = "interrupted"
        except MasterFailed as failure:
            reason = "solver_failed"
            self._accept_best(failure)
        del self.trace.learners[self.trace.n_recorded :]  # those that an interrupt or a failure left without weights
        return self.trace.stopped(reason)

    def _generate(self) -> str:
        """Add columns until there is a reason to stop."""
        guide = make_guide(self.formulation, self.columns.counts, self.tol)
        first = self.columns.with_sides(self.formulation.first_prices(self.columns.labels, self.columns.counts))
        u, threshold, is_settled = Prices(first, -np.inf, is_settled=False)
        solution = self.start
        if solution is not None:
            u, threshold, is_settled = OwnPrices.of(solution, self.tol)
        others: Iterator[MasterSolution] = iter(())
        n_fruitless, is_new = 0, False
        while self.columns.n_columns < self.max_trees:
            started = time.perf_counter()
            offers = self._priced(u)
            priced_at = time.perf_counter()
            if solution is not None and self.pool.is_exact:
                bound = self._bound(solution.programme, u, offers)
                if np.isfinite(bound):
                    self.trace.note_bound(self.formulation.objective_sign * bound)
                if self._meets(bound, solution.primal, solution.w, u):
                    return "certified"
            entering = self._entering(offers, u, threshold)
            n_fruitless = 0 if entering else n_fruitless + 1
            if not entering and is_settled:
                if n_fruitless < self.pool.n_rounds:
                    continue
                if is_new and solution is not None:
                    others, is_new = self._other_prices(solution), False
                other = next(others, None)
                if other is None:
                    return "converged"
                u, threshold, n_fruitless = other.u, other.threshold, 0
                continue
            if entering or solution is None or solution.gap > self.tol:
                solution, is_new = self._reoptimised(guide.needs_optimum), True
            if entering:
                self._record(solution, entering[0].edge, priced_at - started, time.perf_counter() - priced_at)
            reason = self._reason_to_stop()
            if reason is not None:
                return reason
            prices = guide.next(self.columns, solution, u)
            if prices is None:
                return "converged"
            u, threshold, is_settled = prices
        return "max_trees"

    def _reason_to_stop(self) -> str | None:
        """What the stopping rules say of the last ensemble; they are asked where no column is new as well."""
        last = self.trace.iterations[-1:]
        reasons = (rule.reason(record) for record in last for rule in self.stopping)
        return next(filter(None, reasons), None)

    def _priced(self, u: Vector) -> list[Offer]:
        """What the pool finds, each with its edge over all rows, the largest first."""
        sides, theta = self.columns.sides, u[self.columns.n_data :]
        offers = self.pool.price(self.formulation.pricing_weights(self.columns.seen(u)), sides.favour(theta))
        whole = [one._replace(edge=one.edge + sides.learner_part(theta, one.column.learner)) for one in offers]
        return sorted(whole, key=lambda offer: -offer.edge)

    def _reoptimised(self, to_the_end: bool) -> MasterSolution:
        solve = self.master.polish if to_the_end else self.master.solve
        return solve(self.columns, self._programme())

    def _entering(self, offers: Sequence[Offer], u: Vector, threshold: float) -> list[Offer]:
        """Append the offers that improve the master, the best first; what entered."""
        least = min(self.tol, EXACT_IMPROVEMENT) if self.pool.is_exact else self.tol
        most = min(self.columns_per_iteration or len(offers), self.max_trees - self.columns.n_columns)
        entered: list[Offer] = []
        for offer in offers:
            improves = offer.edge - threshold > least * np.abs(u).sum()
            votes, learner = offer.column.votes, offer.column.learner
            if len(entered) < most and improves and not self.columns.holds(votes, learner):
                self.columns.append(votes, learner)
                self.trace.learners.append(learner)
                if self.held_out is not None:
                    self.held_out.add(learner)
                entered.append(offer)
        return entered

    def _bound(self, programme: Programme, u: Vector, offers: Sequence[Offer]) -> float:
        """A bound on the optimum over all learners of the pool, where the offers are proven; else -inf."""
        if not self.pool.is_proven(offers) or self.formulation.pricing_weights(u) is not u:
            return -np.inf
        edges = self.columns.edges(u)
        return bound_over_class(programme, u, edges, offers[0].edge, self.pool.n_learners)

    def _meets(self, bound: float, primal: float, w: Vector, u: Vector) -> bool:
        size = max(float(np.abs(u).sum() * w.sum()), self._programme().size)
        return relative_gap(primal, bound, size) <= self.tol

    def _certify_result(self) -> None:
        """The bound of the ensemble that is kept, by one more pricing."""
        if not self.pool.is_exact or not self.trace.iterations:
            return
        w, u = self.trace.weights[self.trace.kept], self.trace.sample_weights
        self.columns.keep_first(len(w))
        sign, row = self.formulation.objective_sign, self.trace.result
        assert self._kept_programme is not None
        bound = self._bound(self._kept_programme, u, self._priced(u))
        if np.isfinite(row.bound):
            bound = max(bound, sign * row.bound)
        if np.isfinite(bound):
            self.trace.note_bound(sign * bound, self.trace.kept)
        self.trace.certified = self._meets(bound, sign * row.objective, w, u)

    def _programme(self) -> Programme:
        return self._programme_at(self.columns.n_columns)

    def _programme_at(self, n_columns: int) -> Programme:
        return self.formulation.programme_over(self.columns, n_columns)

    def _other_prices(self, solution: MasterSolution) -> Iterator[MasterSolution]:
        """Other sample weights to ask for where those of the master bring nothing new.

        First the extreme ones that the rows ask for, if they are optimal too: a degenerate dual has many. Then, while
        all rows ask for the most they may and the programme changes with the number of columns, those that the same
        ensemble has once more of them are held.
        """
        for factor in (1, 2, 4, 16):
            programme = solution.programme if factor == 1 else self._programme_at(factor * self.columns.n_columns)
            reached = programme.shifted(solution.margins, solution.rho)
            asked = programme.term.response(reached, programme.lower, programme.upper)
            other = certify(self.columns, programme, Candidate(solution.w, programme.feasible(asked), solution.rho))
            if factor > 1 or other.gap <= self.tol:
                yield other
            if not self.formulation.depends_on_columns or (asked < programme.upper).any():
                return

    def _record(self, solution: MasterSolution, edge: float, pricing: float, solving: float) -> None:
        """Note the ensemble after a new column."""
        record = Iteration(
            iteration=len(self.trace.iterations) + 1,
            edge=edge,
            pricing_seconds=pricing,
            master_seconds=solving,
            **self._figures(solution),
        )
        keep = not self.keep_best or self._improves(record.validation_accuracy)
        self.trace.append(solution.w, solution.u, record, keep)
        self._kept_programme = solution.programme if keep else self._kept_programme
        for observer in self.observers:
            observer(record)

    def _figures(self, solution: MasterSolution) -> dict[str, Any]:
        """What a solution says of itself and of the rows."""
        held = self.held_out
        return {
            "objective": self.formulation.objective_sign * solution.primal,
            "gap": solution.gap,
            "threshold": solution.threshold,
            "train_accuracy": self._accuracy(self.columns, self._scores(solution)),
            "validation_accuracy": np.nan if held is None else self.score(held, solution.w),
            "n_trees": n_used(solution.w),
            "n_generated": len(solution.w),
        }

    def _scores(self, solution: MasterSolution) -> Vector:
        return solution.margins[: self.columns.n_data] * self.columns.labels

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
        self._kept_programme = solution.programme

    def _accept_best(self, failure: MasterFailed) -> None:
        """No solver reached the tolerance: keep the best feasible ensemble and say so."""
        if failure.best is not None and len(self.trace.learners) > self.trace.n_recorded:
            self._record(failure.best, np.nan, np.nan, np.nan)
        elif failure.best is not None:
            self._replace_result(failure.best)
        elif not self.trace.iterations:
            raise failure
        warnings.warn(
            f"No solver reached a relative gap of {self.tol:g} with {self.columns.n_columns} columns "
            f"({failure}); the best feasible ensemble, with gap {self.trace.result.gap:.1e}, is returned. "
            "A larger tol or another C may help.",
            SolverWarning,
            stacklevel=5,
        )
