"""The seam between the loop and the base learners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._typing import Features, Vector
from ..arguments import require_choice, require_integer
from ..trees.growing import leaf_votes
from ..trees.learner import Learner
from ..trees.tree import Tree


@dataclass(frozen=True)
class PricingContext:
    """What the fit tells all of its learners."""

    max_depth: int = 1
    """Of trees whose learner has no depth of its own."""
    n_jobs: int = 1
    seed: int = 0
    leave_out_zeros: bool = False
    """Whether learners are grown without the rows of sample weight zero, where those are many and seldom change."""

    def with_depth(self, max_depth: int | None) -> PricingContext:
        """With a depth of the learner's own, if it has one."""
        return self if max_depth is None else replace(self, max_depth=int(max_depth))


class TrainingData(NamedTuple):
    """The rows that a pricer grows its learners on."""

    X: Features
    categorical: list[int]
    """The features that hold codes of categories."""


class PricedColumn(NamedTuple):
    """A learner with its votes on the training rows."""

    learner: Learner
    votes: Vector
    is_proven: bool = False
    """Whether no learner of the pricer's class has a larger edge."""


class Pricer(Protocol):
    """Looks for a learner with a large edge: the residual times its votes.

    The residual is T'u of the task (``dualboost.tasks``): for two classes the duals times the labels, so that its sign
    is the class that a row asks for and its size how much the row asks for it.
    """

    is_exact: bool
    """Whether its columns can be proven to have the largest edge of its class."""
    n_learners: float
    """At most so many learners of its class vote differently; infinity where that is not known."""

    def price(self, residual: Vector, favour: Vector | None) -> PricedColumn:
        """A learner for the residual of each row.

        ``favour``, unless None, is a factor for the edges of splits on each feature, which a pricer may heed; then
        nothing is proven.
        """


class LearnerSpec(Protocol):
    """A learner as users describe it: it makes the pricer that finds its columns."""

    def check(self) -> None:
        """An error of ours for an option that is out of its range."""

    def pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        """Who finds its columns on these rows."""


def require_tree_options(max_depth: Any, voting: Any, n_thresholds: Any) -> None:
    """The options that all learners of trees have."""
    if max_depth is not None:
        require_integer("max_depth", max_depth, least=1)
    require_voting(voting)
    if n_thresholds is not None:
        require_integer("n_thresholds", n_thresholds, least=1)


def require_voting(voting: Any) -> None:
    require_choice("voting", voting, ["hard", "confidence"])


def priced(tree: Tree, data: TrainingData, residual: Vector, voting: str, is_proven: bool = False) -> PricedColumn:
    """The tree with the votes that its leaves cast for the residual."""
    leaves = tree.leaves(data.X)
    balance = np.bincount(leaves, weights=residual, minlength=tree.n_leaves).astype(float)
    weight = np.bincount(leaves, weights=np.abs(residual), minlength=tree.n_leaves).astype(float)
    learner = tree.with_votes(leaf_votes(balance, weight, voting))
    return PricedColumn(learner, learner.votes[leaves], is_proven)
