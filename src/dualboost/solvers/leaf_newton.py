"""The optimal values of all leaves by Newton's method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._typing import Matrix, Scores, Vector
from ..deadlines import is_affordable, time_is_up
from ..matrix.leaves import LeafColumns
from .base import Solution, SolverFailed
from .leaf_points import AnyPoint, Point, SoftmaxPoint, with_ridge
from .leaf_sweeps import lowered

# The preconditioner is the Hessian over the first rows, scaled up. Rows are in the order of a hash
# (``data/merging.py``), so that the first rows are a random sample; where they are all rows, one or two iterations
# suffice. Several classes that share trees share one factor, scaled so that each class has its own diagonal.

SAMPLE = 8192
"""How many rows the preconditioner is computed from."""
MOST_STEPS = 60
"""Newton's method needs 3 to 8 steps."""
PRECISION = 0.02
"""By how much conjugate gradients reduce the residual of Newton's equations."""
FEW = 12
"""How many iterations a cheap step takes."""
ROUNDING = 1e-6
"""The relative error of the entries of the Hessian, which are sums in single precision."""
ROUNDING_OF_GAPS = 1e-12
"""Relative gaps up to this are rounding errors."""
AIM = 0.5
"""The gap reached is at most this fraction of the tolerance, which leaves room for rounding."""

Factor = tuple[Matrix, bool]
"""A Cholesky factor, for ``scipy.linalg.cho_solve``."""
Product = Callable[[Scores], tuple[Scores, Scores]]
"""Maps a vector of unknowns to the change of the rows, and to its product with the matrix of the equations."""


def optimum(point: AnyPoint, tolerance: float) -> tuple[AnyPoint, Solution]:
    """A point whose relative duality gap is at most the tolerance, and its certificate; the best one if time is up."""
    solution, factors = point.certified(), None
    workers = point.programme.rows.workers
    for _ in range(MOST_STEPS):
        is_certified = solution.gap <= AIM * tolerance
        if is_certified and (factors is None or not point.descent.any()):
            return point, solution
        is_factor_affordable = factors is not None or is_affordable(len(point.values) ** 3 / 3, workers)
        if time_is_up(workers) or not is_factor_affordable:
            return point, solution
        try:
            if factors is None:
                factors = [factored(hessian(columns, d, point.ridge)) for _, columns, d in point.blocks]
            direction, change, n_iterations = _newton_direction(point, factors)
        except ValueError:  # numbers so large that their sums in single precision are infinite
            break
        if is_certified:
            return _nearer(point, solution, point.moved(direction, change, 1.0))
        reached = lowered(point, direction, change)
        if reached is point or n_iterations > point.slow:
            if reached is point and n_iterations <= 1:
                break
            factors = None
        point, solution = reached, reached.certified()
    if solution.gap <= tolerance or time_is_up(workers):
        return point, solution
    raise SolverFailed(solution, [f"Newton's method over the leaves ended at a gap of {solution.gap:.1e}"])


def _nearer(point: AnyPoint, solution: Solution, reached: AnyPoint) -> tuple[AnyPoint, Solution]:
    """Of two points the one with the smaller gradient, and its certificate.

    The gap is a square of the distance to the optimum: values at a gap of 1e-12 may be off by 1e-6. One more step makes
    them as precise as rounding permits.
    """
    if np.abs(reached.descent).max() >= np.abs(point.descent).max():
        return point, solution
    other = reached.certified()
    return (reached, other) if other.gap <= max(solution.gap, ROUNDING_OF_GAPS) else (point, solution)


def _newton_direction(point: Point, factors: list[Factor]) -> tuple[Scores, Scores, int]:
    """The solution of Newton's equations, how it changes the scores, and the number of iterations taken."""
    scales, served = point.scales, [classes for classes, _, _ in point.blocks]

    def preconditioned(residual: Scores) -> Scores:
        if len(factors) == 1:
            return point.centred(cho_solve(factors[0], residual / scales) / scales)
        solved = [cho_solve(factor, residual[:, own]) for own, factor in zip(served, factors, strict=True)]
        return point.centred(np.hstack(solved))

    return solved_equations(point, preconditioned, point.most_iterations)


def improved(point: SoftmaxPoint) -> SoftmaxPoint:
    """A point with a smaller objective, after a few iterations that the diagonal of the Hessian preconditions."""
    diagonals = point.diagonals(point.curvature)
    direction, change, _ = solved_equations(point, lambda residual: point.centred(residual / diagonals), FEW)
    return lowered(point, direction, change)


def solved_equations(
    point: Point, preconditioned: Callable[[Scores], Scores], most_iterations: int
) -> tuple[Scores, Scores, int]:
    """An approximate solution of Newton's equations, as ``conjugate_gradients`` returns it."""
    workers, zeros = point.columns.rows.workers, np.zeros_like(point.scores)
    return conjugate_gradients(
        lambda search: hessian_product(point, search),
        preconditioned,
        point.descent,
        zeros,
        PRECISION,
        most_iterations,
        lambda: time_is_up(workers),
    )


def hessian_product(point: Point, search: Scores) -> tuple[Scores, Scores]:
    """How a direction changes the scores of the rows, and the Hessian times the direction."""
    scores = point.columns.scores(search[:-1])
    image = point.columns.sums_and_total(point.curved(scores + search[-1]))
    image[:-1] += point.ridge * search[:-1]
    return scores, image


def conjugate_gradients(
    product: Product,
    preconditioned: Callable[[Scores], Scores],
    target: Scores,
    change: Scores,
    precision: float,
    most_iterations: int,
    is_late: Callable[[], bool] = lambda: False,
) -> tuple[Scores, Scores, int]:
    """The x whose product with a positive definite matrix is the target, by preconditioned conjugate gradients.

    Returns x, how it changes the rows, and the number of iterations. ``change`` holds a zero for each row, and is
    overwritten. The residual falls by the factor ``precision``, in the norm of the preconditioner.
    """
    x, residual = np.zeros_like(target), target
    step = preconditioned(residual)
    search, squared = step, _dot(residual, step)
    enough, n_iterations = precision**2 * squared, 0
    while n_iterations < most_iterations:
        n_iterations += 1
        of_rows, image = product(search)
        bend = _dot(search, image)
        if not bend > 0:
            break
        length = squared / bend
        x += length * search
        change += length * of_rows
        residual = residual - length * image
        step = preconditioned(residual)
        before, squared = squared, _dot(residual, step)
        if not enough < squared < np.inf or is_late():
            break
        search = step + (squared / before) * search
    return x, change, n_iterations


def _dot(a: Scores, b: Scores) -> float:
    return float(a @ b if a.ndim == 1 else (a * b).sum())


def hessian(columns: LeafColumns, curvature: Vector, ridge: float) -> Matrix:
    """The Hessian of the objective in the values and the intercept, estimated from the first ``SAMPLE`` rows."""
    rows = columns.rows
    sample = curvature[: rows.n_first(SAMPLE)]
    seen, total = rows.totals([sample, curvature]).tolist()
    matrix = columns.gram(sample * (total / seen) if seen > 0 else sample)
    np.fill_diagonal(matrix, with_ridge(np.diag(matrix).copy(), ridge))
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
