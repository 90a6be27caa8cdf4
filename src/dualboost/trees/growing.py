"""Builds a tree from its splits, and computes the votes of its leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Vector
from .tree import Tree, constant_tree

EVEN = 1e-12
"""Sums that differ by less than this share of the sizes added up are equal: the difference is a rounding error, which
must not choose between two votes."""


@dataclass(frozen=True)
class Split:
    """Rows with ``x <= threshold``, or of one category, go left; missing values go right unless ``missing_left``."""

    feature: int
    threshold: float = np.inf
    category: int | None = None
    missing_left: bool = False


@dataclass(frozen=True)
class Branch:
    """A split with the branch on either side; None is a leaf."""

    split: Split
    gain: float
    left: Branch | None = None
    right: Branch | None = None


def build_tree(root: Branch | None) -> Tree:
    """The tree with this root; the votes of its leaves are zero."""
    if root is None:
        return constant_tree(0.0)
    branches: list[Branch] = []
    children: list[list[int]] = []
    pending: list[tuple[Branch, int, int]] = [(root, -1, 0)]
    while pending:
        branch, parent, side = pending.pop()
        if parent >= 0:
            children[parent][side] = len(branches)
        branches.append(branch)
        children.append([-1, -1])
        here = len(branches) - 1
        pending += [(child, here, k) for k, child in enumerate((branch.left, branch.right)) if child is not None]
    n_leaves = 0
    for pair in children:
        for side in (0, 1):
            if pair[side] < 0:
                pair[side] = ~n_leaves
                n_leaves += 1
    splits = [branch.split for branch in branches]
    return Tree(
        feature=np.array([split.feature for split in splits], dtype=np.intp),
        threshold=np.array([split.threshold for split in splits]),
        left=np.array([pair[0] for pair in children], dtype=np.intp),
        right=np.array([pair[1] for pair in children], dtype=np.intp),
        missing_left=np.array([split.missing_left for split in splits]),
        categories={k: np.array([s.category], dtype=np.intp) for k, s in enumerate(splits) if s.category is not None},
        gain=np.array([branch.gain for branch in branches]),
        votes=np.zeros(n_leaves),
    )


def leaf_votes(balance: Vector, weight: Vector, voting: str) -> Vector:
    """The votes of leaves: the sign of ``balance``, or for confidence voting ``balance / weight`` in [-1, 1].

    An even balance is a vote for the first class.

    ``balance`` is the sum of the residuals in each leaf, ``weight`` the sum of their absolute values. Votes are rounded
    to single precision, in which the master stores them.
    """
    if voting == "hard":
        return np.where(balance > EVEN * weight, 1.0, -1.0)
    share = np.divide(balance, weight, out=np.zeros_like(balance), where=weight > 0)
    return np.clip(share, -1.0, 1.0).astype(np.float32).astype(np.float64)
