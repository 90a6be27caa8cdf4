"""The elimination of trees that the objective misses least."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.blas import dgemm

from .._typing import Integers, Matrix, Scores, Vector
from ..deadlines import time_is_up
from .leaf_newton import factored, hessian
from .leaf_points import Point

# At an optimum v with Hessian H, removing the values of tree t raises the objective by 1/2 v_t' [(H^-1)_tt]^-1 v_t,
# and moves the others by -(H^-1)_:t [(H^-1)_tt]^-1 v_t (the surgeon of Hassibi & Stork, 1993, for blocks of weights).

ELIMINATED_AT_ONCE = 0.34
"""The largest share of the trees that one quadratic model of the objective should serve to eliminate."""


def operations_of_elimination(n_leaves: int) -> float:
    """How many operations the inverse of a Hessian takes, before a first tree is removed."""
    return 7.0 / 3.0 * float(n_leaves) ** 3


class _Block:
    """The values that one inverse of a Hessian serves: a row for each leaf, and a last one for the intercepts."""

    def __init__(self, values: Matrix, matrix: Matrix) -> None:
        self.values = values
        self._inverse = np.asfortranarray(cho_solve(factored(matrix), np.eye(len(matrix))))

    def costs(self, leaves: Integers) -> Vector:
        """The rise of the objective if trees are removed; ``leaves`` has a row for each tree."""
        own = self.values[leaves]
        blocks = self._inverse[leaves[:, :, None], leaves[:, None, :]]
        return 0.5 * np.einsum("ijk,ijk->i", own, np.linalg.solve(blocks, own))

    def remove(self, leaves: Integers) -> None:
        """Remove the leaves of one tree, and move the other values."""
        share = np.linalg.solve(self._inverse[np.ix_(leaves, leaves)], self._inverse[leaves])
        self.values -= share.T @ self.values[leaves]
        self.values[leaves] = 0.0
        # In place: a separate product would take longer to write than to compute.
        self._inverse = dgemm(-1.0, self._inverse[:, leaves], share, beta=1.0, c=self._inverse, overwrite_c=True)


class Elimination:
    """The trees that remain when the least useful trees, or rounds of trees, of a point are removed one by one.

    Where each class has its own trees, each class has a block, and the costs of a round add up over the classes.
    """

    def __init__(self, point: Point) -> None:
        starts = point.columns.starts.tolist()
        self.kept = list(range(point.columns.n_trees))
        self._workers = point.programme.rows.workers
        self._of_tree = [np.arange(low, high) for low, high in pairwise(starts)]
        self._shape = np.shape(point.intercept)
        values = np.vstack([point.values.reshape(starts[-1], -1), np.atleast_2d(point.intercept)])
        self._blocks = [
            _Block(values[:, scores].copy(), hessian(columns, curvature, point.ridge))
            for scores, columns, curvature in point.blocks
        ]

    @property
    def intercept(self) -> Any:
        found = np.concatenate([block.values[-1] for block in self._blocks])
        return found if self._shape else float(found[0])

    def values_of(self, k: int) -> Scores:
        leaves = self._of_tree[k]
        return np.hstack([block.values[leaves] for block in self._blocks]).reshape(len(leaves), *self._shape)

    def costs(self) -> Vector:
        """The rise of the objective for the removal of each remaining tree; trees of one size are computed together."""
        costs = np.zeros(len(self.kept))
        sizes = np.array([len(self._of_tree[k]) for k in self.kept])
        for size in np.unique(sizes):
            places = np.flatnonzero(sizes == size)
            leaves = np.array([self._of_tree[self.kept[place]] for place in places])
            for block in self._blocks:
                costs[places] += block.costs(leaves)
        return costs

    def remove_down_to(self, n_trees: int, n_staying: int = 0) -> None:
        """Remove the tree that costs least, again and again, until so many are left; the first ones stay.

        If time is up, the trees that cost least now are removed at once.
        """
        while len(self.kept) > n_trees:
            if time_is_up(self._workers):
                order = n_staying + np.argsort(-self.costs()[n_staying:], kind="stable")
                self.kept = [self.kept[place] for place in sorted([*range(n_staying), *order[: n_trees - n_staying]])]
                return
            self.remove(self.kept[n_staying + int(np.argmin(self.costs()[n_staying:]))])

    def remove(self, k: int) -> None:
        """Remove one of the trees, and move the others."""
        for block in self._blocks:
            block.remove(self._of_tree[k])
        self.kept.remove(k)
