"""The optimum over the values of all leaves for every class: Newton's method with conjugate gradients.

One factor preconditions all classes: that of the Hessian with the mean curvature of the classes, scaled so that each
class has its own diagonal.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_solve

from .._typing import Matrix
from ..deadlines import time_is_up
from .base import MasterSolution
from .certificate import relative_gap
from .leaf_newton import PRECISION, Factor, newton
from .leaf_sweeps import FLATTEST, lowered
from .softmax_point import SoftmaxPoint

MOST_ITERATIONS = 200
"""Conjugate gradients that need more iterations than this end with what they have found."""
FEW = 12
"""How many iterations a step takes that is to be cheap."""
SLOW = 40
"""After more iterations than this, the preconditioner is computed anew at the next step."""


def softmax_certified(point: SoftmaxPoint) -> MasterSolution:
    """The point with its duality gap: the duals are its probabilities, moved to have the sums that they must have."""
    programme = point.programme
    shares = programme.feasible(programme.prices[:, None] * point.probabilities)
    residual = programme.residual(shares)
    edges = point.columns.sums(residual)
    dual = programme.dual_value(shares, edges)
    return MasterSolution(
        w=point.values,
        u=residual,
        rho=point.intercept,
        margins=point.scores,
        edges=edges,
        threshold=0.0,
        primal=point.objective,
        dual=dual,
        programme=programme,
        gap=relative_gap(point.objective, dual, point.objective),
    )


def softmax_optimum(point: SoftmaxPoint, tolerance: float) -> tuple[SoftmaxPoint, MasterSolution]:
    """A point whose relative duality gap is at most the tolerance, and its certificate."""
    return newton(point, tolerance, softmax_certified, _newton_direction, SLOW)


def _newton_direction(point: SoftmaxPoint, factor: Factor) -> tuple[Matrix, Matrix, int]:
    scale = _scales(point)

    def preconditioned(residual: Matrix) -> Matrix:
        return _centred(cho_solve(factor, residual / scale) / scale)

    return conjugate_gradients(point, preconditioned, MOST_ITERATIONS)


def softmax_improved(point: SoftmaxPoint) -> SoftmaxPoint:
    """A point with a smaller objective, after a few iterations."""
    return few_iterations(point, _centred)


def few_iterations(point: SoftmaxPoint, centred: Callable[[Matrix], Matrix]) -> SoftmaxPoint:
    """A point with a smaller objective, by conjugate gradients that know the diagonal of the Hessian only.

    ``centred`` takes from a step what changes no probability, which no other step would take back.
    """
    of_leaves = point.columns.sums(point.curvature) + point.ridge
    diagonal = np.vstack([of_leaves, point.summed(point.curvature) + FLATTEST * point.ridge])
    direction, change, _ = conjugate_gradients(point, lambda residual: centred(residual / diagonal), FEW)
    return lowered(point, direction, change)


def _centred(step: Matrix) -> Matrix:
    """The step without what it adds to all classes alike, which changes no probability."""
    return step - step.mean(axis=1, keepdims=True)


def conjugate_gradients(
    point: SoftmaxPoint, preconditioned: Callable[[Matrix], Matrix], most_iterations: int
) -> tuple[Matrix, Matrix, int]:
    """The solution of Newton's equations, how it changes the scores, and the number of iterations taken."""
    columns, ridge = point.columns, point.ridge
    residual = point.descent
    direction, change = np.zeros_like(residual), np.zeros_like(point.scores)
    step = preconditioned(residual)
    search, product = step, float((residual * step).sum())
    enough = PRECISION**2 * product
    n_iterations = 0
    while n_iterations < most_iterations:
        n_iterations += 1
        scores = columns.scores(search[:-1])
        weighted = point.curved(scores + search[-1])
        image = np.vstack([columns.sums(weighted) + ridge * search[:-1], point.summed(weighted)])
        bend = float((search * image).sum())
        if not bend > 0:
            break
        length = product / bend
        direction += length * search
        change += length * scores
        residual = residual - length * image
        step = preconditioned(residual)
        before, product = product, float((residual * step).sum())
        if not enough < product < np.inf or time_is_up(columns.rows.workers):
            break
        search = step + (product / before) * search
    return direction, change, n_iterations


def _scales(point: SoftmaxPoint) -> Matrix:
    """By how much the diagonal of each class's Hessian differs from the shared one: the roots of their ratios."""
    curvatures = np.column_stack([point.curvature, point.shared_curvature])
    of_leaves = point.columns.sums(curvatures) + point.ridge
    of_intercepts = point.summed(curvatures) + FLATTEST * point.ridge
    diagonals = np.vstack([of_leaves, of_intercepts])
    ratios: Matrix = np.sqrt(diagonals[:, :-1] / diagonals[:, -1:])
    return ratios
