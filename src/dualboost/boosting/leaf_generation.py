"""The loop over leaves: grow, eliminate, regrow."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from .._typing import Scores, Vector
from ..deadlines import is_affordable, share_of_time
from ..learners.newton_trees import GrownTree
from ..learners.stump_exchange import StumpExchange
from ..solvers import Solution
from ..solvers.leaf_elimination import ELIMINATED_AT_ONCE, Elimination, operations_of_elimination
from ..solvers.leaf_solvers import certificate_of, leaf_solver_of
from ..targets.scoring import ScoredRows
from .generation import Generation
from .history import HeldOut, LeafCache, scored_rows
from .leaf_context import LeafEnsemble, LeafFitContext, LeafStage, part

# Grow a tree from the gradient and the curvature of the loss, re-optimise every leaf of every tree, repeat. More than
# ``max_trees`` trees are grown. Then the trees with the least effect are eliminated, and each tree that remains is
# grown once more against all others, and kept if the objective falls. Stumps under the squared loss are exchanged
# instead. At the end all leaves are solved to the duality gap.
#
# Under "logistic", trees are grown at the nearest of three values of C, and C itself decides the values of their
# leaves. Trees grown at each C were no better, and tuning is cheap where values of C share trees.

GROWING, OVERGROWING, EXCHANGING = 0.5, 0.2, 0.4
"""The shares of the time left: for growing ``max_trees`` trees, for growing more, and for eliminating and regrowing
them. The rest is for the optimum over their leaves."""
LEAST_FALL = 1e-6
"""A tree enters if the objective falls by more than this share of it, whatever the tolerance: a path of C, which solves
leaves loosely, must grow the trees of the final fit."""


def exchanger_of(fit_context: LeafFitContext) -> StumpExchange | None:
    """The exchange of stumps of the grower; None without one, or under another loss than the squared one.

    None too where stumps are grown on samples of the rows, since an exchange uses all of them.
    """
    stumps: StumpExchange | None = getattr(fit_context.grower, "stumps", None)
    sees_all_rows = fit_context.samples.share == 1.0
    return stumps if sees_all_rows and fit_context.formulation.effort(fit_context.rows).exchanges_stumps else None


@dataclass
class LeafGeneration(Generation):
    """The loop over leaves; trees of an earlier fit stay, and only the values of their leaves change.

    With ``keep_best``, iterations with more than ``max_trees`` trees are not scored.
    """

    fit_context: LeafFitContext
    is_shared: bool = False
    """Whether several values of C share the trees, each with exchanges of stumps of its own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        programme = self.fit_context.growing.programme
        self.ensemble = LeafEnsemble(leaf_solver_of(programme).start(programme, self.fit_context.columns))
        self._effort = self.fit_context.formulation.effort(self.rows)
        self._stumps = exchanger_of(self.fit_context)
        self._cache = LeafCache(self.held_out.X if self.held_out is not None else np.empty((0, 1)))
        self._n_grown, self._grown_at, self._pricing_seconds = len(self.earlier), time.perf_counter(), 0.0

    @property
    def most_grown(self) -> int:
        """How many trees are grown before elimination."""
        if self._stumps is not None:
            return self.max_trees
        n_earlier = len(self.earlier)
        return n_earlier + ceil(self._effort.overgrowth * (self.max_trees - n_earlier))

    def _generate(self) -> str:
        with share_of_time(GROWING):
            self._start()
            reason = self._grow(min(self.max_trees, self.most_grown))
        if reason == "max_trees":
            with share_of_time(OVERGROWING):
                reason = self._grow(self.most_grown)
        with share_of_time(EXCHANGING):
            return self._exchanged_after(reason)

    def _start(self) -> None:
        # Begin at the class balance: else the first tree would have to make up for the intercept, and where classes
        # are unequal no split of it might be worth the ridge.
        self._optimise(self.fit_context)
        self._unit = self.fit_context.unit(self.ensemble.point)
        self._take_up()

    def _exchanged_after(self, reason: str) -> str:
        """Eliminate and regrow trees; returns why growing ended, given why it ended before."""
        if reason == "no_improvement":
            self.ensemble.restore(self.trace.stages[self.trace.best])
        if len(self.ensemble.held) > self.max_trees:
            self._eliminate(self.max_trees)
            self._note(np.nan)
        if reason not in ("max_trees", "converged", "no_improvement"):
            return reason
        if self._stumps is not None:
            if not self.is_shared:
                self._note(self._exchanged(self._stumps, self.fit_context))
            return reason
        sweeps = (self._regrow() for _ in range(self._effort.n_regrown))
        return next(filter(None, sweeps), reason)

    def _exchanged(self, stumps: StumpExchange, fit_context: LeafFitContext) -> float:
        """Exchange stumps at the C of a context, with leaves at the optimum; returns the decrease of the objective.

        The stumps of an earlier fit stay.
        """
        ensemble = self.ensemble
        ensemble.move_to(fit_context.programme)
        self._optimise(fit_context)
        before, stage, columns = ensemble.point, ensemble.stage(), ensemble.columns
        if not ensemble.held or any(ensemble.grown[j].tree.n_leaves != 2 for j in ensemble.held):
            return 0.0
        unit = fit_context.unit(before)
        curvature, least = unit * before.curvature, unit * LEAST_FALL * abs(before.objective)
        pull = unit * before.residual + curvature * before.scores
        goes_left = [columns.leaves(k) == 0 for k in range(columns.n_trees)]
        found = stumps.exchanged(goes_left, pull, curvature, unit * before.ridge, least, len(self.earlier))
        for place, grown in found.items():
            ensemble.put(place, grown)
        self._optimise(fit_context)
        if ensemble.point.objective > before.objective:  # rounding, where hardly anything was left to gain
            ensemble.restore(stage)
            ensemble.point = before
        return float(before.objective - ensemble.point.objective)

    def _optimise(self, fit_context: LeafFitContext) -> Solution:
        self.ensemble.point, solution = fit_context.optimum(self.ensemble.point)
        return solution

    def _take_up(self) -> None:
        """Begin with the trees of an earlier fit, whose ensemble is the first that is recorded."""
        if not self.earlier:
            return
        for grown in self.earlier:
            self.ensemble.enter(grown._replace(leaves=self.rows.put(grown.leaves)))
        self._optimise(self.fit_context)
        self._note(np.nan)

    def _grow(self, n_trees: int) -> str:
        while len(self.ensemble.held) < n_trees:
            point = self.ensemble.point
            grown = self._grown_for(point.residual, point.curvature)
            if grown is None:
                return "converged"
            self.ensemble.enter(grown)
            self.ensemble.point = self.fit_context.improved(self.ensemble.point)
            reason = self._note(self._fall(grown, point.residual, point.curvature))
            if reason is not None:
                return reason
        return "max_trees"

    def _eliminate(self, n_trees: int) -> None:
        """Remove the trees with the least effect, a third at a time, until so many are left."""
        while len(self.ensemble.held) > n_trees:
            n_operations = operations_of_elimination(self.ensemble.columns.n_columns)
            if self._is_late or not is_affordable(n_operations, self.rows.workers):
                self.ensemble.restore(self._strongest(n_trees))
                return
            stage, n_held = self.ensemble.stage(), len(self.ensemble.held)
            elimination = Elimination(self.ensemble.point)
            elimination.remove_down_to(max(n_trees, int(n_held * (1 - ELIMINATED_AT_ONCE))), len(self.earlier))
            self.ensemble.restore(_some(stage, elimination))
            self.ensemble.point = self.fit_context.improved(self.fit_context.improved(self.ensemble.point))

    def shrink_to(self, n_trees: int) -> None:
        """Keep at most so many of the trees, with the best values for their leaves, as ``run`` has left them."""
        if len(self.ensemble.held) > n_trees:
            self._eliminate(n_trees)
            self._optimise(self.fit_context)

    def value_at(self, C: float) -> None:
        """Give the leaves of the trees held the best values for another C, and exchange stumps for it."""
        fit_context = self.fit_context.at(C)
        if self._stumps is not None:
            self._exchanged(self._stumps, fit_context)
        else:
            self.ensemble.move_to(fit_context.programme)
            self._optimise(fit_context)

    def _regrow(self) -> str | None:
        """Grow each tree once more against all others, the weakest first; returns why that ended early, if it did."""
        for j in self._weakest_first():
            if self._is_late:
                return "time_limit"
            k, before, stage = self.ensemble.held.index(j), self.ensemble.point, self.ensemble.stage()
            without = self.ensemble.without(k)
            grown = self._grown_for(without.residual, without.curvature)
            if grown is None:
                continue
            self.ensemble.put(k, grown)
            self.ensemble.point = self.fit_context.improved(self.ensemble.point, newest=k)
            if self.ensemble.point.objective >= before.objective:
                self.ensemble.undo(stage, before)
                continue
            reason = self._note(before.objective - self.ensemble.point.objective)
            if reason not in (None, "no_improvement"):
                return reason
        return None

    def _weakest_first(self) -> list[int]:
        """The trees held without the trees of an earlier fit, in the order of how much they move the scores."""
        columns, values = self.fit_context.columns, self.ensemble.stage().values
        moves = [self.rows.dot(columns.values_of_rows(k, _size(own)), self.rows.counts) for k, own in enumerate(values)]
        weakest = [self.ensemble.held[k] for k in np.argsort(moves, kind="stable").tolist()]
        return [j for j in weakest if j >= len(self.earlier)]

    def _strongest(self, n_trees: int) -> LeafStage:
        """The stage with so many trees: the trees of an earlier fit, and the trees that move the scores most."""
        stage, held = self.ensemble.stage(), self.ensemble.held
        left = set(held) - set(self._weakest_first()[: len(held) - n_trees])
        kept = [k for k, j in enumerate(held) if j in left]
        return LeafStage(tuple(held[k] for k in kept), tuple(stage.values[k] for k in kept), stage.intercept)

    def _grown_for(self, residual: Vector, curvature: Vector) -> GrownTree | None:
        """A tree that lowers the objective, grown on a sample of the rows, and on all of them where that finds none."""
        self._grown_at = time.perf_counter()
        self._n_grown += 1
        point, grown, rows = self.ensemble.point, None, self.rows
        for mask, share in self.fit_context.samples.draws():
            drawn = None if mask is None else rows.put(mask)
            pull, curve = (self._unit * part(values, drawn) for values in (residual, curvature))
            offer = self.fit_context.grower.grow(pull, curve, self._unit * share * point.ridge)
            least = LEAST_FALL * abs(point.objective)
            if offer is not None and self._fall(offer, residual, curvature) > least:
                grown = offer
                break
        self._pricing_seconds, self._grown_at = time.perf_counter() - self._grown_at, time.perf_counter()
        return grown

    def _fall(self, grown: GrownTree, residual: Vector, curvature: Vector) -> float:
        """How much the objective falls, to second order, by the leaves of this tree alone."""
        rows = self.rows
        return grown.objective_decrease(residual, curvature, self.ensemble.point.ridge, rows.workers, rows.device)

    def _note(self, objective_decrease: float) -> str | None:
        """Record the ensemble; returns a reason to stop, if a rule has one."""
        is_certified = self.fit_context.solver_options.reoptimize == "every"
        figures = self._figures_with(certificate_of(self.ensemble.point).gap if is_certified else np.nan)
        seconds = self._pricing_seconds, time.perf_counter() - self._grown_at
        self._record(self.ensemble.stage(), figures, objective_decrease, *seconds)
        return self._reason_to_stop()

    def _figures_with(self, gap: float) -> dict[str, Any]:
        """The figures of the ensemble; its gap is computed only where all leaves are solved to it."""
        point, sizes = self.ensemble.point, self.ensemble.stage().sizes
        can_be_kept = not self.keep_best or len(self.ensemble.held) <= self.max_trees
        scored = self.scored if can_be_kept else None
        figures = self._figures(point.objective, gap, point.scores + point.intercept, sizes, scored)
        return figures | {"threshold": 0.0, "n_generated": self._n_grown}

    def scored(self, held_out: HeldOut) -> ScoredRows:
        """The held-out rows with their scores."""
        point, scores = self.ensemble.point, self._cache.scores(self.ensemble.stage(), self.ensemble.trees)
        return scored_rows(self.fit_context, held_out, scores, lambda: point.scores + point.intercept)

    def _polish(self, reason: str) -> None:
        self.ensemble.move_to(self.fit_context.programme)
        if not self.keep_best or not self.trace.stages:
            self._revise_last(self._optimise(self.fit_context))
            return
        best = self._polish_best()
        last = len(self.trace.stages) - 1
        if best is not None and best < last:
            row = replace(self.trace.iterations[best], iteration=last + 2, n_generated=self._n_grown)
            self.trace.record(self.trace.stages[best], row, self.trace.solution)

    def _polished(self, k: int) -> Solution:
        self.ensemble.restore(self.trace.stages[k])
        solution = self._optimise(self.fit_context)
        figures = self._figures_with(solution.gap) | {"n_generated": self.trace.iterations[k].n_generated}
        self.trace.revise(k, self.ensemble.stage(), solution, figures)
        return solution

    def _revise_last(self, solution: Solution) -> None:
        if not self.trace.iterations:
            self._note(0.0)
        last = len(self.trace.iterations) - 1
        self.trace.revise(last, self.ensemble.stage(), solution, self._figures_with(solution.gap))
        self.trace.n_generated = self._n_grown

    def _recover(self, reason: str) -> None:
        self.ensemble.restore(self.trace.result_stage)
        self._eliminate(self.max_trees)

    def _accept_best(self, best: Solution | None) -> None:
        if best is not None:
            self.ensemble.adopt(best)
        if len(self.ensemble.held) > self.max_trees:
            self.ensemble.restore(self.ensemble.stage().first(self.max_trees))
        self._revise_last(certificate_of(self.ensemble.point))

    def _certify(self) -> None:
        """No bound: growers of leaves prove nothing."""

    def _conclude(self) -> None:
        self.trace.conclude(self.ensemble.trees)

    @property
    def _held(self) -> str:
        return f"over the leaves of {self.fit_context.columns.n_trees} trees"


def _size(values: Scores) -> Vector:
    """How far the value of each leaf is from zero; for several classes, the sum over them."""
    distances = np.abs(values)
    return distances if distances.ndim == 1 else distances.sum(axis=1)


def _some(stage: LeafStage, elimination: Elimination) -> LeafStage:
    trees = tuple(stage.trees[k] for k in elimination.kept)
    return LeafStage(trees, tuple(elimination.values_of(k) for k in elimination.kept), elimination.intercept)
