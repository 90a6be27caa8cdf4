"""CART by LightGBM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import lightgbm
import numpy as np

from .._typing import Features, Integers, Vector
from ..arguments import ParameterObject, require_choice
from ..matrix.rows import MEMORY, Device
from ..trees.tree import Tree, constant_tree
from ..workers import ALONE, Communicator
from .base import PricedColumn, Pricer, PricingContext, TrainingData, priced_within, require_tree_options
from .lightgbm import SMALLEST_LEAVES, LightGBMRows, tree_parameters, varies, with_heavier_leaves
from .newton_trees import Grower, GrownTree, NewtonTrees
from .pool import without_leading_features
from .stump_exchange import StumpExchange
from .stumps import EdgePricer
from .vector_trees import ClassCartPricer, VectorTrees


class PricedTrees:
    """Takes the splits of the tree with a large edge; the values of its leaves are chosen by others."""

    def __init__(self, pricer: Pricer, X: Features) -> None:
        self._pricer = pricer
        self._X = X

    def grow(self, residual: Vector, curvature: Vector, ridge: float) -> GrownTree | None:
        tree = self._pricer.price(residual, None).learner
        assert isinstance(tree, Tree), "only pricers of trees are asked"
        return GrownTree.of(tree, self._X) if tree.n_leaves > 1 else None


class BestGrower:
    """Asks several growers, and takes the tree that lowers the objective most if its leaves alone move."""

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
class CartLearner(ParameterObject):
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
        require_tree_options(self.max_depth, self.voting, self.n_thresholds)
        require_choice("criterion", self.criterion, ["gini", "edge"])

    def pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        context = context.with_depth(self.max_depth)
        if context.n_outputs > 1:
            return ClassCartPricer(data, context, self.voting, self.criterion == "edge", self.n_thresholds)
        if self.criterion == "edge":
            return EdgePricer(data, self.voting, self.n_thresholds, context)
        return CartPricer(data, self.voting, context)

    def grower(self, data: TrainingData, context: PricingContext) -> Grower:
        context = context.with_depth(self.max_depth)
        if context.n_outputs > 1:
            return VectorTrees(data, context)
        if self.criterion == "edge":
            return PricedTrees(self.pricer(data, context), data.X)
        stumps = StumpExchange(data, context.limits.fewest_rows) if context.has_free_stumps else None
        return NewtonTrees(data, context, stumps)


class CartPricer:
    """Grows one tree for each call on binned training rows; the leaves vote by their weighted class balance."""

    is_exact = False
    n_learners = float("inf")

    def __init__(self, data: TrainingData, voting: str, context: PricingContext) -> None:
        n_rows = data.X.shape[0]
        self._data = data
        self._voting = voting
        self._limits = context.limits
        self._parameters = tree_parameters(data, context)
        self._lightgbm_rows = LightGBMRows(data, self._parameters, context.n_jobs)
        self._dataset = self._lightgbm_rows.dataset
        self._leaves_out_zeros = context.leave_out_zeros
        self._is_favouring = False
        self._grow_on(np.arange(n_rows), self._dataset)
        self._can_split = varies(data.X)

    def price(self, residual: Vector, feature_multiplier: Vector | None) -> PricedColumn:
        if not self._can_split or (feature_multiplier is None and not self._is_favouring):
            return priced_within(self._limits, self._grow(residual), self._data, residual, self._voting)
        factors = (
            np.ones(self._data.X.shape[1]) if feature_multiplier is None else feature_multiplier**2
        )  # gains grow with squares of edges
        self._booster.reset_parameter({"feature_contri": factors.tolist()})
        self._is_favouring = feature_multiplier is not None
        tree = self._grow(residual)
        tree = replace(tree, gain=tree.gain / factors[tree.feature])
        return priced_within(self._limits, tree, self._data, residual, self._voting)

    def others(self, residual: Vector, feature_multiplier: Vector | None) -> Iterator[PricedColumn]:
        return without_leading_features(self, self._data.X.shape[1], residual, feature_multiplier)

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
        asked = self._limits.for_second_time(tree)
        if asked is None:
            return tree
        return self._lightgbm_rows.tree_beside(self._booster, asked, self._grown_on, self._derivatives)

    def _derivatives(self, predictions: Vector, rows: lightgbm.Dataset) -> tuple[Any, Any]:
        return self._gradients, self._hessians
