"""Leaves of rounds of trees, one tree for each class: the optimum, and which rounds to do without.

As no two classes share a tree, the Hessian has one block for each class and others between classes. The blocks of the
classes precondition Newton's equations, and judge which round is missed least; what one class takes over from another
is left to the steps that follow.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve

from .._typing import Matrix, Vector
from .base import MasterSolution
from .leaf_elimination import Elimination
from .leaf_newton import Factor, factored, hessian, newton
from .round_point import class_parts
from .softmax_newton import MOST_ITERATIONS, SLOW, conjugate_gradients, few_iterations, softmax_certified
from .softmax_point import SoftmaxPoint


def round_optimum(point: SoftmaxPoint, tolerance: float) -> tuple[SoftmaxPoint, MasterSolution]:
    """A point of rounds whose relative duality gap is at most the tolerance, and its certificate."""
    return newton(point, tolerance, softmax_certified, _newton_direction, SLOW, _factors)


def round_improved(point: SoftmaxPoint) -> SoftmaxPoint:
    """A point of rounds with a smaller objective, after a few iterations."""
    return few_iterations(point, _centred)


def _newton_direction(point: SoftmaxPoint, factors: list[Factor]) -> tuple[Matrix, Matrix, int]:
    def preconditioned(residual: Matrix) -> Matrix:
        solved = [cho_solve(factor, own) for factor, own in zip(factors, residual.T, strict=True)]
        return _centred(np.column_stack(solved))

    return conjugate_gradients(point, preconditioned, MOST_ITERATIONS)


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
