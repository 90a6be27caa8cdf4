"""The trees at hand while leaves are corrected, their values, and how the trees are exchanged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._typing import Vector
from ..algebra.leaves import LeafColumns
from ..formulations.programme import Programme
from ..masters import MasterSolution
from ..masters.leaf_point import LeafPoint
from ..pricing.newton_trees import GrownTree
from ..trees.tree import Tree


class LeafStage(NamedTuple):
    """An ensemble on the way: which of the trees grown it has, the values of their leaves, and the intercept."""

    trees: tuple[int, ...]
    values: tuple[Vector, ...]
    intercept: float

    def first(self, n_trees: int) -> LeafStage:
        """The stage with its first trees only."""
        return LeafStage(self.trees[:n_trees], self.values[:n_trees], self.intercept)

    @property
    def sizes(self) -> Vector:
        """The largest absolute value of each tree: its weight."""
        return np.array([np.abs(values).max(initial=0.0) for values in self.values])


@dataclass(eq=False)
class LeafEnsemble:
    """Trees in the order of their columns, numbered in the order in which they were grown."""

    columns: LeafColumns
    point: LeafPoint

    def __post_init__(self) -> None:
        self.grown: list[GrownTree] = []
        """All trees that ever took part."""
        self.held: list[int] = []
        """The trees that take part now."""

    @classmethod
    def empty(cls, programme: Programme, columns: LeafColumns) -> LeafEnsemble:
        return cls(columns, LeafPoint.start(programme, columns))

    @property
    def trees(self) -> list[Tree]:
        return [grown.tree for grown in self.grown]

    def stage(self) -> LeafStage:
        values = self.point.values
        parts = tuple(values[low:high] for low, high in pairwise(self.columns.starts.tolist()))
        return LeafStage(tuple(self.held), parts, self.point.intercept)

    def enter(self, grown: GrownTree) -> None:
        """Add a tree whose leaves have the value zero."""
        self.grown.append(grown)
        self.held.append(len(self.grown) - 1)
        self.columns.append(grown.leaves, grown.tree.n_leaves)
        values = np.append(self.point.values, np.zeros(grown.tree.n_leaves))
        self.point = self._at(values, self.point.intercept, self.point.scores)

    def without(self, k: int) -> LeafPoint:
        """The point as it would be without the k-th tree held; only its rows are defined, not its columns."""
        own = self.stage().values[k].take(self.columns.leaves(k))
        return self._at(self.point.values, self.point.intercept, self.point.scores - own)

    def put(self, k: int, grown: GrownTree) -> None:
        """Put a tree whose leaves have the value zero into the place of the k-th tree held."""
        scores, stage = self.without(k).scores, self.stage()
        self.grown.append(grown)
        self.held[k] = len(self.grown) - 1
        values = [*stage.values[:k], np.zeros(grown.tree.n_leaves), *stage.values[k + 1 :]]
        self._hold()
        self.point = self._at(np.concatenate(values), stage.intercept, scores)

    def undo(self, stage: LeafStage, point: LeafPoint) -> None:
        """Take back the tree that was put last, given the stage and the point of before."""
        del self.grown[-1]
        self.held = list(stage.trees)
        self._hold()
        self.point = point

    def restore(self, stage: LeafStage) -> None:
        """Go back to a stage of before, or to one with some of the trees of now."""
        self.held = list(stage.trees)
        self._hold()
        values = np.concatenate([*stage.values, np.zeros(0)])
        self.point = self._at(values, stage.intercept, self.columns.scores(values))

    def adopt(self, solution: MasterSolution) -> None:
        """Take over the values of a solution over the trees held."""
        scores = self.columns.operator.scores(solution.margins)
        self.point = LeafPoint(
            self.point.programme, self.columns, solution.w, float(solution.rho[-1]), scores, solution.u
        )

    def move_to(self, programme: Programme) -> None:
        """Go on with a programme of the same rows at another C."""
        self.point = replace(self.point, programme=programme)

    def _hold(self) -> None:
        self.columns.hold([(self.grown[j].leaves, self.grown[j].tree.n_leaves) for j in self.held])

    def _at(self, values: Vector, intercept: float, scores: Vector) -> LeafPoint:
        return LeafPoint(self.point.programme, self.columns, values, intercept, scores)
