"""The bases of learners and pricers of trees, and CART: by Gini impurity with LightGBM, and by weighted error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import lightgbm
import numpy as np

from .._typing import Features, Integers, Vector
from ..arguments import ParameterObject, require_choice, require_integer
from ..matrix.rows import MEMORY, Device
from ..trees.growing import EVEN, MOST_BIN_CUTS, Bins, Branch, build_tree, leaf_votes
from ..trees.ordering import leaf_order
from ..trees.tree import Tree, constant_tree
from ..workers import ALONE, Communicator
from .base import PricedColumn, Pricer, PricingContext, TrainingData, priced, require_voting
from .lightgbm import SMALLEST_LEAVES, LightGBMRows, tree_parameters, varies, with_heavier_leaves
from .newton_trees import Grower, GrownTree, NewtonTrees
from .stump_exchange import StumpExchange
from .vector_trees import ClassCartPricer, VectorTrees


class TreePricer(Pricer):
    """The base of pricers of trees that are grown greedily: they prove nothing, and can leave out features."""

    is_exact = False
    n_learners = float("inf")

    def __init__(self, data: TrainingData, voting: str, context: PricingContext) -> None:
        self._data, self._voting, self._limits = data, voting, context.limits

    def others(self, residual: Vector, feature_multiplier: Vector | None) -> Iterator[PricedColumn]:
        """Columns on ever fewer features: each without the feature that gained most in the column before."""
        n_features = self._data.X.shape[1]
        allowed = np.ones(n_features) if feature_multiplier is None else feature_multiplier.copy()
        column = self.price(residual, feature_multiplier)
        for _ in range(n_features):
            gains = column.learner.feature_gains(n_features)
            leading = int(gains.argmax())
            if gains[leading] <= 0 or allowed[leading] == 0:
                return
            allowed[leading] = 0.0
            column = self.price(residual, allowed)
            yield column._replace(is_proven=False)

    def _priced(self, tree: Tree, residual: Vector, leaves: Integers | None = None) -> PricedColumn:
        """The tree as a column within the limits; ``leaves`` has the leaf of each row in the tree as it was grown.

        With monotonic constraints, its leaves keep the votes that the tree was grown with, put in order.
        """
        held = self._data.held_to(self._limits, tree)
        order = None if self._limits.signs is None else leaf_order(held, self._limits.signs)
        if order is None:
            return priced(held, self._data, residual, self._voting, leaves=leaves if held is tree else None)
        learner = held.with_votes(leaf_votes(order.nearest(held.votes), np.ones(held.n_leaves), self._voting))
        return PricedColumn(learner, self._data.device.put(learner.vote(self._data.X)))


class TreeLearner(ParameterObject):
    """The base of learners of trees: their own depth comes before the depth of the estimator."""

    max_depth: int | None
    voting: str
    n_thresholds: int | None = None

    def __post_init__(self) -> None:
        if self.max_depth is not None:
            require_integer("max_depth", self.max_depth, least=1)
        require_voting(self.voting)
        if self.n_thresholds is not None:
            require_integer("n_thresholds", self.n_thresholds, least=1)

    def pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        context = context.with_depth(self.max_depth)
        return self._pricer(data, context) if context.n_outputs == 1 else self._class_pricer(data, context)

    def grower(self, data: TrainingData, context: PricingContext) -> Grower:
        context = context.with_depth(self.max_depth)
        return self._grower(data, context) if context.n_outputs == 1 else self._class_grower(data, context)

    def _pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        raise NotImplementedError

    def _class_pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        raise NotImplementedError

    def _grower(self, data: TrainingData, context: PricingContext) -> Grower:
        raise NotImplementedError

    def _class_grower(self, data: TrainingData, context: PricingContext) -> Grower:
        raise NotImplementedError


class PricedTrees:
    """Trees with a large edge, for leaves that are optimised: only their splits are used."""

    def __init__(self, pricer: Pricer, X: Features) -> None:
        self._pricer = pricer
        self._X = X

    def grow(self, residual: Vector, curvature: Vector, ridge: float) -> GrownTree | None:
        tree = self._pricer.price(residual, None).learner
        assert isinstance(tree, Tree), "a grower needs a pricer of trees"
        return GrownTree.of(tree, self._X) if tree.n_leaves > 1 else None


class BestGrower:
    """Of the trees of several growers, takes the one that lowers the objective most if its leaves alone move."""

    def __init__(self, growers: Sequence[Grower], workers: Communicator = ALONE, device: Device = MEMORY) -> None:
        self._growers, self._where = growers, (workers, device)

    def grow(self, residual: Vector, curvature: Vector, ridge: float) -> GrownTree | None:
        offers = [grower.grow(residual, curvature, ridge) for grower in self._growers]
        found = [offer for offer in offers if offer is not None]
        return max(
            found, key=lambda offer: offer.objective_decrease(residual, curvature, ridge, *self._where), default=None
        )


# For a leaf with G = sum(r) and H = sum(|r|), LightGBM maximises the sum of G^2/H, and the weighted Gini impurity is
# half of H - G^2/H. The sum of H being fixed, both choose the same split.


@dataclass
class CartLearner(TreeLearner):
    """Trees that are grown greedily: ``learner="cart"`` with options.

    Parameters
    ----------
    max_depth : int, default=None
        The greatest depth of a tree; None takes that of the estimator.
    criterion : {"gini", "edge"}, default="gini"
        How splits are chosen: by weighted Gini impurity, or by weighted error (ties by Gini).
    voting : {"hard", "confidence"}, default="hard"
        A leaf votes -1 or +1, or its weighted class balance in [-1, 1]; of several classes, for one of them, or with
        their weighted shares.
    n_thresholds : int, default=None
        Cuts of each numeric feature, at quantiles, for criterion "edge"; None takes all, at most 255. With "gini" there
        are at most 255.
    """

    max_depth: int | None = None
    criterion: str = "gini"
    voting: str = "hard"
    n_thresholds: int | None = None

    name: ClassVar[str] = "cart"

    @property
    def takes_limits(self) -> bool:
        """Whether trees can be held to ``TreeLimits``."""
        return self.criterion == "gini"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("criterion", self.criterion, ["gini", "edge"])

    def _pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        if self.criterion == "edge":
            return EdgePricer(data, self.voting, context, self.n_thresholds)
        return CartPricer(data, self.voting, context)

    def _class_pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        return ClassCartPricer(data, context, self.voting, self.criterion == "edge", self.n_thresholds)

    def _grower(self, data: TrainingData, context: PricingContext) -> Grower:
        if self.criterion == "edge":
            return PricedTrees(self._pricer(data, context), data.X)
        stumps = StumpExchange(data, context.limits.fewest_rows) if context.has_free_stumps else None
        return NewtonTrees(data, context, stumps)

    def _class_grower(self, data: TrainingData, context: PricingContext) -> Grower:
        return VectorTrees(data, context)


class CartPricer(TreePricer):
    """Grows one tree for each call on binned training rows; the leaves vote by their weighted class balance."""

    def __init__(self, data: TrainingData, voting: str, context: PricingContext) -> None:
        super().__init__(data, voting, context)
        self._parameters = tree_parameters(data, context)
        self._lightgbm_rows = LightGBMRows(data, self._parameters, context.n_jobs)
        self._dataset = self._lightgbm_rows.dataset
        self._leaves_out_zeros = context.leave_out_zeros
        self._is_favouring = False
        self._grow_on(np.arange(data.X.shape[0]), self._dataset)
        self._can_split = varies(data.X)

    def price(self, residual: Vector, feature_multiplier: Vector | None) -> PricedColumn:
        if not self._can_split or (feature_multiplier is None and not self._is_favouring):
            return self._priced(self._grow(residual), residual)
        # gains grow with squares of edges
        factors = np.ones(self._data.X.shape[1]) if feature_multiplier is None else feature_multiplier**2
        self._booster.reset_parameter({"feature_contri": factors.tolist()})
        self._is_favouring = feature_multiplier is not None
        tree = self._grow(residual)
        return self._priced(replace(tree, gain=tree.gain / factors[tree.feature]), residual)

    def _grow(self, residual: Vector) -> Tree:
        size = np.abs(residual)
        if not self._can_split or not size.any():
            return constant_tree(-1.0)
        if self._leaves_out_zeros:
            self._leave_out(size)
            residual, size = residual[self._rows], size[self._rows]
        scale = np.count_nonzero(size) / size.sum()
        np.multiply(residual, -scale, out=self._gradients, casting="same_kind")
        np.multiply(size, scale, out=self._hessians, casting="same_kind")
        return with_heavier_leaves(self._grow_once, SMALLEST_LEAVES)

    def _grow_on(self, rows: Integers, dataset: lightgbm.Dataset) -> None:
        self._rows = rows
        self._gradients = np.empty(len(rows), dtype=np.float32)
        self._hessians = np.empty(len(rows), dtype=np.float32)
        self._booster = lightgbm.Booster(self._parameters, dataset)
        self._grown_on = dataset
        self._smallest_leaf = SMALLEST_LEAVES[0]

    def _leave_out(self, size: Vector) -> None:
        """Grow on the rows whose residual is not zero from now on, with the bins of all rows."""
        rows = np.flatnonzero(size)
        if not np.array_equal(rows, self._rows):
            part: Any = rows  # LightGBM's types require a list, which LightGBM would turn into an array
            self._grow_on(rows, self._dataset.subset(part) if len(rows) < len(size) else self._dataset)

    def _grow_once(self, smallest_leaf: float) -> Tree:
        if smallest_leaf != self._smallest_leaf:
            self._booster.reset_parameter({"min_sum_hessian_in_leaf": smallest_leaf})
            self._smallest_leaf = smallest_leaf
        held = self._booster.num_trees()
        self._lightgbm_rows.update(self._booster, self._derivatives)
        if self._booster.num_trees() == held:
            return constant_tree(0.0)
        tree = self._lightgbm_rows.tree(self._booster, held)
        again = self._limits.for_second_time(tree)
        if again is None:
            return tree
        return self._lightgbm_rows.tree_beside(self._booster, again, self._grown_on, self._derivatives)

    def _derivatives(self, predictions: Vector, rows: lightgbm.Dataset) -> tuple[Any, Any]:
        return self._gradients, self._hessians


class Stump(NamedTuple):
    """A split, with the edge that it has if both leaves vote the sign of their sum of residuals."""

    feature: int
    k: int
    edge: float
    gini_gain: float
    worth: float
    """The edge times the multiplier of its feature."""


def best_stump(
    bins: Bins, s: Vector, rows: Integers | slice = slice(None), feature_multiplier: Vector | None = None
) -> Stump | None:
    """The split with the largest |sum left| + |sum right| of the residual s, times its multiplier.

    Of equally good splits, the one with the largest Gini gain is taken; of these, the first.
    """
    total, weights = float(s[rows].sum()), np.abs(s)
    weight = float(weights[rows].sum())
    best: Stump | None = None
    for feature, splits in enumerate(bins.splits):
        if not splits:
            continue
        left, heavy = bins.left_sums(feature, s, rows), bins.left_sums(feature, weights, rows)
        edges = np.abs(left) + np.abs(total - left)
        gains = _purity(left, heavy) + _purity(total - left, weight - heavy)
        top = np.flatnonzero(edges >= edges.max() - 1e-12 * weight)
        k = int(top[np.argmax(gains[top])])
        worth = float(edges[k] if feature_multiplier is None else feature_multiplier[feature] * edges[k])
        gain = float(gains[k] - _purity(np.array(total), np.array(weight)))
        found = Stump(feature, k, float(edges[k]), gain, worth)
        if best is None or _is_better(found, best, 1e-12 * weight):
            best = found
    return best


def _is_better(one: Stump, other: Stump, rounding: float) -> bool:
    if abs(one.worth - other.worth) > rounding:
        return one.worth > other.worth
    return one.gini_gain > other.gini_gain + rounding


def _purity(balance: Vector, weight: Vector) -> Vector:
    """G^2/H, which is larger for purer leaves: the Gini impurity of a leaf, times H, is half of H - G^2/H."""
    return np.divide(balance**2, weight, out=np.zeros_like(balance, dtype=float), where=weight > 0)


def stumps_by_edge(bins: Bins, data: TrainingData, residual: Vector) -> Iterator[PricedColumn]:
    """All stumps that vote -1 or 1, and the two constant votes, the largest edge first."""
    total = float(residual.sum())
    splits = [(feature, k) for feature, own in enumerate(bins.splits) for k in range(len(own))]
    left = [bins.left_sums(feature, residual, slice(None)) for feature, own in enumerate(bins.splits) if own]
    for_left = 2.0 * np.concatenate([*left, [total]]) - total  # the last one is constant: all rows go left
    edges = np.concatenate([for_left, -for_left])
    rounding = EVEN * float(np.abs(residual).sum())
    steps = np.rint(edges / rounding) if rounding > 0 else edges
    for at in np.argsort(-steps, kind="stable").tolist():
        j, sign = at % len(for_left), 1.0 if at < len(for_left) else -1.0
        if j == len(splits):
            yield priced(build_tree(None), data, np.full(len(residual), sign), "hard")
            continue
        feature, k = splits[j]
        votes = np.where(bins.goes_left(feature, k), sign, -sign)
        branch = Branch(bins.splits[feature][k], gain=max(abs(float(edges[at])), np.finfo(float).tiny))
        yield priced(build_tree(branch), data, votes, "hard")


class EdgePricer(TreePricer):
    """CART by weighted error: every split is the one with the largest edge, ties broken by Gini impurity.

    At depth 1 the pricer is exact: no stump on its bins has a larger edge.
    """

    def __init__(
        self, data: TrainingData, voting: str, context: PricingContext, n_thresholds: int | None = None
    ) -> None:
        super().__init__(data, voting, context)
        self._max_depth = context.max_depth
        self._bins = Bins(data.X, data.categorical, n_thresholds or MOST_BIN_CUTS)
        self.is_exact = self._max_depth == 1 and voting == "hard"
        self.n_learners = 2.0 * self._bins.n_splits + 2.0 if self._max_depth == 1 else np.inf

    def price(self, residual: Vector, feature_multiplier: Vector | None) -> PricedColumn:
        root = self._grow(residual, np.flatnonzero(residual), self._max_depth, feature_multiplier)
        is_proven = self.is_exact and feature_multiplier is None
        return priced(build_tree(root), self._data, residual, self._voting, is_proven)

    def others(self, residual: Vector, feature_multiplier: Vector | None) -> Iterator[PricedColumn]:
        """Every stump, the largest edge first; trees on fewer features where trees are not enumerated."""
        if not self.is_exact:
            return super().others(residual, feature_multiplier)
        found = stumps_by_edge(self._bins, self._data, residual)
        return (column._replace(is_proven=feature_multiplier is None) for column in found)

    def _grow(self, s: Vector, rows: Integers, depth: int, feature_multiplier: Vector | None) -> Branch | None:
        if depth == 0 or len(rows) < 2:
            return None
        stump = best_stump(self._bins, s, rows, feature_multiplier)
        if stump is None or stump.gini_gain <= 1e-12 * np.abs(s[rows]).sum():
            return None
        left = self._bins.goes_left(stump.feature, stump.k)[rows]
        gain = stump.edge - abs(float(s[rows].sum()))
        return Branch(
            split=self._bins.splits[stump.feature][stump.k],
            gain=max(gain, 0.0) + stump.gini_gain,
            left=self._grow(s, rows[left], depth - 1, feature_multiplier),
            right=self._grow(s, rows[~left], depth - 1, feature_multiplier),
        )
