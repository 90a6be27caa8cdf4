"""Removes the splits of a tree that say nothing: those whose two sides are leaves with the same vote."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import Integers
from .tree import Tree


def pruned(tree: Tree) -> Tree:
    """The smallest tree that is left when such splits become leaves, from the bottom up; it votes as before.

    Votes are equal only if they are the same number. A merged leaf covers the rows of both; splits that stay keep their
    order and their gain.
    """
    nodes, leaves = np.arange(len(tree.feature)), np.arange(tree.n_leaves)
    left, right, stands_for = tree.left.copy(), tree.right.copy(), nodes.copy()
    merged_into = leaves.copy()
    for node in reversed(tree.top_down()):
        for side in (left, right):
            if side[node] >= 0:
                side[node] = stands_for[side[node]]
        a, b = ~left[node], ~right[node]
        if a >= 0 and b >= 0 and np.array_equal(tree.votes[a], tree.votes[b]):
            stands_for[node] = ~a
            merged_into[merged_into == b] = a
    stays, is_leaf = stands_for == nodes, merged_into == leaves
    if stays.all():
        return tree
    number, leaf_number = np.cumsum(stays) - 1, np.cumsum(is_leaf) - 1

    def renumbered(children: Integers) -> Integers:
        return np.array([number[c] if c >= 0 else ~leaf_number[~c] for c in children[stays].tolist()], dtype=np.intp)

    covers = None if tree.covers is None else np.bincount(merged_into, weights=tree.covers, minlength=len(leaves))
    return replace(
        tree,
        feature=tree.feature[stays],
        threshold=tree.threshold[stays],
        left=renumbered(left),
        right=renumbered(right),
        missing_left=tree.missing_left[stays],
        categories={int(number[node]): codes for node, codes in tree.categories.items() if stays[node]},
        gain=tree.gain[stays],
        votes=tree.votes[is_leaf],
        covers=None if covers is None else covers[is_leaf],
    )
