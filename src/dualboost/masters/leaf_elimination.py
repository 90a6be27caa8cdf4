"""Which trees to do without: what the objective loses by each tree, to second order, after all others have moved.

At an optimum v with Hessian H, removing the values of tree t raises the objective by 1/2 v_t' [(H^-1)_tt]^-1 v_t, and
moves the others by -(H^-1)_:t [(H^-1)_tt]^-1 v_t (the surgeon of Hassibi & Stork, 1993, for blocks of weights).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.blas import dgemm

from .._typing import Vector
from ..deadlines import time_is_up
from .leaf_newton import factored, hessian
from .leaf_point import LeafPoint
from .round_point import ClassPart
from .softmax_point import SoftmaxPoint

ELIMINATED_AT_ONCE = 0.34
"""The largest share of the trees that one quadratic model of the objective should serve to eliminate."""


def operations_of_elimination(n_leaves: int) -> float:
    """How many operations the inverse of a Hessian takes, before a first tree is removed."""
    return 7.0 / 3.0 * float(n_leaves) ** 3


class Elimination:
    """The trees that remain when the least useful trees of a point are removed one by one."""

    def __init__(self, point: LeafPoint | SoftmaxPoint | ClassPart) -> None:
        starts = point.columns.starts.tolist()
        self.kept = list(range(point.columns.n_trees))
        """The trees that remain."""
        self._workers = point.programme.rows.workers
        self._is_vector = point.values.ndim > 1
        self._values = np.vstack([point.values.reshape(starts[-1], -1), np.atleast_2d(point.intercept)])
        """A row for each leaf, and a last one for the intercept; a column for each class."""
        self._of_tree = [np.arange(low, high) for low, high in pairwise(starts)]
        matrix = hessian(point)
        self._inverse = np.asfortranarray(cho_solve(factored(matrix), np.eye(len(matrix))))

    @property
    def intercept(self) -> Any:
        return self._values[-1] if self._is_vector else float(self._values[-1, 0])

    def values_of(self, k: int) -> Vector:
        """The values of one of the trees."""
        values = self._values[self._of_tree[k]]
        return values if self._is_vector else values[:, 0]

    def costs(self) -> Vector:
        """What the removal of each remaining tree costs; trees with as many leaves are computed together."""
        costs = np.empty(len(self.kept))
        sizes = np.array([len(self._of_tree[k]) for k in self.kept])
        for size in np.unique(sizes):
            places = np.flatnonzero(sizes == size)
            columns = np.array([self._of_tree[self.kept[place]] for place in places])
            own = self._values[columns]
            blocks = self._inverse[columns[:, :, None], columns[:, None, :]]
            costs[places] = 0.5 * np.einsum("ijk,ijk->i", own, np.linalg.solve(blocks, own))
        return costs

    def remove_down_to(self, n_trees: int, n_staying: int = 0) -> None:
        """Remove the tree that costs least, again and again, until so many are left; the first ones stay.

        If time is up, those that cost least now are removed at once.
        """
        while len(self.kept) > n_trees:
            if time_is_up(self._workers):
                order = n_staying + np.argsort(-self.costs()[n_staying:], kind="stable")
                self.kept = [self.kept[place] for place in sorted([*range(n_staying), *order[: n_trees - n_staying]])]
                return
            self.remove(self.kept[n_staying + int(np.argmin(self.costs()[n_staying:]))])

    def remove(self, k: int) -> None:
        """Remove one of the trees, and move the others."""
        columns = self._of_tree[k]
        share = np.linalg.solve(self._inverse[np.ix_(columns, columns)], self._inverse[columns])
        self._values -= share.T @ self._values[columns]
        self._values[columns] = 0.0
        # In place: a product of its own would take longer to write than to compute.
        self._inverse = dgemm(-1.0, self._inverse[:, columns], share, beta=1.0, c=self._inverse, overwrite_c=True)
        self.kept.remove(k)
