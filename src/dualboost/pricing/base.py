"""The interface between the loop and the base learners: what a pricer is given, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._typing import Features, Integers, Vector
from ..algebra.devices import MEMORY, Device
from ..arguments import require_choice, require_integer
from ..trees.growing import leaf_votes
from ..trees.learner import Learner
from ..trees.ordering import leaf_order
from ..trees.splicing import without_light_leaves
from ..trees.tree import DEEPEST, Tree
from ..workers import ALONE, Communicator
from .limits import TreeLimits
from .record import NO_RECORD, NoRecord


@dataclass(frozen=True)
class PricingContext:
    """The options of a fit that all of its learners share."""

    max_depth: int = 1
    """The depth of trees whose learner has no depth of its own; no tree is deeper than ``DEEPEST``."""
    n_jobs: int = 1
    seed: int = 0
    n_outputs: int = 1
    """How many votes a learner has for a row: one for two classes, else one for each class."""
    leave_out_zeros: bool = False
    """Whether learners are grown without the rows whose dual is zero; worth it if these are many and seldom change."""
    limits: TreeLimits = field(default_factory=TreeLimits)
    """What trees are held to, by those learners that can."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_depth", min(self.max_depth, DEEPEST))

    @property
    def has_free_stumps(self) -> bool:
        """Whether trees are stumps, and every stump with enough rows on both sides is allowed at any time."""
        free = replace(self.limits, fewest_rows=1, most_leaves=None, seed=0, most_together=None) == TreeLimits()
        return free and (self.max_depth == 1 or self.limits.most_leaves == 2)

    def with_depth(self, max_depth: int | None) -> PricingContext:
        """The context with the learner's own depth, if it has one."""
        return self if max_depth is None else replace(self, max_depth=int(max_depth))


class TrainingData(NamedTuple):
    """The rows that a pricer grows its learners on."""

    X: Features
    categorical: list[int]
    """The features that hold codes of categories."""
    rows_each: float = 1.0
    """How many of the user's rows a row stands for, on average."""
    n_each: Vector | None = None
    """How many of the user's rows each row stands for; None for one."""
    workers: Communicator = ALONE
    """Those who hold the other rows, where these are a part of them."""
    record: NoRecord = NO_RECORD
    """Where the trees of growers that work over workers are kept."""
    device: Device = MEMORY
    """Where residuals, votes and leaves of rows are; X is in memory."""

    @property
    def n_cells(self) -> int:
        """How many numbers X has; those that are stored where it is sparse."""
        return int(getattr(self.X, "nnz", self.X.shape[0] * self.X.shape[1]))

    @property
    def n_merged(self) -> Vector:
        """How many of the user's rows each row stands for."""
        return np.ones(self.X.shape[0]) if self.n_each is None else self.n_each

    def leaves(self, tree: Tree) -> Integers:
        """The leaf of each row, where the residuals are."""
        leaves: Integers = self.device.put(tree.leaves(self.X))
        return leaves

    def sums_by_leaf(self, leaves: Integers, values: Vector, n_leaves: int) -> Vector:
        """The sum of a vector over the rows of each leaf, of all workers and in memory."""
        own = self.device.host(np.bincount(leaves, weights=values, minlength=n_leaves))
        return self.workers.sum(np.asarray(own, dtype=float))

    def held_to(self, limits: TreeLimits, tree: Tree) -> Tree:
        """The tree without the leaves that have too few rows."""
        if not limits.has_few_rows:
            return tree
        return without_light_leaves(tree, self.X, self.n_merged, limits.fewest_rows, self.workers)


class PricedColumn(NamedTuple):
    """A learner with its votes on the training rows."""

    learner: Learner
    votes: Vector
    is_proven: bool = False
    """Whether no learner of the pricer's class has a larger edge."""


class Pricer(Protocol):
    """Looks for a learner with a large edge: the sum over the rows of the residual times the learner's vote.

    The residual is T'u of the task (``dualboost.tasks``). For two classes it is the dual of each row times its label:
    its sign is the class of the row, its size the importance of the row. For several classes it has a column for each:
    positive for the class of the row, negative for the others, and zero in sum.
    """

    is_exact: bool
    """Whether the pricer can prove that its columns have the largest edge of its class of learners."""
    n_learners: float
    """An upper bound on how many learners of the class have different votes; infinity if none is known."""

    def price(self, residual: Vector, favour: Vector | None) -> PricedColumn:
        """A learner with a large edge, given the residual of each row.

        ``favour``, unless None, has for each feature a factor by which edges of splits on it count. A pricer may take
        it into account; with a favour nothing is proven.
        """

    # A pricer may have ``others(residual, favour) -> Iterator[PricedColumn]``: columns to take where that of ``price``
    # is held already. Where one of them is proven, so are all, and no learner that is left out, or comes later, has a
    # larger edge.


class LearnerSpec(Protocol):
    """A learner as users describe it: it makes the pricer that finds its columns."""

    def check(self) -> None:
        """Raise ``InvalidParameterError`` for an option that is out of its range."""

    def pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        """The pricer that finds columns of this learner on these rows."""

    # A learner that can grow trees over the rows of all workers has ``grows_over_workers = True``, and ``alone``, who
    # finds the same kind of trees on rows of one worker.
    # A learner that grows trees from residuals on a GPU has ``grows_on_devices = True``.
    # A learner of trees also has ``grower(data, context) -> Grower``, for leaves that are re-optimised, and may have
    # ``affordable_depth`` if deep trees take long. Where ``context.n_outputs`` is above one, learners have a vote for
    # each class, and leaves a value for each.


def require_tree_options(max_depth: Any, voting: Any, n_thresholds: Any) -> None:
    """Check the options that all learners of trees have."""
    if max_depth is not None:
        require_integer("max_depth", max_depth, least=1)
    require_voting(voting)
    if n_thresholds is not None:
        require_integer("n_thresholds", n_thresholds, least=1)


def require_voting(voting: Any) -> None:
    require_choice("voting", voting, ["hard", "confidence"])


def priced(
    tree: Tree,
    data: TrainingData,
    residual: Vector,
    voting: str,
    is_proven: bool = False,
    leaves: Integers | None = None,
) -> PricedColumn:
    """The tree as a column, with the votes of its leaves chosen for the residual; ``leaves`` are those of the rows."""
    leaves = data.leaves(tree) if leaves is None else leaves
    balance = data.sums_by_leaf(leaves, residual, tree.n_leaves)
    weight = data.sums_by_leaf(leaves, np.abs(residual), tree.n_leaves)
    learner = tree.with_votes(leaf_votes(balance, weight, voting))
    return PricedColumn(learner, data.device.put(learner.votes).take(leaves), is_proven)


def priced_within(
    limits: TreeLimits,
    tree: Tree,
    data: TrainingData,
    residual: Vector,
    voting: str,
    leaves: Integers | None = None,
) -> PricedColumn:
    """The tree as a column within the limits; where votes must be in order, those it was grown with, put in order.

    ``leaves`` are those of the rows in the tree as it was grown.
    """
    held = data.held_to(limits, tree)
    order = None if limits.signs is None else leaf_order(held, limits.signs)
    if order is None:
        return priced(held, data, residual, voting, leaves=leaves if held is tree else None)
    learner = held.with_votes(leaf_votes(order.nearest(held.votes), np.ones(held.n_leaves), voting))
    return PricedColumn(learner, data.device.put(learner.vote(data.X)))
