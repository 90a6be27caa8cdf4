"""Removes leaves with too few rows from a tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import Features, Integers, Vector
from ..workers import ALONE, Communicator
from .tree import Tree, constant_tree


def without_light_leaves(tree: Tree, X: Features, counts: Vector, least: float, workers: Communicator = ALONE) -> Tree:
    """The tree whose leaves hold at least so many of the rows of all workers, each counted as often as told.

    The lightest leaf goes first, and its rows go where those on the other side of its split go, so that no other leaf
    loses a row.
    """
    while tree.n_leaves > 1:
        held = workers.sum(np.bincount(tree.leaves(X), weights=counts, minlength=tree.n_leaves))
        lightest = int(held.argmin())
        if held[lightest] >= least:
            return tree
        tree = without_leaf(tree, lightest)
    return tree


def without_leaf(tree: Tree, leaf: int) -> Tree:
    """The tree without a leaf and the split above it: what is on the other side of the split takes its place."""
    gone = int(np.flatnonzero((tree.left == ~leaf) | (tree.right == ~leaf))[0])
    other = int(tree.right[gone] if tree.left[gone] == ~leaf else tree.left[gone])
    stays, votes = np.arange(len(tree.feature)) != gone, np.delete(tree.votes, leaf, axis=0)
    if not stays.any():
        return replace(constant_tree(0.0), votes=votes)
    # Every walk begins at node 0: if that goes, the node that takes its place comes first.
    order = np.flatnonzero(stays)
    if gone == 0:
        order = np.concatenate([[other], order[order != other]])
    number = np.empty(len(tree.feature), dtype=np.intp)
    number[order] = np.arange(len(order))

    def renumbered(children: Integers) -> Integers:
        taken = np.where(children[order] == gone, other, children[order])
        return np.array([number[c] if c >= 0 else ~(~c - (~c > leaf)) for c in taken.tolist()], dtype=np.intp)

    return replace(
        tree,
        feature=tree.feature[order],
        threshold=tree.threshold[order],
        left=renumbered(tree.left),
        right=renumbered(tree.right),
        missing_left=tree.missing_left[order],
        categories={int(number[node]): codes for node, codes in tree.categories.items() if node != gone},
        gain=tree.gain[order],
        votes=votes,
        covers=None,
    )
