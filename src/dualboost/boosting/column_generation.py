"""Column generation: price a column, re-optimise every weight, repeat."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._typing import Vector
from ..arguments import warn_user
from ..deadlines import share_of_time, time_is_up, time_to_solve
from ..errors import GrowingError, InterruptedFitWarning, SolverWarning
from ..formulations.programme import Programme
from ..learners.base import PricedColumn
from ..learners.pool import Pool, ScoredColumn
from ..solvers import Candidate, Solution, SolverFailed, bound_over_class, certify, n_used, relative_gap
from ..solvers.base import size_of_product
from .context import FitContext
from .dual_strategies import OwnDuals, PricingDuals
from .history import EnsembleScores, HeldOut, Iteration, Trace
from .observers import StoppingRule, warn_of_grower

EXACT_IMPROVEMENT = 1e-9
"""With an exact pricer every improvement above rounding counts, so that the bound can meet the objective."""


@dataclass(frozen=True, eq=False)
class Pricing:
    """Asks the pool for columns, by edges over data rows and side rows."""

    fit_context: FitContext
    pool: Pool

    def offers(self, u: Vector, threshold: float, is_settled: bool) -> list[ScoredColumn]:
        """The columns that the pool finds, the largest edge first.

        If those that improve are held already, which is possible where the cost of a weight grows with it, others are
        asked for: at once where the pool knows the best one, else if there is nothing left to gain by the master.
        """
        theta = u[self.fit_context.columns.n_data :]
        feature_multiplier = self.fit_context.columns.sides.feature_multiplier(theta)
        residual = self.fit_context.operator.adjoint(
            self.fit_context.formulation.priced_duals(self.fit_context.columns.seen(u))
        )
        offers = [self._whole(one, theta) for one in self.pool.price(residual, feature_multiplier)]
        improving = [one for one in offers if self.gains(one, u, threshold)]
        if improving and (is_settled or self.pool.is_exact) and all(map(self.is_held, improving)):
            others = self.pool.others(residual, feature_multiplier)
            found = [self._first_new((self._whole(one, theta) for one in own), u, threshold) for own in others]
            new = [one for one in found if one is not None]
            offers = new if len(new) == len(offers) else [*offers, *new]  # a bound is one for the class of each pricer
        return sorted(offers, key=lambda offer: -offer.edge)

    def _whole(self, offer: ScoredColumn, theta: Vector) -> ScoredColumn:
        """The offer with its edge over data rows and side rows."""
        return offer._replace(
            edge=offer.edge + self.fit_context.columns.sides.learner_part(theta, offer.column.learner)
        )

    def _first_new(self, offers: Iterator[ScoredColumn], u: Vector, threshold: float) -> ScoredColumn | None:
        """The first offer that is not held and improves; if none improves, or time is up, the best that is not held."""
        best: ScoredColumn | None = None
        for offer in offers:
            if time_is_up(self.fit_context.rows.workers):
                return best
            if self.is_held(offer):
                continue
            if best is None or offer.edge > best.edge:
                best = offer
            if offer.column.is_proven or self.gains(offer, u, threshold):
                return best
        return best

    def is_held(self, offer: ScoredColumn) -> bool:
        return self.fit_context.columns.holds(self.fit_context.operator.apply(offer.column.votes), offer.column.learner)

    def gains(self, offer: ScoredColumn, u: Vector, threshold: float) -> bool:
        """Whether the edge exceeds the threshold by more than rounding, or by more than the tolerance."""
        tolerance = self.fit_context.precision.tolerance
        least = min(tolerance, EXACT_IMPROVEMENT) if self.pool.is_exact else tolerance
        return offer.edge - threshold > least * self.fit_context.rows.total(np.abs(u))


# The loop knows its parts only by their protocols: a ``Pool`` of pricers finds columns, a ``Reoptimiser`` re-
# optimises the weights (to the optimum, or only as far as the next pricing needs), a ``Guide`` chooses the duals to
# price with, and stopping rules and observers are told of every iteration. ``wiring.py`` puts the parts together.

Observer = Callable[[Iteration], None]

GROWING = 0.6
"""The share of the time for the generation of columns; the rest is for the optimum over them."""


@dataclass
class ColumnGeneration:
    """The loop; ``run`` returns all that was found, whatever stopped it."""

    fit_context: FitContext
    max_trees: int
    most_entering: int | None = 1
    """How many columns may enter at one iteration; None for all that improve."""
    held_out: HeldOut | None = None
    scores_each: bool = True
    """Score every iteration on the held-out rows; without, only the votes on them are kept."""
    keep_best: bool = False
    """Keep the iteration with the best validation score instead of the last one."""
    is_last: bool = False
    """Whether no other fit follows, so that the optimum at the end may take longer than the time limit."""
    start: Solution | None = None
    """The solution to begin from, where columns are held already."""
    earlier: Sequence[PricedColumn] = ()
    """Columns of an earlier fit, to begin with."""
    stopping: Sequence[StoppingRule] = ()
    observers: Sequence[Observer] = ()
    trace: Trace = field(default_factory=Trace)
    _kept_programme: Programme | None = None
    """The programme whose optimum is the ensemble that is kept."""

    def __post_init__(self) -> None:
        self.formulation, self.columns = self.fit_context.formulation, self.fit_context.columns
        assert self.fit_context.pool is not None, "somebody must find the columns"
        self.solver, self.pool, self.rows = self.fit_context.solver, self.fit_context.pool, self.fit_context.rows
        self.pricing, self.scores = Pricing(self.fit_context, self.pool), EnsembleScores(self.fit_context)
        self.tol = self.fit_context.precision.tolerance

    def run(self) -> Trace:
        try:
            try:
                with share_of_time(GROWING):
                    reason = self._generate()
            except KeyboardInterrupt:
                if not self.trace.iterations:
                    raise
                reason = "interrupted"
                self.solver.forget()  # the interrupt may have left the master in an inconsistent state
                warnings.warn(
                    f"fit was interrupted; the ensemble of {len(self.trace.iterations)} iterations is returned.",
                    InterruptedFitWarning,
                    stacklevel=4,
                )
            except GrowingError as failure:
                if not self.trace.iterations:
                    raise
                reason = "grower_failed"
                warn_of_grower(failure, len(self.trace.iterations))
            try:
                with time_to_solve() if self.is_last else nullcontext():
                    self._polish(is_cut_short=reason == "time_limit")
                if reason != "time_limit" and not self._is_late:
                    self._certify_result()
                if self._is_late and self.trace.iterations and self.trace.result.gap > self.tol:
                    reason = "time_limit"
                if reason == "certified" and not self.trace.certified:
                    reason = "converged"
            except KeyboardInterrupt:  # the ensemble is feasible and its gap is known without the polish
                reason = "interrupted"
        except SolverFailed as failure:
            reason = "time_limit" if self._is_late else "solver_failed"
            self._accept_best(failure, is_told=reason == "solver_failed")
        del self.trace.learners[self.trace.n_recorded :]  # an interrupt or a failure left these without weights
        return self.trace.stopped(reason)

    @property
    def _is_late(self) -> bool:
        return time_is_up(self.rows.workers)

    def _generate(self) -> str:
        """Add columns until there is a reason to stop."""
        dual_strategy = self.fit_context.dual_strategy()
        self._take_up()
        u, threshold, is_settled = self._first_duals()
        solution = self.start
        others: Iterator[Solution] = iter(())
        n_fruitless, is_new = 0, bool(self.earlier)
        while self.columns.n_columns < self.max_trees:
            if solution is not None and self._is_late:
                return "time_limit"
            started = time.perf_counter()
            offers = self.pricing.offers(u, threshold, is_settled)
            priced_at = time.perf_counter()
            if solution is not None and self._proves(solution, u, offers):
                return "certified"
            entering = self._entering(offers, u, threshold)
            n_fruitless = 0 if entering else n_fruitless + 1
            if not entering and is_settled:
                if n_fruitless < self.pool.n_rounds:
                    continue
                if is_new and solution is not None:
                    others, is_new = self._other_duals(solution), False
                other = next(others, None)
                if other is None:
                    return "converged"
                u, threshold, n_fruitless = other.u, other.threshold, 0
                continue
            if entering or solution is None or solution.gap > self.tol:
                solution, is_new = self._reoptimised(dual_strategy.needs_optimum), True
            if entering:
                self._record(solution, entering[0].edge, priced_at - started, time.perf_counter() - priced_at)
            reason = self._reason_to_stop()
            if reason is not None:
                return reason
            duals = dual_strategy.next(self.columns, solution, u)
            if duals is None:
                return "converged"
            u, threshold, is_settled = duals
        return "max_trees"

    def _take_up(self) -> None:
        """Begin with the columns of an earlier fit, whose ensemble is the first that is recorded."""
        if not self.earlier:
            return
        started = time.perf_counter()
        for column in self.earlier:
            self._append(column._replace(votes=self.rows.put(column.votes)))
        self.start = self._reoptimised(to_the_end=True)
        self._record(self.start, np.nan, 0.0, time.perf_counter() - started)

    def _append(self, column: PricedColumn) -> None:
        self.columns.append(self.fit_context.operator.apply(column.votes), column.learner)
        self.trace.learners.append(column.learner)
        if self.held_out is not None:
            self.held_out.add(column.learner)

    def _first_duals(self) -> PricingDuals:
        """The duals of the solution to begin from; without one, duals under which any column improves."""
        if self.start is not None:
            return OwnDuals.of(self.start, self.tol)
        u = self.columns.with_sides(self.fit_context.operator.divided(self.formulation.first_duals(self.rows)))
        return PricingDuals(u, -np.inf, is_settled=False)

    def _reason_to_stop(self) -> str | None:
        """What the stopping rules answer for the last ensemble; they are asked even if no column is new."""
        last = self.trace.iterations[-1:]
        reasons = (rule.reason(record) for record in last for rule in self.stopping)
        return next(filter(None, reasons), "time_limit" if last and self._is_late else None)

    def _reoptimised(self, to_the_end: bool) -> Solution:
        solve = self.solver.polish if to_the_end else self.solver.solve
        return solve(self.columns, self.fit_context.programme())

    def _entering(self, offers: Sequence[ScoredColumn], u: Vector, threshold: float) -> list[ScoredColumn]:
        """Append the offered columns that improve the master, the best first; returns those that entered."""
        most = min(self.most_entering or len(offers), self.max_trees - self.columns.n_columns)
        entered: list[ScoredColumn] = []
        for offer in offers:
            if len(entered) < most and self.pricing.gains(offer, u, threshold) and not self.pricing.is_held(offer):
                self._append(offer.column)
                entered.append(offer)
        return entered

    def _proves(self, solution: Solution, u: Vector, offers: Sequence[ScoredColumn]) -> bool:
        """Whether a pricing proves that no learner of the class improves the solution; notes the bound it gives."""
        if not self.pool.is_exact:
            return False
        bound = self._bound(solution.programme, u, offers)
        if np.isfinite(bound):
            self.trace.note_bound(self.formulation.objective_sign * bound)
        return self._meets(bound, solution.primal, solution.w, u)

    def _bound(self, programme: Programme, u: Vector, offers: Sequence[ScoredColumn]) -> float:
        """A lower bound on the optimum over all learners of the pool, if the offers are proven; else -inf."""
        if not self.pool.is_proven(offers) or not self.formulation.prices_all_duals:
            return -np.inf
        edges = self.columns.edges(u)
        return bound_over_class(programme, u, edges, offers[0].edge, self.pool.n_learners)

    def _meets(self, bound: float, primal: float, w: Vector, u: Vector) -> bool:
        size = max(size_of_product(w, self.rows.total(np.abs(u))), self.fit_context.programme().size)
        return relative_gap(primal, bound, size) <= self.tol

    def _certify_result(self) -> None:
        """Compute a bound for the ensemble that is kept, by one more pricing."""
        if not self.pool.is_exact or not self.trace.iterations:
            return
        w, u = self.trace.weights[self.trace.kept], self.trace.duals
        self.columns.keep_first(len(w))
        sign, row = self.formulation.objective_sign, self.trace.result
        assert self._kept_programme is not None
        threshold = self._kept_programme.weight_set.threshold(self.columns.edges(u))
        bound = self._bound(self._kept_programme, u, self.pricing.offers(u, threshold, is_settled=True))
        if np.isfinite(row.bound):
            bound = max(bound, sign * row.bound)
        if np.isfinite(bound):
            self.trace.note_bound(sign * bound, self.trace.kept)
        self.trace.certified = self._meets(bound, sign * row.objective, w, u)

    def _other_duals(self, solution: Solution) -> Iterator[Solution]:
        """Other duals to price with when the master's own duals lead to no new column.

        The first are the responses of the rows to their margins, if these are optimal too: a degenerate dual has many
        optima. If the programme changes with the number of columns, and as long as every response is at its upper
        bound, the next are the responses in the programme for 2, 4 and 16 times as many columns.
        """
        for factor in (1, 2, 4, 16):
            programme = (
                solution.programme if factor == 1 else self.fit_context.programme(factor * self.columns.n_columns)
            )
            asked = programme.response(solution.margins, solution.rho)
            other = certify(self.columns, programme, Candidate(solution.w, programme.feasible(asked), solution.rho))
            if factor > 1 or other.gap <= self.tol:
                yield other
            if not self.formulation.depends_on_columns or not programme.is_saturated(asked):
                return

    def _record(self, solution: Solution, edge: float, pricing: float, solving: float) -> None:
        """Record the ensemble after a new column."""
        record = Iteration(
            iteration=len(self.trace.iterations) + 1,
            edge=edge,
            pricing_seconds=pricing,
            solver_seconds=solving,
            **self._figures(solution),
        )
        keep = not self.keep_best or self._improves(record.validation_score)
        self.trace.append(solution.w, self.scores.intercept(solution), solution.u, record, keep)
        self._kept_programme = solution.programme if keep else self._kept_programme
        for observer in self.observers:
            observer(record)

    def _figures(self, solution: Solution) -> dict[str, Any]:
        """The figures of a solution for the record of an iteration."""
        intercept = self.scores.intercept(solution)
        scores = self.scores.of_margins(solution.margins, solution.w, intercept)
        held = self.held_out if self.scores_each else None
        return {
            "objective": self.formulation.objective_sign * solution.primal,
            "gap": solution.gap,
            "threshold": solution.threshold,
            "train_score": self.fit_context.target.quality(scores, self.fit_context.targets, self.rows),
            "validation_score": np.nan if held is None else self.scores.judged(held, solution.w, intercept),
            "n_trees": n_used(solution.w),
            "n_generated": len(solution.w),
        }

    def _improves(self, validated: float) -> bool:
        return not self.trace.iterations or validated > self.trace.result.validation_score

    def _polish(self, is_cut_short: bool) -> None:
        """Solve the master of the iteration that is kept to the optimum, if that was not done yet."""
        if not self.trace.iterations:
            return
        if self.solver.is_exact and not (is_cut_short and self.trace.result.gap > self.tol):
            return
        if self.keep_best:
            self._polish_best()
        else:
            self.columns.keep_first(self.trace.n_recorded)
            solution = self.solver.polish(self.columns, self.fit_context.programme())
            if not self._is_worse(solution):
                self._replace_result(solution)

    def _is_worse(self, solution: Solution) -> bool:
        """Whether the time did not even suffice for a solution as good as the one that is kept."""
        return self._is_late and solution.gap > self.trace.result.gap

    def _polish_best(self) -> None:
        """Polish the iteration with the best score until that is one which is polished: polishing changes the score."""
        polished: dict[int, Solution] = {}
        while (best := self.trace.best) not in polished:
            solution = self._polished(best)
            if polished and self._is_late:
                best = max(polished, key=lambda k: self.trace.iterations[k].validation_score)
                break
            if self._is_worse(solution):
                return
            polished[best] = solution
            self.trace.kept = best
            self._replace_result(polished[best])
        self.trace.kept = best
        self._replace_result(polished[best])

    def _polished(self, iteration: int) -> Solution:
        """The optimum over the columns of one iteration."""
        part = self.columns.subset(np.arange(len(self.trace.weights[iteration])))
        self.solver.forget()
        try:
            return self.solver.polish(part, replace(self.fit_context, columns=part).programme())
        except SolverFailed as failure:
            if failure.best is not None:  # it takes the place of what is kept
                self.trace.kept = iteration
            raise

    def _replace_result(self, solution: Solution) -> None:
        record = replace(self.trace.result, **self._figures(solution))
        self.trace.replace_result(solution.w, self.scores.intercept(solution), solution.u, record)
        self._kept_programme = solution.programme

    def _unsolved(self) -> Solution:
        """A feasible ensemble of the columns held, which no solver had a part in: equal weights."""
        programme, n_columns = self.fit_context.programme(), self.columns.n_columns
        w, rho = np.full(n_columns, 1.0 / n_columns), np.zeros_like(programme.right_side)
        return certify(self.columns, programme, Candidate(w, self._first_duals().u, rho))

    def _accept_best(self, failure: SolverFailed, is_told: bool) -> None:
        """Keep the best feasible ensemble, with a warning if asked for, because no solver reached the tolerance."""
        if failure.best is not None and len(self.trace.learners) > self.trace.n_recorded:
            self._record(failure.best, np.nan, np.nan, np.nan)
        elif failure.best is not None:
            self._replace_result(failure.best)
        elif not self.trace.iterations:
            self._record(self._unsolved(), np.nan, np.nan, np.nan)
        if is_told:
            warn_user(
                f"No solver reached a relative gap of {self.tol:g} with {self.columns.n_columns} columns "
                f"({failure}); the best feasible ensemble, with gap {self.trace.result.gap:.1e}, is returned. "
                "A larger tol or another C may help.",
                SolverWarning,
            )
