"""Trees by XGBoost (``learner="xgboost"``): those of CART, and those for leaves that are re-optimised.

The trees are those of LightGBM (``cart.py``, ``newton_trees.py``): XGBoost maximises the same sum of G^2/(H + ridge).
It grows them over the rows of many workers too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Integers, Vector
from ..arguments import ParameterObject
from ..data.coded import MOST_CUTS
from ..trees.tree import Tree, constant_tree
from .base import PricedColumn, Pricer, PricingContext, TrainingData, priced_within, require_tree_options
from .cart import CartLearner
from .class_columns import ClassCartPricer
from .lightgbm_options import SMALLEST_LEAVES
from .newton_trees import LAST_RESORT, Grower, GrownTree, lightest_leaf
from .other_columns import without_leading_features
from .vector_trees import VectorTrees
from .xgboost_rows import XGBoostRows


@dataclass
class XGBoostLearner(ParameterObject):
    """Trees that XGBoost grows greedily: ``learner="xgboost"`` with options.

    Numbers are cut as for ``CartLearner``, with at most 254 cuts, and a split by category takes one category only. Of
    several classes, trees are those of ``CartLearner``.

    Parameters
    ----------
    max_depth : int, default=None
        The greatest depth of a tree; None takes that of the estimator.
    voting : {"hard", "confidence"}, default="hard"
        A leaf votes -1 or +1, or its weighted class balance in [-1, 1]; of several classes, for one of them, or with
        their weighted shares.
    """

    max_depth: int | None = None
    voting: str = "hard"

    name: ClassVar[str] = "xgboost"
    takes_limits: ClassVar[bool] = True
    grows_over_workers: ClassVar[bool] = True
    takes_rows_on_disk: ClassVar[bool] = True
    grows_on_devices: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_tree_options(self.max_depth, self.voting, None)

    @property
    def alone(self) -> CartLearner:
        """Who finds these trees on rows that each worker holds by itself."""
        return CartLearner(max_depth=self.max_depth, voting=self.voting)

    def pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        context = context.with_depth(self.max_depth)
        if context.n_outputs > 1:
            return ClassCartPricer(data, context, self.voting, n_cuts=MOST_CUTS, precision=np.float64)
        return XGBoostPricer(data, self.voting, context)

    def grower(self, data: TrainingData, context: PricingContext) -> Grower:
        context = context.with_depth(self.max_depth)
        if context.n_outputs > 1:
            return VectorTrees(data, context, np.float64, MOST_CUTS)
        return XGBoostNewtonTrees(data, context)


class XGBoostPricer:
    """Grows one tree for each call on binned training rows; the leaves vote by their weighted class balance."""

    is_exact = False
    n_learners = float("inf")

    def __init__(self, data: TrainingData, voting: str, context: PricingContext) -> None:
        self._data, self._voting, self._limits = data, voting, context.limits
        self._rows = XGBoostRows(data, context.n_jobs)
        of_leaves = {"reg_lambda": 0.0, "min_child_weight": SMALLEST_LEAVES[0]}
        self._parameters = {"max_depth": context.max_depth} | of_leaves | context.limits.for_xgboost()

    def price(self, residual: Vector, favour: Vector | None) -> PricedColumn:
        """``favour`` only decides which features take part: XGBoost cannot weigh the gains of features."""
        tree, leaves = self._grown(residual, favour)
        return priced_within(self._limits, tree, self._data, residual, self._voting, leaves)

    def others(self, residual: Vector, favour: Vector | None) -> Iterator[PricedColumn]:
        return without_leading_features(self, self._data.X.shape[1], residual, favour)

    def _grown(self, residual: Vector, favour: Vector | None) -> tuple[Tree, Integers | None]:
        size = np.abs(residual)
        n_counted, total = self._data.workers.sum(np.array([float((size > 0).sum()), float(size.sum())]))
        excluded = np.zeros(0, dtype=bool) if favour is None else np.asarray(favour == 0)
        if not self._rows.can_split or not n_counted or (len(excluded) and excluded.all()):
            return constant_tree(-1.0), None
        scale = n_counted / total
        parameters = self._parameters | self._rows.without_features(excluded)
        return self._rows.grown(-scale * residual, scale * size, parameters)


class XGBoostNewtonTrees:
    """Grows trees for leaves that are re-optimised, from the gradient and the curvature of the loss."""

    def __init__(self, data: TrainingData, context: PricingContext) -> None:
        self._data, self._limits = data, context.limits
        self._rows = XGBoostRows(data, context.n_jobs)
        self._parameters = {"max_depth": context.max_depth} | context.limits.for_xgboost()
        self._has_grown, self._n_asked = False, 0

    def grow(self, residual: Vector, curvature: Vector, ridge: float) -> GrownTree | None:
        if not self._rows.can_split:
            return None
        grown = self._grown(residual, curvature, ridge, lightest_leaf(ridge))
        if grown is None and not self._has_grown:
            grown = self._grown(residual, curvature, ridge, LAST_RESORT)
        self._has_grown |= grown is not None
        return grown

    def _grown(self, residual: Vector, curvature: Vector, ridge: float, lightest: float) -> GrownTree | None:
        parameters = self._parameters | {"reg_lambda": ridge, "min_child_weight": lightest}
        self._n_asked += 1
        drawn = {"seed": self._limits.seed + self._n_asked} | self._limits.drawn_for_xgboost(self._data.X.shape[1])
        tree, leaves = self._rows.grown(-residual, curvature, parameters | drawn)
        if tree.n_leaves < 2 and self._limits.n_features is not None:
            tree, leaves = self._rows.grown(-residual, curvature, parameters)
        return self._held_to_limits(tree, leaves)

    def _held_to_limits(self, tree: Tree, leaves: Integers) -> GrownTree | None:
        held = self._data.held_to(self._limits, tree)
        if held.n_leaves < 2:
            return None
        own = leaves if held is tree else self._data.leaves(held)
        grown = GrownTree(held, own.astype(np.min_scalar_type(held.n_leaves - 1)))
        return grown.ordered_by(self._limits.signs)
