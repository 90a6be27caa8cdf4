"""A decision tree as plain arrays, and the removal of splits and leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features, Integers, Vector
from ..workers import ALONE, Communicator


class Learner(Protocol):
    """A fitted base learner; it must be picklable, and must not depend on the pricer that made it."""

    def vote(self, X: Features) -> Vector:
        """One vote in [-1, 1] for each row; a positive vote is for the second class."""

    def feature_gains(self, n_features: int) -> Vector:
        """Each feature's share in the learner, summing to one (or all zero)."""


DEEPEST = 256
"""The greatest depth of a tree: SHAP values take memory by its square, and many walks over trees are recursive."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Internal nodes 0..k-2 and leaves 0..k-1; a negative child c is the leaf ~c.

    A numeric node sends x left if ``x <= threshold``; a categorical one if the code is in ``categories[node]``.
    A missing value goes left where ``missing_left`` is true. ``covers`` are the training rows in each leaf, if known.
    """

    feature: Integers
    threshold: Vector
    left: Integers
    right: Integers
    missing_left: NDArray[np.bool_]
    categories: dict[int, Integers]
    gain: Vector
    votes: Vector
    covers: Vector | None = None

    @property
    def n_leaves(self) -> int:
        return len(self.votes)

    @property
    def depth(self) -> int:
        """The most tests on the way to a leaf."""
        depths = np.zeros(len(self.feature), dtype=np.intp)
        for node in self.top_down():
            below = [int(child) for child in (self.left[node], self.right[node]) if child >= 0]
            depths[below] = depths[node] + 1
        return int(depths.max() + 1) if len(depths) else 0

    @property
    def most_on_a_path(self) -> int:
        """The most features that are tested on the way to a leaf."""
        return max(map(len, self.first_on_paths()), default=0)

    def first_on_paths(self, most: float = np.inf) -> set[frozenset[int]]:
        """The first features, at most so many, that are tested on the way to each leaf."""
        tested: dict[int, frozenset[int]] = {0: frozenset()}
        found = set()
        for node in self.top_down():
            above = tested.pop(node)
            here = above | {int(self.feature[node])} if len(above) < most else above
            tested |= {int(child): here for child in (self.left[node], self.right[node]) if child >= 0}
            found |= {here for child in (self.left[node], self.right[node]) if child < 0}
        return found

    def with_votes(self, votes: Vector) -> Tree:
        return replace(self, votes=votes)

    def with_covers(self, X: Features, counts: Vector, workers: Communicator = ALONE) -> Tree:
        """The tree with ``covers``: for each leaf the total multiplicity of the rows of X, of all workers, in it."""
        covers = workers.sum(np.bincount(self.leaves(X), weights=counts, minlength=self.n_leaves))
        return replace(self, covers=covers.astype(float))

    def top_down(self) -> list[int]:
        """The internal nodes, every parent before its children."""
        pending = [0] if len(self.feature) else []
        order = []
        while pending:
            node = pending.pop()
            order.append(node)
            pending += [int(child) for child in (self.left[node], self.right[node]) if child >= 0]
        return order

    def node_covers(self) -> Vector:
        """The number of rows in each internal node: the sum over the leaves below it."""
        assert self.covers is not None
        covers = np.zeros(len(self.feature))
        for node in reversed(self.top_down()):
            for child in (int(self.left[node]), int(self.right[node])):
                covers[node] += covers[child] if child >= 0 else self.covers[~child]
        return covers

    def leaves(self, X: Features) -> Integers:
        """The leaf that each row falls into."""
        leaf = np.zeros(X.shape[0], dtype=np.intp)
        pending: list[tuple[int, Integers | slice]] = [(0, slice(None))] if len(self.feature) else []
        while pending:
            node, rows = pending.pop()
            goes_left = self._goes_left(node, column_values(X, self.feature[node], rows))
            left, right = int(self.left[node]), int(self.right[node])
            if left < 0 and right < 0:
                leaf[rows] = np.where(goes_left, ~left, ~right)
                continue
            for child, goes_there in ((left, goes_left), (right, ~goes_left)):
                part = np.flatnonzero(goes_there) if isinstance(rows, slice) else rows[goes_there]
                if child < 0:
                    leaf[part] = ~child
                elif len(part):
                    pending.append((child, part))
        return leaf

    def vote(self, X: Features) -> Vector:
        """One vote in [-1, 1] for each row."""
        return self.votes[self.leaves(X)]

    def feature_gains(self, n_features: int) -> Vector:
        """Each feature's share of the tree's total gain; zeros for a tree without a split."""
        gains = np.bincount(self.feature, weights=self.gain, minlength=n_features).astype(float)
        total = gains.sum()
        return gains / total if total > 0 else gains

    def _goes_left(self, node: int, values: Vector) -> NDArray[np.bool_]:
        codes = self.categories.get(node)
        inside: NDArray[np.bool_] = values <= self.threshold[node] if codes is None else np.isin(values, codes)
        if self.missing_left[node]:
            inside |= np.isnan(values)
        return inside


def constant_tree(vote: float) -> Tree:
    """A tree that is a single leaf."""
    none = np.zeros(0, dtype=np.intp)
    return Tree(none, np.zeros(0), none, none, np.zeros(0, dtype=bool), {}, np.zeros(0), np.array([vote]))


def n_leaves(learner: object) -> int:
    """The number of leaves of a tree; a learner that is not a tree counts as one."""
    return learner.n_leaves if isinstance(learner, Tree) else 1


def column_values(X: Features, feature: int, rows: Integers | slice) -> Vector:
    """The values of one feature in some rows, as a dense array."""
    if sparse.issparse(X):
        return X[:, [feature]].toarray().ravel()[rows]
    return X[rows, feature]


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


def without_light_leaves(tree: Tree, X: Features, counts: Vector, least: float, workers: Communicator = ALONE) -> Tree:
    """The tree whose leaves hold at least so many of the rows of all workers, each with its multiplicity.

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
    """The tree without a leaf and the split above it: the other side of the split takes its place."""
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
