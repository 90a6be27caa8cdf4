"""The trees at hand while leaves are corrected, their values, and how the trees are exchanged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._typing import Scores, Vector
from ..algebra.leaves import LeafColumns
from ..masters import MasterSolution
from ..pricing.newton_trees import GrownTree
from ..trees.tree import Tree


class LeafStage(NamedTuple):
    """An ensemble on the way: which of the trees grown it has, the values of their leaves, and the intercept."""

    trees: tuple[int, ...]
    values: tuple[Scores, ...]
    intercept: Any
    """One number, or one for each class."""

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

    point: Any
    """The values of their leaves: of the kind that the master makes (``masters/leaf_masters.py``)."""

    def __post_init__(self) -> None:
        self.grown: list[GrownTree] = []
        """All trees that ever took part."""
        self.held: list[int] = []
        """The trees that take part now."""

    @property
    def columns(self) -> LeafColumns:
        columns: LeafColumns = self.point.columns
        return columns

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
        self.columns.append(grown.leaves, grown.tree.n_leaves, grown.order)
        values = np.concatenate([self.point.values, self._zeros(grown.tree.n_leaves)])
        self.point = self.point.at(values, self.point.intercept, self.point.scores)

    def without(self, k: int) -> Any:
        """The point as it would be without the k-th tree held; only its rows are defined, not its columns."""
        own = self.columns.values_of_rows(k, self.stage().values[k])
        return self.point.at(self.point.values, self.point.intercept, self.point.scores - own)

    def put(self, k: int, grown: GrownTree) -> None:
        """Put a tree whose leaves have the value zero into the place of the k-th tree held."""
        scores, stage = self.without(k).scores, self.stage()
        self.grown.append(grown)
        self.held[k] = len(self.grown) - 1
        values = [*stage.values[:k], self._zeros(grown.tree.n_leaves), *stage.values[k + 1 :]]
        self._hold()
        self.point = self.point.at(np.concatenate(values), stage.intercept, scores)

    def undo(self, stage: LeafStage, point: Any) -> None:
        """Take back the tree that was put last, given the stage and the point of before."""
        del self.grown[-1]
        self.held = list(stage.trees)
        self._hold()
        self.point = point

    def restore(self, stage: LeafStage) -> None:
        """Go back to a stage of before, or to one with some of the trees of now."""
        self.held = list(stage.trees)
        self._hold()
        values = np.concatenate([*stage.values, self._zeros(0)])
        self.point = self.point.at(values, stage.intercept, self.columns.scores(values))

    def adopt(self, solution: MasterSolution) -> None:
        """Take over the values of a solution over the trees held."""
        self.point = self.point.adopting(solution)

    def move_to(self, programme: Any) -> None:
        """Go on with a programme of the same rows at another C."""
        self.point = replace(self.point, programme=programme)

    def _hold(self) -> None:
        held = [self.grown[j] for j in self.held]
        self.columns.hold([(grown.leaves, grown.tree.n_leaves, grown.order) for grown in held])

    def _zeros(self, n_leaves: int) -> Scores:
        """The values of leaves that have none yet."""
        return np.zeros((n_leaves, *self.point.values.shape[1:]))
