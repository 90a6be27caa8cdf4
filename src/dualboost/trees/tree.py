"""A decision tree as plain arrays: it votes, it is pickled, and it depends on no tree library."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features, Integers, Vector
from ..workers import ALONE, Communicator

DEEPEST = 256
"""The greatest depth of a tree: SHAP values take memory by its square, and many walks over trees are recursive."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Internal nodes 0..k-2 and leaves 0..k-1; a negative child c is the leaf ~c.

    A numeric node sends x left if ``x <= threshold``; a categorical one if the code is in ``categories[node]``.
    A missing value goes left where ``missing_left`` says so. ``covers`` are the training rows in each leaf, if known.
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
            for child, chosen in ((left, goes_left), (right, ~goes_left)):
                part = np.flatnonzero(chosen) if isinstance(rows, slice) else rows[chosen]
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
