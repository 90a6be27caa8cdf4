"""A decision tree as plain arrays: it votes, it is pickled, and it depends on no tree library."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._typing import Features, Integers, Vector


@dataclass(frozen=True, eq=False)
class Tree:
    """Internal nodes 0..k-2 and leaves 0..k-1; a negative child c is the leaf ~c.

    A numeric node sends x left if ``x <= threshold``; a categorical one if the code is in ``categories[node]``.
    A missing value goes left where ``missing_left`` says so.
    """

    feature: Integers
    threshold: Vector
    left: Integers
    right: Integers
    missing_left: NDArray[np.bool_]
    categories: dict[int, Integers]
    gain: Vector
    votes: Vector

    @property
    def n_leaves(self) -> int:
        return len(self.votes)

    def with_votes(self, votes: Vector) -> Tree:
        return replace(self, votes=votes)

    def leaves(self, X: Features) -> Integers:
        """The leaf that each row falls into."""
        n_rows = X.shape[0]
        leaf = np.zeros(n_rows, dtype=np.intp)
        pending = [(0, np.arange(n_rows))] if len(self.feature) else []
        while pending:
            node, rows = pending.pop()
            goes_left = self._goes_left(node, _values(X, self.feature[node], rows))
            for child, part in ((self.left[node], rows[goes_left]), (self.right[node], rows[~goes_left])):
                if child < 0:
                    leaf[part] = ~child
                elif len(part):
                    pending.append((int(child), part))
        return leaf

    def vote(self, X: Features) -> Vector:
        """The votes in [-1, 1], one a row."""
        return self.votes[self.leaves(X)]

    def feature_gains(self, n_features: int) -> Vector:
        """Each feature's share of the tree's total gain; zeros for a tree without a split."""
        gains = np.bincount(self.feature, weights=self.gain, minlength=n_features).astype(float)
        total = gains.sum()
        return gains / total if total > 0 else gains

    def _goes_left(self, node: int, values: Vector) -> NDArray[np.bool_]:
        codes = self.categories.get(node)
        inside = values <= self.threshold[node] if codes is None else np.isin(values, codes)
        return np.where(np.isnan(values), self.missing_left[node], inside)


def constant_tree(vote: float) -> Tree:
    """A single leaf."""
    none = np.zeros(0, dtype=np.intp)
    return Tree(none, np.zeros(0), none, none, np.zeros(0, dtype=bool), {}, np.zeros(0), np.array([vote]))


def _values(X: Features, feature: int, rows: Integers) -> Vector:
    if sparse.issparse(X):
        return X[:, [feature]].toarray().ravel()[rows]
    values: Vector = X[rows, feature]
    return values
