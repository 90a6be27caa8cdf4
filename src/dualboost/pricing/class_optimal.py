"""Trees with the largest possible edge where learners have a vote for each class.

Of a leaf that votes for class k, the edge is the sum of the k-th residuals of its rows. So the best tree is that of the
least cost, where a row costs its largest residual minus that of the class its leaf votes for: K costs a row.
"""

from __future__ import annotations

import numpy as np

from .._typing import Matrix, Vector
from ..trees.growing import Branch
from .enumeration import EVEN, BinarySplits, first_largest

SPLITS_AT_ONCE = 64
"""For how many splits of the root all splits below are compared at a time."""


def costs_of_classes(residual: Matrix) -> Matrix:
    """What each row costs in a leaf of each class."""
    return np.asarray(residual.max(axis=1, keepdims=True) - residual)


def best_pair_of_splits(binary: BinarySplits, residual: Matrix) -> Branch | None:
    """The tree of depth at most 2 with the largest edge."""
    if not binary.splits:
        return None
    both = np.stack([binary.pair_sums(own) for own in residual.T], axis=-1)
    left, total = np.einsum("iik->ik", both).copy(), residual.sum(axis=0)
    right, rounding = total - left, EVEN * float(np.abs(residual).sum())
    chosen = [np.zeros(len(left), dtype=np.intp) for _ in range(2)]
    edges = [np.zeros(len(left)) for _ in range(2)]
    for start in range(0, len(left), SPLITS_AT_ONCE):
        roots = slice(start, start + SPLITS_AT_ONCE)
        inside = both[roots]
        for k, (sums, whole) in enumerate(((inside, left[roots]), (left[None] - inside, right[roots]))):
            worth = sums.max(axis=-1) + (whole[:, None] - sums).max(axis=-1)
            chosen[k][roots] = first_largest(worth, rounding)
            edges[k][roots] = worth.max(axis=1)
    f = int(first_largest(edges[0] + edges[1], rounding))
    below = [
        _child(binary, int(chosen[k][f]), float(edges[k][f]), side[f], rounding) for k, side in enumerate((left, right))
    ]
    gain = left[f].max() + right[f].max() - total.max()
    return Branch(binary.splits[f], max(float(gain), 0.0), *below)


def _child(binary: BinarySplits, g: int, edge: float, unsplit: Vector, least: float) -> Branch | None:
    """The split g, if its two leaves vote differently; else None, a leaf."""
    gain = edge - float(unsplit.max())
    return Branch(binary.splits[g], gain) if gain > least else None
