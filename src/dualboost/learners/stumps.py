"""The best single split by edge, and trees grown greedily from such splits (``criterion="edge"``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._typing import Integers, Vector
from ..trees.growing import EVEN, MOST_BIN_CUTS, Bins, Branch, build_tree
from .base import PricedColumn, PricingContext, TrainingData, priced
from .pool import without_leading_features


class Stump(NamedTuple):
    """A split, with the edge that it has if both leaves vote the sign of their sum of residuals."""

    feature: int
    k: int
    edge: float
    gini_gain: float
    worth: float
    """The edge times the favour of its feature."""


def best_stump(
    bins: Bins, s: Vector, rows: Integers | slice = slice(None), feature_multiplier: Vector | None = None
) -> Stump | None:
    """The split with the largest |sum left| + |sum right| of the residual s, times its favour.

    Among equally good splits, the one with the largest Gini gain is taken; among these, the first.
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
    for_left = 2.0 * np.concatenate([*left, [total]]) - total  # what is last is constant: all rows go left
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


class EdgePricer:
    """CART by weighted error: every split is the one with the largest edge, ties broken by Gini impurity.

    At depth 1 the pricer is exact: no stump on its bins has a larger edge.
    """

    def __init__(self, data: TrainingData, voting: str, n_thresholds: int | None, context: PricingContext) -> None:
        self._data, self._voting, self._max_depth = data, voting, context.max_depth
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
            return without_leading_features(self, self._data.X.shape[1], residual, feature_multiplier)
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
