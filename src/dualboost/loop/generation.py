"""Runs the loop that fits a wiring: over trees, or over leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .._typing import Features
from ..pricing.base import PricedColumn
from ..pricing.newton_trees import GrownTree
from ..trees.learner import Learner
from ..trees.tree import Tree
from .column_generation import ColumnGeneration
from .history import Trace
from .leaf_generation import LeafGeneration
from .leaf_wiring import LeafWiring
from .wiring import Wiring


class EarlierFit(NamedTuple):
    """The learners of a fit to go on from, and the rows of the wiring."""

    learners: Sequence[Learner]
    X: Features

    def trees(self, signs: Sequence[int] | None) -> list[GrownTree]:
        """Those that are trees with a split; other ones have no leaves to correct."""
        trees = [learner for learner in self.learners if isinstance(learner, Tree) and learner.n_leaves > 1]
        return [GrownTree.of(tree, self.X).ordered_by(signs) for tree in trees]

    @property
    def columns(self) -> list[PricedColumn]:
        return [PricedColumn(learner, learner.vote(self.X)) for learner in self.learners]


def generate(wiring: Wiring | LeafWiring, max_trees: int, earlier: EarlierFit | None = None, **watched: Any) -> Trace:
    """What the loop finds with at most ``max_trees`` trees; ``watched`` are held-out rows, rules and observers."""
    if isinstance(wiring, LeafWiring):
        trees = earlier.trees(wiring.signs) if earlier is not None else ()
        return LeafGeneration(wiring, max_trees, earlier=trees, **watched).run()
    columns = earlier.columns if earlier is not None else ()
    most_entering = wiring.solver.most_entering
    return ColumnGeneration(wiring, max_trees, most_entering=most_entering, earlier=columns, **watched).run()
