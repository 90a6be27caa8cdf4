"""Trees with the largest possible edge: by enumeration, and by STreeD."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..arguments import how_to_install, require_positive
from ..data.features import has_missing
from ..deadlines import seconds_left
from ..errors import GrowingError, InvalidDataError, MissingDependencyError
from ..trees.growing import EVEN, MOST_BIN_CUTS, Bins, Branch, Split, build_tree
from .base import PricedColumn, Pricer, PricingContext, TrainingData, priced
from .cart import CartLearner, PricedTrees, TreeLearner
from .newton_trees import Grower
from .vector_trees import priced_for_classes

# Z has a column for each split, with 1 in the rows that the split sends left. With s the residual, P = Z' diag(s) Z
# holds for every pair of splits the sum of s over the rows that both send left. P and its diagonal give the sums of
# all four leaves of every pair of splits, and so the edges of all trees of depth 2.

MOST_PAIRED = 2**14
"""The most splits that are paired: P takes 2 GiB for so many, and a few matrices of its size are made of it."""
# Edges that differ by less than the share ``EVEN`` of the residuals' sizes are equal, and the first split is taken:
# rounding errors depend on the unit of the weights.

ROWS_PER_BLOCK = 4096
"""How many rows of Z are converted to double precision at a time."""


class BinarySplits:
    """Every split of the bins as a column of zeros and ones; of splits that separate the same rows only one is kept."""

    def __init__(self, bins: Bins) -> None:
        if bins.n_splits > MOST_PAIRED:
            raise InvalidDataError(
                f"X has {bins.n_splits} splits, more than the {MOST_PAIRED} that trees of depth 2 or more with the "
                "largest edge can be searched among: put rare categories together, choose a smaller n_thresholds, "
                "max_depth=1, or learner='cart'."
            )
        self.splits: list[Split] = []
        kept: list[NDArray[np.uint8]] = []
        seen: set[bytes] = set()
        for feature, splits in enumerate(bins.splits):
            for k, split in enumerate(splits):
                left = bins.goes_left(feature, k)
                key = np.packbits(left if left[0] else ~left).tobytes()
                if left.all() or not left.any() or key in seen:
                    continue
                seen.add(key)
                self.splits.append(split)
                kept.append(left.astype(np.uint8))
        n_rows = len(bins.codes[0]) if bins.codes else 0
        self.Z: NDArray[np.uint8] = np.stack(kept, axis=1) if kept else np.zeros((n_rows, 0), dtype=np.uint8)

    def pair_sums(self, s: Vector) -> Matrix:
        """P = Z' diag(s) Z."""
        total = np.zeros((self.Z.shape[1], self.Z.shape[1]))
        for start in range(0, len(s), ROWS_PER_BLOCK):
            rows = slice(start, start + ROWS_PER_BLOCK)
            block = self.Z[rows].astype(np.float64)
            total += block.T @ (block * s[rows, None])
        return total


def first_largest(values: Matrix, rounding: float) -> Integers:
    """For each row the place of its largest entry, of equal ones that of the first."""
    return (values >= values.max(axis=-1, keepdims=True) - rounding).argmax(axis=-1)


def best_of_depth_two(binary: BinarySplits, s: Vector) -> Branch | None:
    """The tree of depth at most 2 with the largest edge."""
    return next(by_first_split(binary, s), None)


def by_first_split(binary: BinarySplits, s: Vector) -> Iterator[Branch]:
    """The best tree of depth at most 2 for each first split, the largest edge first."""
    if not binary.splits:
        return
    both, total, rounding = binary.pair_sums(s), float(s.sum()), EVEN * float(np.abs(s).sum())
    left = both.diagonal()
    right = total - left
    on_left = np.abs(both) + np.abs(left[:, None] - both)
    rest = left[None, :] - both
    on_right = np.abs(rest) + np.abs(right[:, None] - rest)
    g_left, g_right = first_largest(on_left, rounding), first_largest(on_right, rounding)
    every = np.arange(len(left))
    edges = on_left[every, g_left] + on_right[every, g_right]
    steps = np.rint(edges / rounding) if rounding > 0 else edges
    for f in np.argsort(-steps, kind="stable").tolist():
        below = [
            _child(binary, int(g_left[f]), float(on_left[f, g_left[f]]), float(left[f]), rounding),
            _child(binary, int(g_right[f]), float(on_right[f, g_right[f]]), float(right[f]), rounding),
        ]
        gain = abs(left[f]) + abs(right[f]) - abs(total)
        yield Branch(binary.splits[f], max(float(gain), 0.0), *below)


def _child(binary: BinarySplits, g: int, edge: float, unsplit: float, rounding: float) -> Branch | None:
    """The split g, if its two leaves vote differently; else None, a leaf."""
    gain = edge - abs(unsplit)
    return Branch(binary.splits[g], gain) if gain > rounding else None


# Van der Linden, de Weerdt & Demirovic, "Necessary and sufficient conditions for optimal decision trees using dynamic
# programming", NeurIPS 2023. Every row has a cost for each label: for two classes |s_i| for the label opposite to the
# sign of its residual s_i, and 0 for the other one.


def require_streed() -> Any:
    """STreeD's classifier with a cost for each row and label."""
    try:
        from pystreed import STreeDInstanceCostSensitiveClassifier
    except ImportError as error:
        raise MissingDependencyError(
            f"learner='optimal' with max_depth of 3 or more needs STreeD: {how_to_install('pystreed')}. "
            "Depths 1 and 2 do without."
        ) from error
    return STreeDInstanceCostSensitiveClassifier


def costs_of_signs(residual: Vector) -> Matrix:
    """The costs of a row in leaves that vote -1 and +1."""
    return np.column_stack([np.maximum(residual, 0.0), np.maximum(-residual, 0.0)])


def best_within(
    binary: BinarySplits, costs: Matrix, depth: int, seconds: float, seed: int
) -> tuple[Branch | None, bool]:
    """The tree of least cost found within the time, and whether it is proven optimal; a cost for each row and label."""
    rows = np.flatnonzero(costs.any(axis=1))
    if not binary.splits or not costs.any(axis=0).all():  # a label that costs nothing: a leaf is the best tree
        return None, True
    costs = costs[rows] * (len(rows) / costs.sum())
    solver = require_streed()(max_depth=depth, time_limit=seconds, random_seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver.fit(binary.Z[rows], costs)
    if not hasattr(solver, "tree_"):
        return None, False
    return _branch(solver.tree_, binary), bool(solver.fit_result.is_optimal())


def _branch(node: Any, binary: BinarySplits) -> Branch | None:
    """STreeD's node as a ``Branch``; STreeD's right child, where the split is satisfied, is the left side here."""
    if node.is_leaf_node():
        return None
    left, right = _branch(node.right_child, binary), _branch(node.left_child, binary)
    return Branch(binary.splits[node.feature], 1.0, left, right)


# Of a leaf that votes for class k, the edge is the sum of the k-th residuals of its rows. So the best tree is that of
# the least cost, where a row costs its largest residual minus that of the class its leaf votes for: K costs a row.

SPLITS_AT_ONCE = 64
"""For how many splits of the root all splits below are compared at a time."""


def costs_of_classes(residual: Matrix) -> Matrix:
    """The cost of each row in a leaf of each class."""
    return np.asarray(residual.max(axis=1, keepdims=True) - residual)


def best_pair_of_splits(binary: BinarySplits, residual: Matrix) -> Branch | None:
    """The tree of depth at most 2 with the largest edge."""
    if not binary.splits:
        return None
    both = np.stack([binary.pair_sums(own) for own in residual.T], axis=-1)
    left, total = np.einsum("iik->ik", both).copy(), residual.sum(axis=0)
    right, rounding = total - left, EVEN * float(np.abs(residual).sum())
    best_splits = [np.zeros(len(left), dtype=np.intp) for _ in range(2)]
    edges = [np.zeros(len(left)) for _ in range(2)]
    for start in range(0, len(left), SPLITS_AT_ONCE):
        roots = slice(start, start + SPLITS_AT_ONCE)
        inside = both[roots]
        for k, (sums, whole) in enumerate(((inside, left[roots]), (left[None] - inside, right[roots]))):
            worth = sums.max(axis=-1) + (whole[:, None] - sums).max(axis=-1)
            best_splits[k][roots] = first_largest(worth, rounding)
            edges[k][roots] = worth.max(axis=1)
    f = int(first_largest(edges[0] + edges[1], rounding))
    below = [
        _class_child(binary, int(best_splits[k][f]), float(edges[k][f]), side[f], rounding)
        for k, side in enumerate((left, right))
    ]
    gain = left[f].max() + right[f].max() - total.max()
    return Branch(binary.splits[f], max(float(gain), 0.0), *below)


def _class_child(binary: BinarySplits, g: int, edge: float, unsplit: Vector, least: float) -> Branch | None:
    """The split g, if its two leaves vote differently; else None, a leaf."""
    gain = edge - float(unsplit.max())
    return Branch(binary.splits[g], gain) if gain > least else None


MOST_SPLITS = {2: 512, 3: 128}
"""By depth (3 stands for 3 and more), about how many splits all features have together, by default."""

LEAST_SECONDS = 0.1
"""The seconds that STreeD gets for a tree even if the time of the fit is nearly up."""

MOST_DEPTH = 20
"""The largest depth that STreeD supports; at more, a tree of this depth is found, without a proof."""


@dataclass
class OptimalLearner(TreeLearner):
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
    """Deeper trees take seconds each, and an extra, so they are grown only for an explicit depth."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("tree_time_limit", self.tree_time_limit)

    def _pricer(self, data: TrainingData, context: PricingContext) -> OptimalPricer:
        return OptimalPricer(data, self, context)

    def _grower(self, data: TrainingData, context: PricingContext) -> Grower:
        return PricedTrees(self._pricer(data, context), data.X)

    _class_pricer, _class_grower = _pricer, _grower


class Search(NamedTuple):
    """The functions that depend on the number of votes of a learner for a row."""

    best_of_depth_two: Callable[[BinarySplits, Vector], Branch | None]
    costs: Callable[[Vector], Matrix]
    priced: Callable[..., PricedColumn]


ONE_VOTE = Search(best_of_depth_two, costs_of_signs, priced)
VOTES_FOR_CLASSES = Search(best_pair_of_splits, costs_of_classes, priced_for_classes)


class OptimalPricer(Pricer):
    """The tree with the largest edge: by enumeration at depths 1 and 2, by STreeD at more.

    The class of learners are the trees on given cuts of the features: every threshold (at most 255 for each feature) at
    depth 1, and ``n_thresholds`` quantiles of each feature at more. CART may cut elsewhere; if CART's tree has a larger
    edge, it is returned instead.
    """

    def __init__(self, data: TrainingData, learner: OptimalLearner, context: PricingContext) -> None:
        self._data, self._voting, self._seconds = data, learner.voting, learner.tree_time_limit
        self._max_depth, self._seed = context.max_depth, context.seed
        self.is_exact = learner.voting == "hard"
        self._search_of = ONE_VOTE if context.n_outputs == 1 else VOTES_FOR_CLASSES
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

    def price(self, residual: Vector, feature_multiplier: Vector | None) -> PricedColumn:
        """The tree with the largest edge; ``feature_multiplier`` is taken into account at depth 1 only."""
        best = self._optimal(residual, feature_multiplier)
        if feature_multiplier is not None:
            return best._replace(is_proven=False)
        try:
            other = self._cart.price(residual, None)
        except GrowingError:  # the best tree on the cuts does not need it
            return best
        if np.vdot(residual, other.votes) > np.vdot(residual, best.votes) + 1e-12 * np.abs(residual).sum():
            return other._replace(is_proven=best.is_proven)
        return best

    def others(self, residual: Vector, feature_multiplier: Vector | None) -> Iterator[PricedColumn]:
        """Every stump, the largest edge first; at more depth the best tree for each first split, or CART's trees."""
        if self._stumps is not None:
            return self._stumps.others(residual, feature_multiplier)
        if self._max_depth == 2 and self._search_of is ONE_VOTE:
            roots = by_first_split(self._binary, residual)
            return (priced(build_tree(root), self._data, residual, self._voting) for root in roots)
        return self._cart.others(residual, feature_multiplier)

    def _optimal(self, residual: Vector, feature_multiplier: Vector | None) -> PricedColumn:
        if self._stumps is not None:
            return self._stumps.price(residual, feature_multiplier)
        root, is_proven = self._search(residual)
        is_proven = is_proven and self.is_exact
        return self._search_of.priced(build_tree(root), self._data, residual, self._voting, is_proven)

    def _search(self, residual: Vector) -> tuple[Branch | None, bool]:
        if self._max_depth == 2:
            return self._search_of.best_of_depth_two(self._binary, residual), True
        depth = min(self._max_depth, MOST_DEPTH)
        costs = self._search_of.costs(residual)
        seconds = min(self._seconds, max(seconds_left(), LEAST_SECONDS))
        root, is_proven = best_within(self._binary, costs, depth, seconds, self._seed)
        return root, is_proven and depth == self._max_depth


def _default_cuts(depth: int, data: TrainingData) -> int:
    """The number of cuts of each feature: the splits allowed, divided by the number of features.

    A feature with missing values counts twice, because it has two splits for each cut.
    """
    n_features = data.X.shape[1] + int(has_missing(data.X).sum()) if data.X.shape[0] else data.X.shape[1]
    return max(1, min(MOST_BIN_CUTS, MOST_SPLITS[min(depth, 3)] // max(n_features, 1)))


def _count(n_splits: int, depth: int, n_classes: int) -> float:
    """An upper bound on the number of trees, which counts every choice of splits and votes."""
    count = float(n_classes)
    for _ in range(depth):
        count = min(n_classes + n_splits * count**2, 1e300) if count < 1e150 else np.inf
    return count
