"""The optimal values of all leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._typing import Matrix, Vector
from ..deadlines import is_affordable, time_is_up
from .base import Candidate, Solution, SolverFailed, certify, relative_gap
from .leaf_points import ClassPart, LeafPoint, SoftmaxPoint
from .leaf_sweeps import FLATTEST, Point, lowered

# The preconditioner is the Hessian over the first rows, scaled up. Rows are in the order of a hash
# (``data/merging.py``), so that the first rows are a random sample; where they are all rows, one or two iterations
# suffice.

SAMPLE = 8192
"""How many rows the preconditioner is computed from."""
MOST_STEPS = 60
"""Newton's method needs 3 to 8 steps."""
MOST_ITERATIONS = 60
"""Conjugate gradients that need more iterations than this end with what they have found."""
SLOW = 12
"""After more iterations than this, the preconditioner is computed anew at the next step."""
PRECISION = 0.02
"""By how much conjugate gradients reduce the residual of Newton's equations."""
ROUNDING = 1e-6
"""The relative error of the entries of the Hessian, which are sums in single precision."""
Factor = tuple[Matrix, bool]
"""A Cholesky factor as SciPy hands it out."""
ROUNDING_OF_GAPS = 1e-12
"""Relative gaps up to this are rounding errors."""
AIM = 0.5
"""The gap reached is at most this fraction of the tolerance, which leaves room for rounding."""


def certified(point: LeafPoint) -> Solution:
    """The point with its duality gap."""
    u, edges = balanced(point)
    return certify(point.columns, point.programme, Candidate(point.values, u, point.rho), (point.margins, edges))


def balanced(point: LeafPoint) -> tuple[Vector, Vector]:
    """Duals with equal sums on both sides, as the free intercept asks for, and their edges.

    The duals of the larger side are scaled down. Any other equation, or a bound that scaling would cross, is left to
    ``certify``.
    """
    programme, u = point.programme, point.u
    if len(programme.equations) != 1 or programme.total is not None or programme.rows.any(programme.lower > 0):
        return u, point.edges
    terms = u * programme.equations.matrix[0]
    signed, absolute = programme.rows.totals([terms, np.abs(terms)]).tolist()
    one_side = (absolute + abs(signed)) / 2
    if not 0 < abs(signed) < one_side:
        return u, point.edges
    u = np.where(terms * signed > 0, u * ((one_side - abs(signed)) / one_side), u)
    return u, point.columns.edges(u)


def optimum(point: LeafPoint, tolerance: float) -> tuple[LeafPoint, Solution]:
    """A point whose relative duality gap is at most the tolerance, and its certificate; the best one if time is up."""
    return newton(point, tolerance, certified, _newton_direction, SLOW)


def newton(
    point: Point,
    tolerance: float,
    certified: Callable[[Point], Solution],
    direction_at: Callable[[Point, Any], tuple[Vector, Vector, int]],
    slow: int,
    factor_at: Callable[[Point], Any] | None = None,
) -> tuple[Point, Solution]:
    """Newton's method, for points of either kind.

    ``direction_at`` solves Newton's equations with a preconditioner, and tells in how many iterations; after more than
    ``slow`` the preconditioner is computed anew, by ``factor_at`` or as the factor of the Hessian.
    """
    solution, factor = certified(point), None
    workers = point.programme.rows.workers
    for _ in range(MOST_STEPS):
        is_certified = solution.gap <= AIM * tolerance
        if is_certified and (factor is None or not point.descent.any()):
            return point, solution
        is_factor_affordable = factor is not None or is_affordable(len(point.values) ** 3 / 3, workers)
        if time_is_up(workers) or not is_factor_affordable:
            return point, solution
        try:
            if factor is None:
                factor = factored(hessian(point)) if factor_at is None else factor_at(point)
            direction, change, n_iterations = direction_at(point, factor)
        except ValueError:  # numbers so large that their sums in single precision are infinite
            break
        if is_certified:
            return _nearer(point, solution, point.moved(direction, change, 1.0), certified)
        reached = lowered(point, direction, change)
        if reached is point or n_iterations > slow:
            if reached is point and n_iterations <= 1:
                break
            factor = None
        point, solution = reached, certified(reached)
    if solution.gap <= tolerance or time_is_up(workers):
        return point, solution
    raise SolverFailed(solution, [f"Newton's method over the leaves ended at a gap of {solution.gap:.1e}"])


def _nearer(
    point: Point, solution: Solution, reached: Point, certified: Callable[[Point], Solution]
) -> tuple[Point, Solution]:
    """Of two points the one with the smaller gradient, and its certificate.

    The gap is a square of the distance to the optimum: values at a gap of 1e-12 may be off by 1e-6. One step more makes
    them as precise as their unit leaves them.
    """
    if np.abs(reached.descent).max() >= np.abs(point.descent).max():
        return point, solution
    other = certified(reached)
    return (reached, other) if other.gap <= max(solution.gap, ROUNDING_OF_GAPS) else (point, solution)


def hessian(point: LeafPoint | SoftmaxPoint | ClassPart) -> Matrix:
    """The Hessian of the objective in the values and the intercept, estimated from the first ``SAMPLE`` rows."""
    rows, ridge = point.programme.rows, point.ridge
    sample = point.shared_curvature[: rows.n_first(SAMPLE)]
    seen, total = rows.totals([sample, point.shared_curvature]).tolist()
    matrix = point.columns.gram(sample * (total / seen) if seen > 0 else sample)
    diagonal = np.arange(len(matrix))
    matrix[diagonal[:-1], diagonal[:-1]] += ridge
    matrix[-1, -1] += FLATTEST * ridge
    return matrix


def factored(matrix: Matrix) -> Factor:
    """The Cholesky factor of a Hessian; where rounding has made it indefinite, of one with a larger diagonal."""
    diagonal, more = np.diag(matrix).copy(), ROUNDING
    while True:
        try:
            return cho_factor(matrix, lower=True)
        except LinAlgError:
            matrix = matrix.copy()
            np.fill_diagonal(matrix, (1.0 + more) * diagonal)
            more *= 10.0


def _newton_direction(point: LeafPoint, factor: Factor) -> tuple[Vector, Vector, int]:
    """The solution of Newton's equations, how it changes the scores, and the number of iterations taken."""
    columns, ridge = point.columns, point.ridge
    residual = point.descent
    direction, change = np.zeros_like(residual), np.zeros_like(point.scores)
    preconditioned = cho_solve(factor, residual)
    search, product = preconditioned, float(residual @ preconditioned)
    enough = PRECISION**2 * product
    n_iterations = 0
    while n_iterations < MOST_ITERATIONS:
        n_iterations += 1
        scores = columns.scores(search[:-1])
        weighted = point.curvature * (scores + search[-1])
        image = columns.sums_and_total(weighted)
        image[:-1] += ridge * search[:-1]
        length = product / float(search @ image)
        direction += length * search
        change += length * scores
        residual = residual - length * image
        preconditioned = cho_solve(factor, residual)
        before, product = product, float(residual @ preconditioned)
        if not enough < product < np.inf or time_is_up(columns.rows.workers):
            break
        search = preconditioned + (product / before) * search
    return direction, change, n_iterations


# One factor preconditions all classes: that of the Hessian with the mean curvature of the classes, scaled so that
# each class has its own diagonal.

MOST_SOFTMAX_ITERATIONS = 200
"""Conjugate gradients that need more iterations than this end with what they have found."""
FEW = 12
"""How many iterations a step takes that is to be cheap."""
SLOW_SOFTMAX = 40
"""After more iterations than this, the preconditioner is computed anew at the next step."""


def softmax_certified(point: SoftmaxPoint) -> Solution:
    """The point with its duality gap: the duals are its probabilities, moved to have the sums that they must have."""
    programme = point.programme
    shares = programme.feasible(programme.prices[:, None] * point.probabilities)
    residual = programme.residual(shares)
    edges = point.columns.sums(residual)
    dual = programme.dual_value(shares, edges)
    return Solution(
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


def softmax_optimum(point: SoftmaxPoint, tolerance: float) -> tuple[SoftmaxPoint, Solution]:
    """A point whose relative duality gap is at most the tolerance, and its certificate."""
    return newton(point, tolerance, softmax_certified, _softmax_direction, SLOW_SOFTMAX)


def _softmax_direction(point: SoftmaxPoint, factor: Factor) -> tuple[Matrix, Matrix, int]:
    scale = _scales(point)

    def preconditioned(residual: Matrix) -> Matrix:
        return _centred(cho_solve(factor, residual / scale) / scale)

    return conjugate_gradients(point, preconditioned, MOST_SOFTMAX_ITERATIONS)


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
