"""How splits by category are held back, so that a category of few rows is not learnt by heart.

The labels of a few rows say little about other rows of their category, but a split that gathers categories by these
labels always lowers the objective. So in every node a category with too few rows takes part in no split, a split by
category pays a ridge of its own, and few categories go left together; other trees can gather more.

Chosen on four tables that the study does not have, each with a column of many categories; log loss of the default model
(``benchmarks/categories.py``, two splits of 1,500 training rows)::

                        noise, 12 rows a value   few that matter   many that matter
    nothing held back            0.259                0.112             0.213
    32 together                  0.158                0.109             0.240
    these options                0.144                0.109             0.253
    20 rows                      0.123                0.113             0.321
    LightGBM as it comes         0.155                0.112             0.255

Where leaves have a value for each class, a split takes one category only, and holding it back gained nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

FEWEST_ROWS = 10.0
"""A category with fewer rows in a node goes right in every split of it."""
EXTRA_RIDGE = 10.0
"""What splits by category pay for each leaf, beside the ridge, in units of the curvature."""
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
