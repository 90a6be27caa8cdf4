"""Trees with the largest possible edge (``learner="optimal"``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .._typing import Matrix, Vector
from ..arguments import ParameterObject, require_positive
from ..data.features import has_missing
from ..deadlines import seconds_left
from ..errors import GrowingError
from ..trees.bins import MOST_CUTS, Bins
from ..trees.growing import Branch, build_tree
from .base import PricedColumn, Pricer, PricingContext, TrainingData, priced, require_tree_options
from .cart import CartLearner
from .class_columns import priced_for_classes
from .class_optimal import best_pair_of_splits, costs_of_classes
from .enumeration import BinarySplits, best_of_depth_two, by_first_split
from .newton_trees import Grower
from .streed import best_within, costs_of_signs, require_streed
from .tree_growers import PricedTrees

MOST_SPLITS = {2: 512, 3: 128}
"""By depth (3 stands for 3 and more), about how many splits all features have together, by default."""

LEAST_SECONDS = 0.1
"""The seconds that STreeD gets for a tree even if the time of the fit is nearly up."""

MOST_DEPTH = 20
"""The largest depth that STreeD supports; if more is asked for, a tree of this depth is found, without a proof."""


@dataclass
class OptimalLearner(ParameterObject):
    """Trees with the largest possible edge: ``learner="optimal"`` with options.

    Parameters
    ----------
    max_depth : int, default=None
        The greatest depth of a tree; None takes that of the estimator.
    voting : {"hard", "confidence"}, default="hard"
        A leaf votes -1 or +1, or its weighted class balance in [-1, 1]; then nothing is proven. Of several classes it
        votes for one of them, or with their weighted shares.
    n_thresholds : int, default=None
        Cuts of each numeric feature, at quantiles. None takes all (at most 255) at depth 1; 512 in all at depth 2 and
        128 beyond, shared among the features.
    tree_time_limit : float, default=10.0
        Seconds for one tree of depth 3 or more; then the best one so far is used, without a proof. Only trees found
        within their time are the same in every run.
    """

    max_depth: int | None = None
    voting: str = "hard"
    n_thresholds: int | None = None
    tree_time_limit: float = 10.0

    name: ClassVar[str] = "optimal"
    affordable_depth: ClassVar[int] = 2
    """Deeper trees take seconds each, and an extra, so they are grown only where a depth is asked for."""

    def __post_init__(self) -> None:
        require_tree_options(self.max_depth, self.voting, self.n_thresholds)
        require_positive("tree_time_limit", self.tree_time_limit)

    def pricer(self, data: TrainingData, context: PricingContext) -> OptimalPricer:
        return OptimalPricer(data, self, context.with_depth(self.max_depth))

    def grower(self, data: TrainingData, context: PricingContext) -> Grower:
        return PricedTrees(self.pricer(data, context), data.X)


class VoteKind(NamedTuple):
    """What depends on how many votes a learner has for a row."""

    best_of_depth_two: Callable[[BinarySplits, Vector], Branch | None]
    costs: Callable[[Vector], Matrix]
    priced: Callable[..., PricedColumn]


ONE_VOTE = VoteKind(best_of_depth_two, costs_of_signs, priced)
VOTES_FOR_CLASSES = VoteKind(best_pair_of_splits, costs_of_classes, priced_for_classes)


class OptimalPricer:
    """The tree with the largest edge: by enumeration at depths 1 and 2, by STreeD at more.

    The class of learners are the trees on given cuts of the features: every threshold (at most 255 for each feature) at
    depth 1, and ``n_thresholds`` quantiles of each feature at more. CART may cut elsewhere; if CART's tree has a larger
    edge, it is returned instead.
    """

    def __init__(self, data: TrainingData, learner: OptimalLearner, context: PricingContext) -> None:
        self._data, self._voting, self._seconds = data, learner.voting, learner.tree_time_limit
        self._max_depth, self._seed = context.max_depth, context.seed
        self.is_exact = learner.voting == "hard"
        self._kind = ONE_VOTE if context.n_outputs == 1 else VOTES_FOR_CLASSES
        self._cart = CartLearner(voting=learner.voting).pricer(data, context)
        self._stumps: Pricer | None = None
        if self._max_depth == 1:
            by_edge = CartLearner(criterion="edge", voting=learner.voting, n_thresholds=learner.n_thresholds)
            self._stumps = by_edge.pricer(data, context)
            self.n_learners = self._stumps.n_learners
            return
        if self._max_depth > 2:
            require_streed()
        n_cuts = learner.n_thresholds or _default_cuts(self._max_depth, data)
        self._binary = BinarySplits(Bins(data.X, data.categorical, n_cuts))
        self.n_learners = _count(len(self._binary.splits), self._max_depth, max(context.n_outputs, 2))

    def price(self, residual: Vector, favour: Vector | None) -> PricedColumn:
        """The tree with the largest edge; ``favour`` is taken into account at depth 1 only."""
        best = self._optimal(residual, favour)
        if favour is not None:
            return best._replace(is_proven=False)
        try:
            other = self._cart.price(residual, None)
        except GrowingError:  # the best tree on the cuts does not need it
            return best
        if np.vdot(residual, other.votes) > np.vdot(residual, best.votes) + 1e-12 * np.abs(residual).sum():
            return other._replace(is_proven=best.is_proven)
        return best

    def others(self, residual: Vector, favour: Vector | None) -> Iterator[PricedColumn]:
        """Every stump, the largest edge first; at more depth the best tree for each first split, or what CART finds."""
        if self._stumps is not None and hasattr(self._stumps, "others"):
            return iter(self._stumps.others(residual, favour))
        if self._max_depth == 2 and self._kind is ONE_VOTE:
            roots = by_first_split(self._binary, residual)
            return (priced(build_tree(root), self._data, residual, self._voting) for root in roots)
        return iter(self._cart.others(residual, favour) if hasattr(self._cart, "others") else ())

    def _optimal(self, residual: Vector, favour: Vector | None) -> PricedColumn:
        if self._stumps is not None:
            return self._stumps.price(residual, favour)
        root, is_proven = self._search(residual)
        is_proven = is_proven and self.is_exact
        return self._kind.priced(build_tree(root), self._data, residual, self._voting, is_proven)

    def _search(self, residual: Vector) -> tuple[Branch | None, bool]:
        if self._max_depth == 2:
            return self._kind.best_of_depth_two(self._binary, residual), True
        depth = min(self._max_depth, MOST_DEPTH)
        costs = self._kind.costs(residual)
        seconds = min(self._seconds, max(seconds_left(), LEAST_SECONDS))
        root, is_proven = best_within(self._binary, costs, depth, seconds, self._seed)
        return root, is_proven and depth == self._max_depth


def _default_cuts(depth: int, data: TrainingData) -> int:
    """The number of cuts of each feature: the splits allowed, divided by the number of features.

    A feature with missing values counts twice, because it has two splits for each cut.
    """
    n_features = data.X.shape[1] + int(has_missing(data.X).sum()) if data.X.shape[0] else data.X.shape[1]
    return max(1, min(MOST_CUTS, MOST_SPLITS[min(depth, 3)] // max(n_features, 1)))


def _count(n_splits: int, depth: int, n_classes: int) -> float:
    """An upper bound on the number of trees, which counts every choice of splits and votes."""
    count = float(n_classes)
    for _ in range(depth):
        count = min(n_classes + n_splits * count**2, 1e300) if count < 1e150 else np.inf
    return count
