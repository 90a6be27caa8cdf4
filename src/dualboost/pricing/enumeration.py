"""The best tree of depth 2 over binary splits, by one matrix product.

Z has a column for each split, with 1 in the rows that the split sends left. With s the residual, P = Z' diag(s) Z holds
for every pair of splits the sum of s over the rows that both send left. P and its diagonal give the sums of all four
leaves of every pair of splits, and so the edges of all trees of depth 2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..errors import InvalidDataError
from ..trees.bins import Bins
from ..trees.growing import Branch, Split

MOST_PAIRED = 2**14
"""The most splits that are paired: P takes 2 GiB for so many, and a few matrices of its size are made of it."""
EVEN = 1e-12
"""Edges that differ by less than this share of the residuals' sizes are equal, and the first split with one is taken:
rounding errors, which depend on the unit of the weights, must not choose."""
ROWS_PER_BLOCK = 4096
"""How many rows of Z are converted to double precision at a time."""


class BinarySplits:
    """Every split of the bins as a column of zeros and ones; of splits that separate the same rows only one is kept."""

    def __init__(self, bins: Bins) -> None:
        if bins.n_splits > MOST_PAIRED:
            raise InvalidDataError(
                f"X has {bins.n_splits} splits, more than the {MOST_PAIRED} that trees of depth 2 or more with the "
                "largest edge can be searched among: put rare categories together, choose a smaller n_thresholds, "
                "max_depth=1, or learner='cart'."
            )
        self.splits: list[Split] = []
        kept: list[NDArray[np.uint8]] = []
        seen: set[bytes] = set()
        for feature, splits in enumerate(bins.splits):
            for k, split in enumerate(splits):
                left = bins.goes_left(feature, k)
                key = np.packbits(left if left[0] else ~left).tobytes()
                if left.all() or not left.any() or key in seen:
                    continue
                seen.add(key)
                self.splits.append(split)
                kept.append(left.astype(np.uint8))
        n_rows = len(bins.codes[0]) if bins.codes else 0
        self.Z: NDArray[np.uint8] = np.stack(kept, axis=1) if kept else np.zeros((n_rows, 0), dtype=np.uint8)

    def pair_sums(self, s: Vector) -> Matrix:
        """P = Z' diag(s) Z."""
        total = np.zeros((self.Z.shape[1], self.Z.shape[1]))
        for start in range(0, len(s), ROWS_PER_BLOCK):
            rows = slice(start, start + ROWS_PER_BLOCK)
            block = self.Z[rows].astype(np.float64)
            total += block.T @ (block * s[rows, None])
        return total


def first_largest(values: Matrix, rounding: float) -> Integers:
    """For each row the place of its largest entry, of equal ones that of the first."""
    return (values >= values.max(axis=-1, keepdims=True) - rounding).argmax(axis=-1)


def best_of_depth_two(binary: BinarySplits, s: Vector) -> Branch | None:
    """The tree of depth at most 2 with the largest edge."""
    return next(by_first_split(binary, s), None)


def by_first_split(binary: BinarySplits, s: Vector) -> Iterator[Branch]:
    """The best tree of depth at most 2 for each first split, the largest edge first."""
    if not binary.splits:
        return
    both, total, rounding = binary.pair_sums(s), float(s.sum()), EVEN * float(np.abs(s).sum())
    left = both.diagonal()
    right = total - left
    on_left = np.abs(both) + np.abs(left[:, None] - both)
    rest = left[None, :] - both
    on_right = np.abs(rest) + np.abs(right[:, None] - rest)
    g_left, g_right = first_largest(on_left, rounding), first_largest(on_right, rounding)
    every = np.arange(len(left))
    edges = on_left[every, g_left] + on_right[every, g_right]
    steps = np.rint(edges / rounding) if rounding > 0 else edges
    for f in np.argsort(-steps, kind="stable").tolist():
        below = [
            _child(binary, int(g_left[f]), float(on_left[f, g_left[f]]), float(left[f]), rounding),
            _child(binary, int(g_right[f]), float(on_right[f, g_right[f]]), float(right[f]), rounding),
        ]
        gain = abs(left[f]) + abs(right[f]) - abs(total)
        yield Branch(binary.splits[f], max(float(gain), 0.0), *below)


def _child(binary: BinarySplits, g: int, edge: float, unsplit: float, rounding: float) -> Branch | None:
    """The split g, if its two leaves vote differently; else None, a leaf."""
    gain = edge - abs(unsplit)
    return Branch(binary.splits[g], gain) if gain > rounding else None
