"""The trace of a fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Features, Matrix, Scores, Vector
from ..data.merging import n_observed, numbers_of_rows
from ..matrix.rows import Rows
from ..solvers import Solution
from ..targets.scoring import ScoredRows, Scoring
from ..trees.tree import Learner, Tree
from .context import FitContext
from .leaf_context import LeafStage


class HeldOut:
    """The votes of every learner so far on the held-out rows."""

    def __init__(
        self,
        X: Features,
        targets: Vector,
        counts: Vector,
        scoring: Scoring | None = None,
        numbers: Vector | None = None,
    ) -> None:
        """``numbers`` says how many rows each row stands for; it is found from ``counts`` if these are all there is."""
        self.X = X
        self.targets = targets
        n_rows = numbers_of_rows(counts).sum() if numbers is None else n_observed(X, targets, numbers)
        self.rows = Rows(counts, rows_each=float(n_rows) / max(len(counts), 1))
        self.scoring = scoring or Scoring()
        self._votes: list[Vector] = []

    @property
    def counts(self) -> Vector:
        return self.rows.counts

    def counts_in_rows(self) -> Vector:
        """The multiplicities as numbers of rows, whatever their unit."""
        return self.counts * self.rows.rows_in_unit

    def add(self, learner: Learner) -> None:
        self._votes.append(learner.vote(self.X))

    def scores(self, w: Vector) -> Vector:
        """The unnormalised score of each row; w may be shorter than the learners seen."""
        return np.tensordot(w, np.array(self._votes[: len(w)]), axes=1)


AnyTrace = TypeVar("AnyTrace", bound="Trace")


@dataclass(frozen=True)
class Iteration:
    """One row of ``history_``."""

    iteration: int
    objective: float
    gap: float
    edge: float
    threshold: float
    train_score: float
    validation_score: float
    n_trees: int
    pricing_seconds: float
    solver_seconds: float
    n_generated: int = 0
    bound: float = float("nan")
    """A bound on the optimal objective over all learners of the class, from the next pricing; nan without a proof."""


@dataclass
class Trace:
    """The learners in order, and the ensemble as it was optimised after each of them."""

    learners: list[Learner] = field(default_factory=list)
    weights: list[Vector] = field(default_factory=list)
    intercepts: list[float] = field(default_factory=list)
    """The intercept of each iteration; zero where there is none."""
    iterations: list[Iteration] = field(default_factory=list)
    duals: Vector = field(default_factory=lambda: np.zeros(0))
    """The final duals of the iteration that is kept."""
    kept: int = -1
    """The iteration whose ensemble is the result."""
    stop_reason: str = "max_trees"
    certified: bool | None = None
    """Whether the result is proven optimal over all learners of the class; None where the pricers prove nothing."""

    def append(self, w: Vector, intercept: float, u: Vector, iteration: Iteration, keep: bool) -> None:
        """Add the ensemble of one iteration; with ``keep`` it becomes the result so far."""
        self.weights.append(w)
        self.intercepts.append(intercept)
        self.iterations.append(iteration)
        if keep:
            self.duals, self.kept = u, len(self.iterations) - 1

    def replace_result(self, w: Vector, intercept: float, u: Vector, iteration: Iteration) -> None:
        """Replace the ensemble that was kept by the polished one."""
        self.weights[self.kept], self.intercepts[self.kept], self.duals = w, intercept, u
        self.iterations[self.kept] = iteration

    @property
    def n_recorded(self) -> int:
        """How many learners the last recorded ensemble had to choose from."""
        return len(self.weights[-1]) if self.weights else 0

    def note_bound(self, bound: float, iteration: int = -1) -> None:
        """Record the bound that a proven pricing gave for an iteration, by default the last one."""
        if self.iterations:
            self.iterations[iteration] = replace(self.iterations[iteration], bound=bound)

    def stopped(self: AnyTrace, reason: str) -> AnyTrace:
        self.stop_reason = reason
        return self

    @property
    def intercept(self) -> float:
        """The intercept of the result."""
        return self.intercepts[self.kept]

    @property
    def n_generated(self) -> int:
        """How many learners were generated."""
        return len(self.learners)

    @property
    def result(self) -> Iteration:
        return self.iterations[self.kept]

    @property
    def best(self) -> int:
        """The first iteration with the best validation score."""
        return int(np.argmax(np.nan_to_num([row.validation_score for row in self.iterations], nan=-np.inf)))

    def final_weights(self) -> Vector:
        """The weights of the result, with zeros for the learners generated after it."""
        w = self.weights[self.kept]
        return np.concatenate([w, np.zeros(len(self.learners) - len(w))])

    def leaf_stages(self) -> Any:
        """The ensembles on the way where leaves are corrected; None where trees are, and ``weights`` tell all."""
        return None

    def history(self) -> dict[str, NDArray[Any]]:
        """``history_``: arrays of equal length, one for each attribute of ``Iteration``."""
        names = [attribute.name for attribute in fields(Iteration)]
        return {name: np.array([getattr(row, name) for row in self.iterations]) for name in names}


@dataclass(frozen=True, eq=False)
class EnsembleScores:
    """Scores over the columns held, of training rows and of rows that are held out."""

    fit_context: FitContext

    def intercept(self, solution: Solution) -> float:
        """The multiplier of the free intercept, which comes last among those of the equations.

        Where no tree has a weight and all targets are zero, the intercept is zero: under a tube other numbers are
        optimal too, but they are not y.
        """
        rows, targets = self.fit_context.rows, self.fit_context.targets
        if not self.fit_context.has_intercept or not (solution.w.any() or rows.any(targets != 0)):
            return 0.0
        return float(solution.rho[-1])

    def of_margins(self, margins: Vector, w: Vector, intercept: float) -> Vector:
        """The scores of the training rows, given their margins under the weights w."""
        own = margins[: self.fit_context.columns.n_data]
        return self._finished(self.fit_context.operator.scores(own), w, intercept, self.fit_context.rows)

    def judged(self, held_out: HeldOut, w: Vector, intercept: float) -> float:
        """How good the weights w are on held-out rows."""
        return held_out.scoring.score(self.of_held_out(held_out, w, intercept))

    def of_held_out(self, held_out: HeldOut, w: Vector, intercept: float) -> ScoredRows:
        """The held-out rows with their scores under the weights w.

        Probabilities, where a scorer asks for them and scores are no log-odds, are those of the curve that fits the
        training rows.
        """
        target, rows, columns = self.fit_context.target, self.fit_context.rows, self.fit_context.columns

        def probabilities(scores: Vector) -> Matrix:
            if self.fit_context.formulation.has_final_scores:
                return target.probabilities(scores, target.identity_calibration())
            known = self.of_margins(columns.margins(np.pad(w, (0, columns.n_columns - len(w)))), w, intercept)
            counts = rows.counts * rows.rows_in_unit
            curve = target.calibrate(*map(rows.host, (known, self.fit_context.targets, counts)))
            return target.probabilities(scores, curve)

        scores = self._finished(held_out.scores(w), w, intercept, held_out.rows)
        return ScoredRows(target, scores, held_out.targets, held_out.rows, probabilities)

    def _finished(self, scores: Vector, w: Vector, intercept: float, rows: Rows) -> Vector:
        """The scores with the intercept, or divided by the sum of the weights; those of the empty ensemble if zero."""
        if not self.fit_context.has_normalised_scores:
            return scores + intercept
        if not rows.any(scores != 0):
            return np.full_like(
                scores, self.fit_context.target.baseline(self.fit_context.targets, self.fit_context.rows)
            )
        return scores / w.sum()


@dataclass
class LeafTrace(Trace):
    """The ensemble after each iteration; ``learners`` and ``weights`` are those of the result."""

    stages: list[LeafStage] = field(default_factory=list)
    n_grown: int = 0

    def note(self, stage: LeafStage, iteration: Iteration) -> None:
        """Add the ensemble of one iteration, which becomes the result so far."""
        self.stages.append(stage)
        self.iterations.append(iteration)
        self.kept = len(self.iterations) - 1

    def conclude(self, trees: Sequence[Tree]) -> None:
        """Make learners and weights of the stage that is kept: each tree votes at most 1, its weight does the rest."""
        stage = self.stages[self.kept]
        sizes = stage.sizes
        self.learners = [
            trees[j].with_votes(values / size if size > 0 else np.zeros_like(values))
            for j, values, size in zip(stage.trees, stage.values, sizes.tolist(), strict=True)
        ]
        self.weights, self.intercepts = [sizes], [stage.intercept]
        self._leaf_stages = LeafStages.of(trees, self.stages)

    def leaf_stages(self) -> LeafStages:
        return self._leaf_stages

    def final_weights(self) -> Vector:
        return self.weights[0]

    @property
    def intercept(self) -> Any:
        return self.intercepts[0]

    @property
    def n_generated(self) -> int:
        return self.n_grown


@dataclass(frozen=True, eq=False)
class LeafStages:
    """The ensembles on the way, to be evaluated on other rows."""

    trees: dict[int, Tree]
    stages: Sequence[LeafStage]

    @classmethod
    def of(cls, trees: Sequence[Tree], stages: Sequence[LeafStage]) -> LeafStages:
        used = sorted({j for stage in stages for j in stage.trees})
        return cls({j: trees[j] for j in used}, stages)

    def __len__(self) -> int:
        return len(self.stages)

    def scores(self, X: Features, ensemble: object) -> Iterator[Scores]:
        """The scores of each stage; every tree is followed once. The result itself is not needed."""
        leaves = LeafCache(X)
        return (leaves.scores(stage, self.trees) for stage in self.stages)


class LeafCache:
    """The leaves of some rows, found once for each tree."""

    def __init__(self, X: Features) -> None:
        self.X = X
        self._leaves: dict[int, np.ndarray] = {}

    def scores(self, stage: LeafStage, trees: Sequence[Tree] | dict[int, Tree]) -> Scores:
        scores = np.zeros((self.X.shape[0], *np.shape(stage.intercept))) + stage.intercept
        for j, values in zip(stage.trees, stage.values, strict=True):
            if j not in self._leaves:
                self._leaves[j] = trees[j].leaves(self.X).astype(np.min_scalar_type(trees[j].n_leaves - 1))
            scores += values.take(self._leaves[j], axis=0)
        return scores
