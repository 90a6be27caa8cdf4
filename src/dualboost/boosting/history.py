"""The held-out rows and the trace of a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Features, Scores, Vector
from ..data.merging import n_observed, numbers_of_rows
from ..matrix.rows import Rows
from ..solvers import Solution
from ..targets.scoring import ScoredRows, Scoring
from ..trees.tree import Learner, Tree
from .context import FitContext
from .leaf_context import LeafStage


class HeldOut:
    """The held-out rows, and the votes of all learners on them."""

    def __init__(
        self,
        X: Features,
        targets: Vector,
        counts: Vector,
        scoring: Scoring | None = None,
        numbers: Vector | None = None,
    ) -> None:
        """``numbers`` has how many rows each row stands for; by default it is derived from ``counts``."""
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
        """The unnormalised score of each row; w may be shorter than the number of learners."""
        return np.tensordot(w, np.array(self._votes[: len(w)]), axes=1)


def scored_rows(
    fit_context: FitContext, held_out: HeldOut, scores: Scores, scores_in_training: Callable[[], Scores]
) -> ScoredRows:
    """The held-out rows with their scores.

    Where a scorer needs probabilities and scores are no log-odds, they come from the curve that fits the training rows.
    """
    target, rows = fit_context.target, fit_context.rows

    def probabilities(scores: Scores) -> Any:
        if fit_context.formulation.has_final_scores:
            return target.probabilities(scores, target.identity_calibration())
        counts = rows.counts * rows.rows_in_unit
        curve = target.calibrate(*map(rows.host, (scores_in_training(), fit_context.targets, counts)))
        return target.probabilities(scores, curve)

    return ScoredRows(target, scores, held_out.targets, held_out.rows, probabilities)


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


class WeightStage(NamedTuple):
    """The ensemble after an iteration that optimised weights, over the first learners of the trace."""

    weights: Vector
    intercept: float


@dataclass
class Trace:
    """The learners, and the ensemble and figures after each iteration."""

    learners: list[Learner] = field(default_factory=list)
    """The learners in the order of the weights of the result."""
    stages: list[Any] = field(default_factory=list)
    """A ``WeightStage`` or a ``LeafStage`` for each iteration."""
    iterations: list[Iteration] = field(default_factory=list)
    solution: Solution | None = None
    """The solution of the iteration that is kept."""
    kept: int = -1
    """The iteration whose ensemble is the result."""
    stop_reason: str = "max_trees"
    certified: bool | None = None
    """Whether the result is proven optimal over all learners of the class; None where the pricers prove nothing."""
    trees: Sequence[Tree] | None = None
    """Where leaves are optimised, all trees grown: the trees of ``LeafStage`` by their numbers."""
    n_generated: int = 0

    def record(self, stage: Any, iteration: Iteration, solution: Solution | None = None, keep: bool = True) -> None:
        """Add the ensemble of one iteration; with ``keep`` it becomes the result so far."""
        self.stages.append(stage)
        self.iterations.append(iteration)
        if keep:
            self.kept, self.solution = len(self.iterations) - 1, solution

    def revise(self, k: int, stage: Any, solution: Solution, figures: Mapping[str, Any]) -> None:
        """Replace the ensemble of iteration ``k``, which becomes the result."""
        self.stages[k], self.iterations[k] = stage, replace(self.iterations[k], **figures)
        self.kept, self.solution = k, solution

    def note_bound(self, bound: float, iteration: int = -1) -> None:
        """Record the bound from a proven pricing for an iteration, by default the last one."""
        if self.iterations:
            self.iterations[iteration] = replace(self.iterations[iteration], bound=bound)

    def conclude(self, trees: Sequence[Tree]) -> None:
        """Make learners of the trees that are kept: each tree votes at most 1, and its weight scales the votes."""
        stage, self.trees = self.result_stage, trees
        self.learners = [
            trees[j].with_votes(values / size if size > 0 else np.zeros_like(values))
            for j, values, size in zip(stage.trees, stage.values, stage.sizes.tolist(), strict=True)
        ]

    @property
    def result(self) -> Iteration:
        return self.iterations[self.kept]

    @property
    def result_stage(self) -> Any:
        return self.stages[self.kept]

    @property
    def intercept(self) -> Any:
        """The intercept of the result."""
        return self.result_stage.intercept

    @property
    def duals(self) -> Vector:
        """The final duals of the iteration that is kept."""
        return np.zeros(0) if self.solution is None else self.solution.u

    @property
    def best(self) -> int:
        """The first iteration with the best validation score."""
        return int(np.argmax(np.nan_to_num([row.validation_score for row in self.iterations], nan=-np.inf)))

    @property
    def weights(self) -> list[Vector]:
        """The weights after each iteration, where weights are optimised."""
        return [stage.weights for stage in self.stages]

    @property
    def intercepts(self) -> list[Any]:
        return [stage.intercept for stage in self.stages]

    @property
    def n_recorded(self) -> int:
        """The number of learners in the last ensemble recorded."""
        return len(self.stages[-1].weights) if self.stages else 0

    def final_weights(self) -> Vector:
        """The weights of the result, with zeros for the learners generated after it."""
        if self.trees is not None:
            sizes: Vector = self.result_stage.sizes
            return sizes
        w = self.result_stage.weights
        return np.concatenate([w, np.zeros(len(self.learners) - len(w))])

    def leaf_stages(self) -> LeafStages | None:
        """The ensembles on the way where leaves are optimised; None where weights are."""
        return None if self.trees is None else LeafStages.of(self.trees, self.stages)

    def history(self) -> dict[str, NDArray[Any]]:
        """``history_``: arrays of equal length, one for each attribute of ``Iteration``."""
        names = [attribute.name for attribute in fields(Iteration)]
        return {name: np.array([getattr(row, name) for row in self.iterations]) for name in names}


@dataclass(frozen=True, eq=False)
class LeafStages:
    """The ensembles on the way, to be evaluated on other rows."""

    trees: dict[int, Tree]
    stages: Sequence[LeafStage]

    @classmethod
    def of(cls, trees: Sequence[Tree], stages: Sequence[LeafStage]) -> LeafStages:
        used = sorted({j for stage in stages for j in stage.trees})
        return cls({j: trees[j] for j in used}, stages)

    def scores(self, X: Features, ensemble: object) -> Iterator[Scores]:
        """The scores of each stage; every tree is evaluated once. ``ensemble`` is not used."""
        leaves = LeafCache(X)
        return (leaves.scores(stage, self.trees) for stage in self.stages)


class LeafCache:
    """The leaves of some rows, computed once for each tree."""

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
