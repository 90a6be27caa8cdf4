"""Sweeps over the values of leaves, between pricings."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv

from .._typing import Matrix, Scores, Vector
from ..matrix.leaves import LeafColumns, LeafGroup
from .leaf_points import FLATTEST, AnyPoint, LeafPoint, SoftmaxPoint

# A sweep works on the quadratic model of the loss at one point, so that it needs the loss and its derivatives only
# once. It is cheap, and enough between two pricings; ``leaf_newton.py`` finds the optimum.

MOST_HALVINGS = 30
"""How often a step that does not lower the objective is halved."""


def sweep(point: LeafPoint, newest: int | None = None) -> LeafPoint:
    """A point with a smaller objective, after one sweep over all groups.

    The group of the newest tree, by default the last one, comes first: else the others would make up for its values,
    which are still zero.
    """
    direction = np.zeros(len(point.values) + 1)
    residual, scores, rows = point.residual.copy(), np.zeros_like(point.scores), point.columns.rows
    if not point.columns.n_trees:
        direction[-1] = rows.total(residual) / (rows.total(point.curvature) + FLATTEST * point.ridge)
    for group in _in_order(point.columns, newest):
        step = _best_step(point, group, residual, direction)
        direction[group.columns] += step[:-1]
        direction[-1] += step[-1]
        change = group.spread(step[:-1])
        scores += change
        change += step[-1]
        change *= point.curvature
        residual -= change
    return lowered(point, direction, scores)


def _in_order(columns: LeafColumns, newest: int | None) -> list[LeafGroup]:
    groups = columns.groups[::-1]
    if newest is None:
        return groups
    start = columns.of_tree(newest).start
    return sorted(groups, key=lambda group: not group.first <= start < group.columns.stop)


def lowered(point: AnyPoint, direction: Scores, change: Scores) -> AnyPoint:
    """The point after a step along the direction, halved until the objective falls; the same point if it never does."""
    length = 1.0
    for _ in range(MOST_HALVINGS):
        reached = point.moved(direction, change, length)
        if reached.objective <= point.objective:
            return reached
        length /= 2
    return point


def _best_step(point: LeafPoint, group: LeafGroup, residual: Vector, direction: Vector) -> Vector:
    ridge, n = point.ridge, sum(group.sizes)
    table, columns = group.table, group.columns
    own = np.array([group.cell_sums(point.curvature), group.cell_sums(residual)])
    curvature, slopes = point.columns.rows.workers.sum(own)
    matrix = np.empty((n + 1, n + 1), order="F")
    weighted = table * curvature[:, None]
    matrix[:n, :n] = table.T @ weighted
    matrix[n, :n] = matrix[:n, n] = weighted.sum(axis=0)
    matrix[n, n] = curvature.sum() + FLATTEST * ridge
    matrix[np.arange(n), np.arange(n)] += ridge
    target = np.empty(n + 1)
    target[:n] = slopes @ table - ridge * (point.values[columns] + direction[columns])
    target[n] = slopes.sum()
    _, step, failed = dposv(matrix, target)
    return np.zeros(n + 1) if failed else np.asarray(step)


# Under the quadratic model of the loss with classes taken as independent, the best step of one tree has a closed form
# for each leaf and class. Steps are in single precision; the length of the whole step uses the true second
# derivatives.

LONGEST = 2.0
"""The longest multiple of the step of a sweep that is tried."""

MOST_SWEPT = 8
"""About how many trees take a step at most: with many classes, a sweep over all of many trees takes longer than a new
tree, and does not make the next one better."""


def softmax_sweep(point: SoftmaxPoint, newest: int | None = None) -> SoftmaxPoint:
    """A point with a smaller objective, after the steps of some trees: first the newest one, by default the last."""
    columns, ridge = point.columns, point.ridge
    direction = np.zeros((len(point.values) + 1, point.programme.n_classes))
    residual, curvature = point.residual.astype(np.float32), point.curvature.astype(np.float32)
    scores = np.zeros_like(point.scores)
    total = point.summed(point.curvature) + FLATTEST * ridge
    for k in _swept(columns.n_trees, newest):
        own = columns.of_tree(k)
        slopes = columns.sums_of_tree(k, residual) - ridge * point.values[own]
        step = point.centred(slopes / (columns.sums_of_tree(k, curvature) + ridge)).astype(np.float32)
        direction[own] = step
        change = step.take(columns.leaves(k), axis=0)
        scores += change
        change *= curvature
        residual -= change
    direction[-1] = point.centred(point.summed(residual) / total)
    length = _best_length(point, direction, scores)
    return lowered(point, length * direction, length * scores)


def _swept(n_trees: int, newest: int | None) -> list[int]:
    """The newest tree, then the others from the last to the first; of many trees, others each time."""
    first = n_trees - 1 if newest is None else newest
    stride = -(-n_trees // MOST_SWEPT)
    return [first, *(k for k in range(n_trees)[::-1] if k != first and (k - first) % stride == 0)][:n_trees]


def _best_length(point: SoftmaxPoint, direction: Matrix, scores: Matrix) -> float:
    change = scores + direction[-1]
    own = np.array([(point.residual * change).sum(), (change * point.curved(change)).sum()])
    of_slopes, of_bends = point.programme.rows.workers.sum(own).tolist()
    slope = of_slopes - point.ridge * float((point.values * direction[:-1]).sum())
    bend = of_bends + point.ridge * float((direction[:-1] ** 2).sum())
    return float(np.clip(slope / bend, 0.0, LONGEST)) if bend > 0 else 1.0
