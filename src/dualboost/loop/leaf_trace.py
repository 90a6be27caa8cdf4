"""What happened during a fit that corrects leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._typing import Features, Scores, Vector
from ..trees.tree import Tree
from .history import Iteration, Trace
from .leaf_ensemble import LeafStage


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
