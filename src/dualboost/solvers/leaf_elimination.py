"""The elimination of trees that the objective misses least."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.blas import dgemm

from .._typing import Matrix, Vector
from ..deadlines import time_is_up
from .base import Solution
from .leaf_newton import (
    MOST_SOFTMAX_ITERATIONS,
    SLOW_SOFTMAX,
    Factor,
    conjugate_gradients,
    factored,
    few_iterations,
    hessian,
    newton,
    softmax_certified,
)
from .leaf_points import ClassPart, LeafPoint, SoftmaxPoint, class_parts

# At an optimum v with Hessian H, removing the values of tree t raises the objective by 1/2 v_t' [(H^-1)_tt]^-1 v_t,
# and moves the others by -(H^-1)_:t [(H^-1)_tt]^-1 v_t (the surgeon of Hassibi & Stork, 1993, for blocks of weights).

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


# As no two classes share a tree, the Hessian has one block for each class and others between classes. The blocks of
# the classes precondition Newton's equations, and judge which round is missed least; what one class takes over from
# another is left to the steps that follow.


def round_optimum(point: SoftmaxPoint, tolerance: float) -> tuple[SoftmaxPoint, Solution]:
    """A point of rounds whose relative duality gap is at most the tolerance, and its certificate."""
    return newton(point, tolerance, softmax_certified, _newton_direction, SLOW_SOFTMAX, _factors)


def round_improved(point: SoftmaxPoint) -> SoftmaxPoint:
    """A point of rounds with a smaller objective, after a few iterations."""
    return few_iterations(point, _centred)


def _newton_direction(point: SoftmaxPoint, factors: list[Factor]) -> tuple[Matrix, Matrix, int]:
    def preconditioned(residual: Matrix) -> Matrix:
        solved = [cho_solve(factor, own) for factor, own in zip(factors, residual.T, strict=True)]
        return _centred(np.column_stack(solved))

    return conjugate_gradients(point, preconditioned, MOST_SOFTMAX_ITERATIONS)


def _factors(point: SoftmaxPoint) -> list[Factor]:
    return [factored(hessian(part)) for part in class_parts(point)]


def _centred(step: Matrix) -> Matrix:
    """The step without what it adds to all intercepts alike, which changes no probability."""
    step[-1] -= step[-1].mean()
    return step


class RoundElimination:
    """The rounds that remain when the least useful rounds of a point are removed one by one."""

    def __init__(self, point: SoftmaxPoint) -> None:
        self._of_class = [Elimination(part) for part in class_parts(point)]

    @property
    def kept(self) -> list[int]:
        """The rounds that remain."""
        return self._of_class[0].kept

    @property
    def intercept(self) -> Vector:
        return np.array([own.intercept for own in self._of_class])

    def values_of(self, k: int) -> Matrix:
        """The values of one of the rounds."""
        return np.column_stack([own.values_of(k) for own in self._of_class])

    def remove_down_to(self, n_rounds: int) -> None:
        """Remove the round that costs least over all classes, again and again, until so many are left."""
        while len(self.kept) > n_rounds:
            costs = np.sum([own.costs() for own in self._of_class], axis=0)
            least = self.kept[int(np.argmin(costs))]
            for own in self._of_class:
                own.remove(least)
