"""LightGBM: its options, its rows, and its splits by category."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import lightgbm
import numpy as np
from scipy import sparse

from .._typing import Features
from ..errors import GrowingError
from ..matrix.rows import GrowerThreads
from ..trees.growing import cuts_between
from ..trees.lightgbm_text import CodedColumn, parse_trees, tiny_features, tree_of_values, with_codes
from ..trees.tree import Tree, column_values
from .base import PricingContext, TrainingData

# The labels of a few rows predict little of other rows of their category, but a split that gathers categories by these
# labels always lowers the objective. So in every node a category with too few rows takes part in no split, a split by
# category pays a ridge of its own, and few categories go left together; other trees can gather more.
#
# Chosen on four tables outside the paper, each with a column of many categories; log loss of the default
# model (``benchmarks/categories.py``, two splits of 1,500 training rows)::
#
#                         noise, 12 rows a value   few that matter   many that matter
#     nothing held back            0.259                0.112             0.213
#     32 together                  0.158                0.109             0.240
#     these options                0.144                0.109             0.253
#     20 rows                      0.123                0.113             0.321
#     LightGBM as it comes         0.155                0.112             0.255
#
# Where leaves have a value for each class, a split takes one category only, and holding it back gained nothing.

FEWEST_ROWS = 10.0
"""A category with fewer rows in a node goes right in every split of it."""
EXTRA_RIDGE = 10.0
"""The extra ridge of splits by category for each leaf, in units of the curvature."""
MOST_TOGETHER = 8
"""How many categories go left in one split."""
FEW = 3
"""Features with no more categories than this are not held back: each category is split from all others."""


class CategoryOptions(NamedTuple):
    """The options where a training row stands for so many rows of the user's."""

    rows_each: float = 1.0

    @property
    def fewest_rows(self) -> float:
        return FEWEST_ROWS / self.rows_each

    @property
    def extra_ridge(self) -> float:
        return EXTRA_RIDGE / self.rows_each

    def for_lightgbm(self) -> dict[str, Any]:
        return {
            "cat_smooth": self.fewest_rows,
            "cat_l2": self.extra_ridge,
            "max_cat_threshold": MOST_TOGETHER,
            "max_cat_to_onehot": FEW + 1,  # LightGBM counts other values as a category
            "min_data_per_group": 1,
        }


SMALLEST_LEAVES = (1e-6, 1e-3, 1e-1)
"""The smallest sum of |r| in a leaf, for |r| with a mean of one. LightGBM fails on some splits into lighter leaves, so
that the values are tried in turn."""

Grown = TypeVar("Grown")


def with_heavier_leaves(grow: Callable[[float], Grown], smallest_leaves: Sequence[float]) -> Grown:
    """The result with the first smallest leaf that LightGBM does not fail on."""
    failure = None
    for smallest in smallest_leaves:
        try:
            return grow(smallest)
        except lightgbm.basic.LightGBMError as error:
            failure = error
    raise GrowingError(f"LightGBM failed to grow a tree: {failure}") from failure


def varies(X: Features) -> bool:
    """Whether any feature has two different values; a missing value counts as a value."""
    if sparse.issparse(X):
        return bool(X.nnz)
    first = X[:1]
    return bool(((first != X) & ~(np.isnan(X) & np.isnan(first))).any())


def tree_parameters(data: TrainingData, context: PricingContext) -> dict[str, Any]:
    """LightGBM's parameters for plain CART: no shrinkage, no penalties, the same tree on any number of threads."""
    is_for_later = context.limits.is_for_later(context.max_depth)
    most_leaves = None if is_for_later else context.limits.most_leaves
    return {
        "objective": "none",
        "learning_rate": 1.0,
        "max_depth": context.max_depth,
        "num_leaves": max(min(2 ** min(context.max_depth, 17), data.X.shape[0], most_leaves or data.X.shape[0]), 2),
        "histogram_pool_size": 256.0,
        "min_data_in_leaf": 0,  # LightGBM estimates counts from Hessians, and would refuse leaves of small duals
        "min_sum_hessian_in_leaf": SMALLEST_LEAVES[0],
        "min_data_in_bin": 1,
        "lambda_l2": 0.0,
        **CategoryOptions(data.rows_each).for_lightgbm(),
        "feature_pre_filter": False,
        "deterministic": True,
        "force_col_wise": True,
        "num_threads": 1,  # ``LightGBMRows`` sets more where they pay
        "seed": context.seed,
        "verbosity": -1,
        **context.limits.for_lightgbm(data.X.shape[1], data.rows_each),
    }


class LightGBMRows:
    """The rows as a dataset; columns with tiny values, which LightGBM reads as zero, are coded in it."""

    def __init__(self, data: TrainingData, parameters: dict[str, Any], n_threads: int) -> None:
        X = data.X
        self._threads = GrowerThreads(n_threads, data.n_cells)
        values = {k: column_values(X, k, slice(None)) for k in tiny_features(X)}
        self._coded = {k: CodedColumn(cuts_between(own[~np.isnan(own)], len(own))) for k, own in values.items()}
        self.dataset = lightgbm.Dataset(
            with_codes(X, self._coded),
            feature_name=[f"f{i}" for i in range(X.shape[1])],
            categorical_feature=data.categorical,
            params=parameters,
        )

    def update(self, booster: lightgbm.Booster, derivatives: Any) -> None:
        """Add a tree to a model, on as many threads as pay. Their number does not change the tree."""
        with self._threads.timed() as number:
            if booster.params["num_threads"] != number:
                booster.reset_parameter({"num_threads": number})
            booster.update(fobj=derivatives)

    def tree_beside(
        self, booster: lightgbm.Booster, options: dict[str, Any], rows: lightgbm.Dataset, derivatives: Any
    ) -> Tree:
        """The next tree of the model on these rows with other options."""
        again = lightgbm.Booster(booster.params | options, rows)
        self.update(again, derivatives)
        return self.tree(again, 0)

    def tree(self, booster: lightgbm.Booster, number: int) -> Tree:
        """A tree of a model that was grown on these rows."""
        text = booster.model_to_string(start_iteration=number, num_iteration=1)
        return tree_of_values(parse_trees(text)[0], self._coded)
