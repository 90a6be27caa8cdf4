"""Trees as columns where learners have a vote for each class.

A hard vote is for one class: the one with the largest sum of residuals in the leaf, so that the edge of a tree is the
sum over its leaves of that largest sum. A confidence-rated vote is the share of each class among the rows of the leaf,
weighted by their residuals. Of two classes, the difference of both votes is the vote of a tree for two classes.
"""

from __future__ import annotations

import numpy as np

from .._typing import Matrix, Vector
from ..algebra.vector_leaves import leaf_indicators
from ..trees.bins import MOST_CUTS, Bins
from ..trees.growing import EVEN, build_tree
from ..trees.tree import Tree
from .base import PricedColumn, PricingContext, TrainingData
from .categories import CategoryOptions
from .vector_trees import LevelTrees, fall_rule

TINY = 1e-6
"""The ridge, and the lightest leaf, of splits by Gini impurity: small beside the residuals, whose mean size is one."""
TIE_BREAKING = 1e-12
"""How much the purity of leaves counts beside their edge: it only decides between equal edges."""


STEP_OF_SHARES = 2.0**-23
"""Shares of classes are multiples of this, so that single precision, in which the master stores the difference of two
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
    """By how much a split raises the edge, equal ones told apart by purity; sums are residuals, then their sizes."""
    n_classes = left.shape[-1] // 2

    def worth(sums: Matrix) -> Matrix:
        purity = (sums[..., :n_classes] ** 2).sum(axis=-1) / np.maximum(sums[..., n_classes:].sum(axis=-1), 1e-300)
        return np.asarray(sums[..., :n_classes].max(axis=-1) + TIE_BREAKING * purity)

    gains = worth(left) + worth(totals - left) - worth(totals)
    rounding = 0.01 * TIE_BREAKING * totals[..., n_classes:].sum(axis=-1)
    return np.where(gains > rounding, gains, 0.0)


class ClassCartPricer:
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
        bins = Bins(data.X, data.categorical, n_cuts or MOST_CUTS, data.workers)
        self._trees = LevelTrees(bins, data, context)
        self._categories = CategoryOptions(data.rows_each)
        self.is_exact = by_edge and context.max_depth == 1 and voting == "hard"
        n_classes = context.n_outputs
        self.n_learners = n_classes**2 * bins.n_splits + float(n_classes) if self.is_exact else np.inf

    def price(self, residual: Matrix, favour: Vector | None) -> PricedColumn:
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
