"""Column generation: price a column, re-optimise every weight, repeat."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._typing import Vector
from ..deadlines import share_of_time, time_is_up
from ..formulations.programme import Programme
from ..learners import Pool, ScoredColumn
from ..learners.base import PricedColumn
from ..matrix.rows import Rows
from ..solvers import Candidate, Solution, SolverFailed, bound_over_class, certify, relative_gap
from ..solvers.base import size_of_product
from ..targets.scoring import ScoredRows
from .context import WeightFitContext
from .dual_strategies import OwnDuals, PricingDuals
from .generation import Generation
from .history import HeldOut, WeightStage, scored_rows

EXACT_IMPROVEMENT = 1e-9
"""With an exact pricer every improvement above rounding counts, so that the bound can meet the objective."""


@dataclass(frozen=True, eq=False)
class Pricing:
    """Finds columns in the pool, by edges over data rows and side rows."""

    fit_context: WeightFitContext
    pool: Pool

    def offers(self, u: Vector, threshold: float, is_settled: bool) -> list[ScoredColumn]:
        """The columns that the pool finds, the largest edge first.

        Where the cost of a weight grows with it, the columns that improve may be held already. Then the pool finds
        others: at once where it is exact, else once the duals are settled.
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
            offers = new if len(new) == len(offers) else [*offers, *new]  # a bound needs an offer of each pricer
        return sorted(offers, key=lambda offer: -offer.edge)

    def _whole(self, offer: ScoredColumn, theta: Vector) -> ScoredColumn:
        """The offer with its edge over data rows and side rows."""
        return offer._replace(
            edge=offer.edge + self.fit_context.columns.sides.learner_part(theta, offer.column.learner)
        )

    def _first_new(self, offers: Iterator[ScoredColumn], u: Vector, threshold: float) -> ScoredColumn | None:
        """The first new offer that improves; if none improves, or time is up, the best new one."""
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


GROWING = 0.6
"""The share of the time for the generation of columns; the rest is for the optimum over them."""


@dataclass
class ColumnGeneration(Generation):
    """The loop over weights."""

    fit_context: WeightFitContext
    most_entering: int | None = 1
    """How many columns may enter at one iteration; None for all that improve."""
    start: Solution | None = None
    """The solution to begin from, where columns are held already."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.formulation, self.columns = self.fit_context.formulation, self.fit_context.columns
        assert self.fit_context.pool is not None, "column generation needs pricers"
        self.solver, self.pool = self.fit_context.solver, self.fit_context.pool
        self.pricing = Pricing(self.fit_context, self.pool)

    def _generate(self) -> str:
        with share_of_time(GROWING):
            return self._add_columns()

    def _add_columns(self) -> str:
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
                seconds = priced_at - started, time.perf_counter() - priced_at
                self._record_solution(solution, entering[0].edge, *seconds)
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
        self._record_solution(self.start, np.nan, 0.0, time.perf_counter() - started)

    def _append(self, column: PricedColumn) -> None:
        self.columns.append(self.fit_context.operator.apply(column.votes), column.learner)
        self.trace.learners.append(column.learner)
        if self.held_out is not None:
            self.held_out.add(column.learner)

    def _first_duals(self) -> PricingDuals:
        """The duals of the first solution; without one, duals under which any column improves."""
        if self.start is not None:
            return OwnDuals.of(self.start, self.tol)
        u = self.columns.with_sides(self.fit_context.operator.divided(self.formulation.first_duals(self.rows)))
        return PricingDuals(u, -np.inf, is_settled=False)

    def _reoptimised(self, to_the_end: bool) -> Solution:
        solve = self.solver.polish if to_the_end else self.solver.solve
        return solve(self.columns, self.fit_context.programme())

    def _entering(self, offers: Sequence[ScoredColumn], u: Vector, threshold: float) -> list[ScoredColumn]:
        """Append the offered columns that improve the optimum, the best first, and return them."""
        most = min(self.most_entering or len(offers), self.max_trees - self.columns.n_columns)
        entered: list[ScoredColumn] = []
        for offer in offers:
            if len(entered) < most and self.pricing.gains(offer, u, threshold) and not self.pricing.is_held(offer):
                self._append(offer.column)
                entered.append(offer)
        return entered

    def _proves(self, solution: Solution, u: Vector, offers: Sequence[ScoredColumn]) -> bool:
        """Whether a pricing proves that no learner of the class improves the solution; records its bound."""
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

    def _certify(self) -> None:
        if not self.pool.is_exact or not self.trace.iterations:
            return
        w, u, solution = self.trace.result_stage.weights, self.trace.duals, self.trace.solution
        self.columns.keep_first(len(w))
        sign, row = self.formulation.objective_sign, self.trace.result
        assert solution is not None
        threshold = solution.programme.weight_set.threshold(self.columns.edges(u))
        bound = self._bound(solution.programme, u, self.pricing.offers(u, threshold, is_settled=True))
        if np.isfinite(row.bound):
            bound = max(bound, sign * row.bound)
        if np.isfinite(bound):
            self.trace.note_bound(sign * bound, self.trace.kept)
        self.trace.certified = self._meets(bound, sign * row.objective, w, u)

    def _other_duals(self, solution: Solution) -> Iterator[Solution]:
        """Other duals to price with when the solver's own duals lead to no new column.

        The first are the responses of the rows to their margins, if these are optimal too: a degenerate dual has many
        optima. If the programme changes with the number of columns, the next are the responses in the programme for
        2, 4 and 16 times as many columns, as long as every response is at its upper bound.
        """
        for factor in (1, 2, 4, 16):
            n_columns = factor * self.columns.n_columns
            programme = solution.programme if factor == 1 else self.fit_context.programme(n_columns)
            response = programme.response(solution.margins, solution.rho)
            other = certify(self.columns, programme, Candidate(solution.w, programme.feasible(response), solution.rho))
            if factor > 1 or other.gap <= self.tol:
                yield other
            if not self.formulation.depends_on_columns or not programme.is_saturated(response):
                return

    def _recover(self, reason: str) -> None:
        if reason == "interrupted":
            self.solver.forget()  # the interrupt may have left the solver in an inconsistent state

    def _finished(self, reason: str) -> str:
        try:
            return super()._finished(reason)
        except KeyboardInterrupt:  # the ensemble is feasible and its gap is known without the polish
            return "interrupted"

    def _conclude(self) -> None:
        del self.trace.learners[self.trace.n_recorded :]  # an interrupt or a failure left these without weights
        self.trace.n_generated = len(self.trace.learners)

    def _record_solution(self, solution: Solution, edge: float, pricing: float, solving: float) -> None:
        self._record(self._stage(solution), self._figures_of(solution), edge, pricing, solving, solution)

    def _stage(self, solution: Solution) -> WeightStage:
        return WeightStage(solution.w, self.intercept(solution))

    def _figures_of(self, solution: Solution) -> dict[str, Any]:
        w, intercept = self._stage(solution)
        scores = self._scores_in_training(solution.margins, w, intercept)
        scored = partial(self.scored, w=w, intercept=intercept)
        figures = self._figures(solution.primal, solution.gap, scores, w, scored)
        return figures | {"threshold": solution.threshold, "n_generated": len(w)}

    def intercept(self, solution: Solution) -> float:
        """The multiplier of the free intercept, the last one of the equations.

        Where no tree has a weight and all targets are zero, the intercept is zero: under a tube other numbers are
        optimal too, but they differ from y.
        """
        targets = self.fit_context.targets
        if not self.fit_context.has_intercept or not (solution.w.any() or self.rows.any(targets != 0)):
            return 0.0
        return float(solution.rho[-1])

    def scored(self, held_out: HeldOut, w: Vector, intercept: float) -> ScoredRows:
        """The held-out rows with their scores under the weights w."""

        def scores_in_training() -> Vector:
            padded = np.pad(w, (0, self.columns.n_columns - len(w)))
            return self._scores_in_training(self.columns.margins(padded), w, intercept)

        scores = self._finished_scores(held_out.scores(w), w, intercept, held_out.rows)
        return scored_rows(self.fit_context, held_out, scores, scores_in_training)

    def _scores_in_training(self, margins: Vector, w: Vector, intercept: float) -> Vector:
        scores = self.fit_context.operator.scores(margins[: self.columns.n_data])
        return self._finished_scores(scores, w, intercept, self.rows)

    def _finished_scores(self, scores: Vector, w: Vector, intercept: float, rows: Rows) -> Vector:
        """The scores with the intercept, or divided by the sum of the weights; the baseline if all are zero."""
        if not self.fit_context.has_normalised_scores:
            return scores + intercept
        if not rows.any(scores != 0):
            return np.full_like(scores, self.fit_context.target.baseline(self.fit_context.targets, self.rows))
        return scores / w.sum()

    def _polish(self, reason: str) -> None:
        """Solve the programme of the iteration that is kept to the optimum, if that was not done yet."""
        if not self.trace.iterations:
            return
        is_cut_short = reason == "time_limit" and self.trace.result.gap > self.tol
        if self.solver.is_exact and not is_cut_short:
            return
        if self.keep_best:
            self._polish_best()
            return
        self.columns.keep_first(self.trace.n_recorded)
        self._revise(self.trace.kept, self.solver.polish(self.columns, self.fit_context.programme()))

    def _polished(self, k: int) -> Solution | None:
        part = self.columns.subset(np.arange(len(self.trace.weights[k])))
        self.solver.forget()
        try:
            solution = self.solver.polish(part, replace(self.fit_context, columns=part).programme())
        except SolverFailed as failure:
            if failure.best is not None:  # it takes the place of the iteration that is kept
                self.trace.kept = k
            raise
        return solution if self._revise(k, solution) else None

    def _revise(self, k: int, solution: Solution) -> bool:
        """Put the solution into the trace, unless time is up and the result so far has a smaller gap."""
        if self._is_late and solution.gap > self.trace.result.gap:
            return False
        self.trace.revise(k, self._stage(solution), solution, self._figures_of(solution))
        return True

    @property
    def _held(self) -> str:
        return f"with {self.columns.n_columns} columns"

    def _unsolved(self) -> Solution:
        """A feasible ensemble of the columns held without a solver: equal weights."""
        programme, n_columns = self.fit_context.programme(), self.columns.n_columns
        w, rho = np.full(n_columns, 1.0 / n_columns), np.zeros_like(programme.right_side)
        return certify(self.columns, programme, Candidate(w, self._first_duals().u, rho))

    def _accept_best(self, best: Solution | None) -> None:
        if best is not None and len(self.trace.learners) > self.trace.n_recorded:
            self._record_solution(best, np.nan, np.nan, np.nan)
        elif best is not None:
            self.trace.revise(self.trace.kept, self._stage(best), best, self._figures_of(best))
        elif not self.trace.iterations:
            self._record_solution(self._unsolved(), np.nan, np.nan, np.nan)
