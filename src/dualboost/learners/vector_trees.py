"""Trees with one value for each class in every leaf."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Integers, Matrix, Vector
from ..matrix.leaves import leaf_indicators
from ..trees.growing import EVEN, MOST_BIN_CUTS, Bins, Branch, build_tree
from ..trees.tree import Tree
from ..workers import ALONE, Communicator
from ..workers.base import summed
from .base import AllowedFeatures, Mask, PricedColumn, Pricer, PricingContext, TrainingData, TreeLimits
from .lightgbm import FEW, CategoryOptions
from .newton_trees import LAST_RESORT, GrownTree, lightest_leaf

# A split is judged by the sum over both sides and all classes of G^2/(H + ridge), G and H being the sums of the
# residual and of the curvature: twice the decrease of the objective to second order. LightGBM grows trees for one
# residual only. Trees for the first singular vectors of the residual, with values for all classes, needed half as many
# trees again for the same loss.

ROUNDING = 1e-12
"""A gain that exceeds another one by a smaller share of it is equal to it."""

FEATURES_AT_ONCE = 32
"""Of how many features workers add up the histograms in one message."""
ROWS_AT_ONCE = 32768
"""How many rows are added up in single precision, which is twice as fast."""


class Level(NamedTuple):
    """The rows that may be split further, and the node that each is in, counted from 0."""

    rows: Integers
    places: Integers
    n_nodes: int
    sums: NDArray[np.floating]
    """For each row the numbers that splits are judged by."""
    allowed: Mask | None = None
    """The features that each node may be split by; None for all."""


class Choice(NamedTuple):
    """For each node of a level, the feature and the number of its best split, and its gain."""

    features: Integers
    numbers: Integers
    gains: Vector


class Found(NamedTuple):
    """The split of a node: its feature, its number among the splits of the feature, and its gain."""

    feature: int
    number: int
    gain: float
    left: int
    """The name of the node on its left; the one on its right has the next name."""


Rule = Callable[[NDArray[np.float64], NDArray[np.float64]], Matrix]
"""The gain of every split of every node, given the sums on its left and the sums of the node."""


class Rules(NamedTuple):
    """The rule for most features, and that for those with many categories."""

    of_most: Rule
    of_many: Rule


class LevelTrees:
    """Grows trees level by level from histograms of several numbers a row at once."""

    def __init__(self, bins: Bins, data: TrainingData, context: PricingContext) -> None:
        self._bins, self._max_depth, self._limits = bins, context.max_depth, context.limits
        self._workers, self._record, self._X = data.workers, data.record, data.X
        self._n_merged = data.n_merged if self._limits.has_few_rows else None
        self._allowed = AllowedFeatures(self._limits, data.X.shape[1])

    def grow_by(self, rule: Rule, sums: NDArray[np.floating], of_many: Rule | None = None) -> GrownTree | None:
        """The tree whose splits gain most by the rule, or None if none gains anything.

        ``of_many`` is the rule for features with many categories, if it is another one.
        """
        if self._record.has_next:
            known = self._record.next()
            return None if known is None else GrownTree.of(known, self._X)
        grown = self._grown_by(Rules(rule, of_many or rule), sums)
        self._record.add(None if grown is None else grown.tree)
        return grown

    def _grown_by(self, rules: Rules, sums: NDArray[np.floating]) -> GrownTree | None:
        if self._n_merged is not None:
            sums = np.column_stack([sums, self._n_merged.astype(sums.dtype)])
            rules = Rules(*(with_enough_rows(one, self._limits.fewest_rows) for one in rules))
        found, names = self._splits(rules, sums)
        if not found and self._limits.n_features is not None:
            found, names = self._splits(rules, sums, draws=False)
        if not found:
            return None
        n_names = 2 * len(found) + 1
        found, names = leading(found, names, self._limits)
        tree = build_tree(self._branch(found, 0))
        return GrownTree(tree, _leaf_numbers(tree, found, n_names).take(names))

    def _splits(
        self, rules: Rules, sums: NDArray[np.floating], draws: bool = True
    ) -> tuple[dict[int, Found], Integers]:
        """The split of each node, and the node that each row ends in; nodes are named in the order of their making."""
        found: dict[int, Found] = {}
        paths: dict[int, frozenset[int]] = {0: frozenset()}
        names = np.zeros(len(sums), dtype=np.intp)
        rows, first, n_nodes = np.arange(len(sums)), 0, 1
        for _ in range(self._max_depth):
            places = names[rows] - first  # the nodes of a level were made one after the other
            here = [paths[first + k] for k in range(n_nodes)]
            allowed = self._allowed.after(here, draws) if self._allowed.is_limited else None
            level = Level(rows, places, n_nodes, sums[rows], allowed)
            choice = best_splits(self._bins, level, rules, self._workers)
            below = 2 * len(found) + 1
            for k in np.flatnonzero(choice.features >= 0).tolist():
                feature, number, left = int(choice.features[k]), int(choice.numbers[k]), 2 * len(found) + 1
                found[first + k] = Found(feature, number, float(choice.gains[k]), left)
                paths[left] = paths[left + 1] = here[k] | {feature}
                own = rows[places == k]
                names[own] = np.where(self._bins.goes_left(feature, number, own), left, left + 1)
            rows = rows[choice.features[places] >= 0]
            first, n_nodes = below, 2 * len(found) + 1 - below
            if not n_nodes:
                break
        return found, names

    def _branch(self, found: dict[int, Found], name: int) -> Branch | None:
        if name not in found:
            return None
        own = found[name]
        below = [self._branch(found, child) for child in (own.left, own.left + 1)]
        return Branch(self._bins.splits[own.feature][own.number], own.gain, *below)


class VectorTrees:
    """Grows trees for leaves that have a value for each class."""

    def __init__(
        self,
        data: TrainingData,
        context: PricingContext,
        precision: type[np.floating] = np.float32,
        n_cuts: int = MOST_BIN_CUTS,
    ) -> None:
        self._trees = LevelTrees(Bins(data.X, data.categorical, n_cuts, data.workers), data, context)
        self._precision = precision
        self._has_grown = False

    def grow(self, residual: Matrix, curvature: Matrix, ridge: float) -> GrownTree | None:
        sums = np.hstack([residual, curvature]).astype(self._precision)
        grown = self._trees.grow_by(fall_rule(ridge, lightest_leaf(ridge)), sums)
        if grown is None and not self._has_grown:
            grown = self._trees.grow_by(fall_rule(ridge, LAST_RESORT), sums)
        self._has_grown |= grown is not None
        return grown


def leading(found: dict[int, Found], names: Integers, limits: TreeLimits) -> tuple[dict[int, Found], Integers]:
    """The splits that a tree with so many leaves has if the node that gains most is split first, and the rows' nodes.

    The gain of a node does not depend on when it is split, so that a tree may be grown in any order first.
    """
    if limits.most_leaves is None or len(found) < limits.most_leaves:
        return found, names
    kept: dict[int, Found] = {}
    pending = [(-found[0].gain, 0)]
    while pending and len(kept) < limits.most_leaves - 1:
        _, name = heappop(pending)
        kept[name] = found[name]
        for below in (found[name].left, found[name].left + 1):
            if below in found:
                heappush(pending, (-found[below].gain, below))
    ends_in = np.arange(2 * len(found) + 1)
    for name in sorted(found.keys() - kept.keys()):  # a node above has a smaller name
        ends_in[[found[name].left, found[name].left + 1]] = ends_in[name]
    return kept, ends_in[names]


def _leaf_numbers(tree: Tree, found: dict[int, Found], n_names: int) -> NDArray[np.unsignedinteger]:
    """The number of the leaf that each node is, by name; nodes with a split have none."""
    numbers = np.zeros(n_names, dtype=np.min_scalar_type(tree.n_leaves - 1))
    pending = [(0, 0)]
    while pending:
        node, name = pending.pop()
        for child, own in ((int(tree.left[node]), found[name].left), (int(tree.right[node]), found[name].left + 1)):
            if child >= 0:
                pending.append((child, own))
            else:
                numbers[own] = ~child
    return numbers


def best_splits(bins: Bins, level: Level, rules: Rules, workers: Communicator = ALONE) -> Choice:
    """The best split of every node; the feature is -1 where none gains anything."""
    n = level.n_nodes
    features, numbers, gains = np.full(n, -1), np.zeros(n, dtype=np.intp), np.zeros(n)
    totals = workers.sum(_histograms(level.places, n, level.sums))[:, None]
    for feature, histograms in _of_features(bins, level, workers):
        has_many = bins.is_categorical[feature] and len(bins.splits[feature]) > FEW
        worth = (rules.of_many if has_many else rules.of_most)(bins.left_of(feature, histograms), totals)
        best = worth.argmax(axis=1)
        reached = worth[np.arange(n), best]
        better = reached > (1.0 + ROUNDING) * gains
        if level.allowed is not None:
            better &= level.allowed[:, feature]
        features[better], numbers[better], gains[better] = feature, best[better], reached[better]
    return Choice(features, numbers, gains)


def _of_features(bins: Bins, level: Level, workers: Communicator) -> Iterator[tuple[int, Matrix]]:
    """Each feature that can be split, with its histograms over the rows of all workers by node and bin."""
    features = [feature for feature, splits in enumerate(bins.splits) if splits]
    n_at_once = 1 if workers.size == 1 else FEATURES_AT_ONCE
    for start in range(0, len(features), n_at_once):
        some = features[start : start + n_at_once]
        own = []
        for feature in some:
            width = bins.n_bins(feature)
            places = level.places * width + bins.codes[feature][level.rows]
            own.append(_histograms(places, level.n_nodes * width, level.sums).reshape(level.n_nodes, width, -1))
        yield from zip(some, own if workers.size == 1 else summed(workers, own), strict=True)


def _histograms(places: Integers, n_places: int, sums: NDArray[np.floating]) -> Matrix:
    """The sum of the rows at each place, all columns in one pass; in their precision within a block of rows only."""
    total = np.zeros((n_places, sums.shape[1]))
    for start in range(0, len(places), ROWS_AT_ONCE):
        here = places[start : start + ROWS_AT_ONCE].astype(np.int32)
        ends = np.arange(len(here) + 1, dtype=np.int32)
        indicators = sparse.csc_matrix((np.ones(len(here), np.float32), here, ends), shape=(n_places, len(here)))
        total += indicators @ sums[start : start + ROWS_AT_ONCE]
    return total


def fall_rule(ridge: float, lightest: float) -> Rule:
    """How much the objective falls by a split; zero where a side is too light. Sums are residuals, then curvatures."""

    def gains(left: NDArray[np.float64], totals: NDArray[np.float64]) -> Matrix:
        right = totals - left
        objective_decrease = 0.5 * (_worth(left, ridge) + _worth(right, ridge) - _worth(totals, ridge))
        n_classes = left.shape[-1] // 2
        weights = [side[..., n_classes:].mean(axis=-1) for side in (left, right)]
        return np.asarray(np.where(np.minimum(*weights) >= lightest, objective_decrease, 0.0))

    return gains


def with_enough_rows(rule: Rule, fewest: int) -> Rule:
    """The rule for sums that end with a number of rows: zero where a side has too few."""

    def gains(left: NDArray[np.float64], totals: NDArray[np.float64]) -> Matrix:
        n_left = left[..., -1]
        is_enough = np.minimum(n_left, totals[..., -1] - n_left) >= fewest
        return np.asarray(np.where(is_enough, rule(left[..., :-1], totals[..., :-1]), 0.0))

    return gains


def _worth(sums: NDArray[np.float64], ridge: float) -> Matrix:
    """The sum over the classes of G^2/(H + ridge)."""
    n_classes = sums.shape[-1] // 2
    worth: Matrix = (sums[..., :n_classes] ** 2 / (sums[..., n_classes:] + ridge)).sum(axis=-1)
    return worth


# A hard vote is for one class: the one with the largest sum of residuals in the leaf, so that the edge of a tree is
# the sum over its leaves of that largest sum. A confidence-rated vote is the share of each class among the rows of
# the leaf, weighted by their residuals. Of two classes, the difference of both votes is the vote of a tree for two
# classes.

TINY = 1e-6
"""The ridge, and the lightest leaf, of splits by Gini impurity: small beside the residuals, whose mean size is one."""
TIE_BREAKING = 1e-12
"""How much the purity of leaves counts beside their edge: it only decides between equal edges."""


STEP_OF_SHARES = 2.0**-23
"""Shares of classes are multiples of this, so that single precision, in which the solver stores the difference of two
shares, holds it exactly, and the gap is that of the votes as they are."""


def exact_shares(shares: Matrix) -> Matrix:
    return np.asarray(np.round(shares / STEP_OF_SHARES) * STEP_OF_SHARES)


def class_votes(sums: Matrix, own_sums: Matrix, voting: str) -> Matrix:
    """The votes of leaves, given the sums of the residuals and of their positive parts."""
    totals = own_sums.sum(axis=1, keepdims=True)
    if voting == "hard":
        is_largest = sums >= sums.max(axis=1, keepdims=True) - EVEN * totals
        return np.eye(sums.shape[1])[is_largest.argmax(axis=1)]
    even = np.full_like(own_sums, 1.0 / own_sums.shape[1])
    shares = np.divide(own_sums, totals, out=even, where=totals > 0)
    return exact_shares(shares)


def priced_for_classes(
    tree: Tree, data: TrainingData, residual: Matrix, voting: str, is_proven: bool = False
) -> PricedColumn:
    """The tree as a column, with the votes of its leaves chosen for the residual."""
    leaves = tree.leaves(data.X)
    indicators = leaf_indicators(leaves, tree.n_leaves)
    sums = data.workers.sum(np.array([indicators @ residual, indicators @ np.maximum(residual, 0.0)]))
    votes = class_votes(sums[0], sums[1], voting)
    return PricedColumn(tree.with_votes(votes), votes[leaves], is_proven)


def edge_rule(left: Matrix, totals: Matrix) -> Matrix:
    """By how much a split raises the edge, ties decided by purity; sums are residuals, then their sizes."""
    n_classes = left.shape[-1] // 2

    def worth(sums: Matrix) -> Matrix:
        purity = (sums[..., :n_classes] ** 2).sum(axis=-1) / np.maximum(sums[..., n_classes:].sum(axis=-1), 1e-300)
        return np.asarray(sums[..., :n_classes].max(axis=-1) + TIE_BREAKING * purity)

    gains = worth(left) + worth(totals - left) - worth(totals)
    rounding = 0.01 * TIE_BREAKING * totals[..., n_classes:].sum(axis=-1)
    return np.where(gains > rounding, gains, 0.0)


class ClassCartPricer(Pricer):
    """Grows one tree for each call, by Gini impurity, or by edge, which is exact at depth 1."""

    def __init__(
        self,
        data: TrainingData,
        context: PricingContext,
        voting: str,
        by_edge: bool = False,
        n_cuts: int | None = None,
        precision: type[np.floating] = np.float32,
    ) -> None:
        self._data, self._voting, self._by_edge, self._precision = data, voting, by_edge, precision
        bins = Bins(data.X, data.categorical, n_cuts or MOST_BIN_CUTS, data.workers)
        self._trees = LevelTrees(bins, data, context)
        self._categories = CategoryOptions(data.rows_each)
        self.is_exact = by_edge and context.max_depth == 1 and voting == "hard"
        n_classes = context.n_outputs
        self.n_learners = n_classes**2 * bins.n_splits + float(n_classes) if self.is_exact else np.inf

    def price(self, residual: Matrix, feature_multiplier: Vector | None) -> PricedColumn:
        own = np.array([np.abs(residual).sum(), residual.size], dtype=float)
        total, n_entries = self._data.workers.sum(own).tolist()
        size = total / n_entries
        scaled = residual / size if size > 0 else residual
        sums = np.hstack([scaled, np.abs(scaled)])
        if self._by_edge:
            grown = self._trees.grow_by(edge_rule, sums)
        else:
            held_back = fall_rule(self._categories.extra_ridge, self._categories.fewest_rows)
            grown = self._trees.grow_by(fall_rule(TINY, TINY), sums.astype(self._precision), held_back)
        tree = build_tree(None) if grown is None else grown.tree
        return priced_for_classes(tree, self._data, residual, self._voting, self.is_exact)
