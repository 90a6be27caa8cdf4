"""How LightGBM is asked to grow trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import lightgbm
import numpy as np
from scipy import sparse

from .._typing import Features
from ..errors import GrowingError
from .base import PricingContext, TrainingData
from .categories import CategoryOptions

SMALLEST_LEAVES = (1e-6, 1e-3, 1e-1)
"""The smallest sum of |r| in a leaf, for |r| with a mean of one. LightGBM fails on some splits into lighter leaves, so
that the values are tried in turn."""

Grown = TypeVar("Grown")


def with_heavier_leaves(grow: Callable[[float], Grown], smallest_leaves: Sequence[float]) -> Grown:
    """What is grown with the first smallest leaf that LightGBM does not fail on."""
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
        "num_threads": 1,  # ``LightGBMRows`` asks for more where they pay
        "seed": context.seed,
        "verbosity": -1,
        **context.limits.for_lightgbm(data.X.shape[1], data.rows_each),
    }
