"""Columns beside the best one, for when that is held already and its edge is still the largest.

Where the weights have an l2 norm or an upper bound, the edge of a column that is held stays above the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._typing import Vector
from .base import PricedColumn, Pricer


def without_leading_features(
    pricer: Pricer, n_features: int, residual: Vector, favour: Vector | None
) -> Iterator[PricedColumn]:
    """Columns on ever fewer features: each without the feature that gained most in the column before.

    The pricer must leave out features whose favour is zero.
    """
    allowed = np.ones(n_features) if favour is None else favour.copy()
    column = pricer.price(residual, favour)
    for _ in range(n_features):
        gains = column.learner.feature_gains(n_features)
        leading = int(gains.argmax())
        if gains[leading] <= 0 or allowed[leading] == 0:
            return
        allowed[leading] = 0.0
        column = pricer.price(residual, allowed)
        yield column._replace(is_proven=False)
