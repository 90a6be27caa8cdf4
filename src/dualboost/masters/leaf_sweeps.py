"""Sweeps over the groups of trees: each group's leaves in turn take the Newton step that is best for them alone.

A sweep works on the quadratic model of the loss at one point, so that it needs the loss and its derivatives only once.
It is cheap, and enough between two pricings; ``leaf_newton.py`` finds the optimum.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from scipy.linalg.lapack import dposv

from .._typing import Vector
from ..algebra.leaves import LeafColumns, LeafGroup
from .leaf_point import LeafPoint
from .softmax_point import SoftmaxPoint

MOST_HALVINGS = 30
"""How often a step that does not lower the objective is halved before it is given up."""
FLATTEST = 1e-10
"""The smallest diagonal entry of the intercept's equation, which has no ridge, relative to the ridge of a value."""


Point = TypeVar("Point", LeafPoint, SoftmaxPoint)


def sweep(point: LeafPoint, newest: int | None = None) -> LeafPoint:
    """A point with a smaller objective, after one sweep over all groups.

    The group of the newest tree, by default the last one, comes first: the others would make up for values that it does
    not have yet.
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
    """The groups, that of the newest tree first, then the others from the last to the first."""
    groups = columns.groups[::-1]
    if newest is None:
        return groups
    start = columns.of_tree(newest).start
    return sorted(groups, key=lambda group: not group.first <= start < group.columns.stop)


def lowered(point: Point, direction: Vector, change: Vector) -> Point:
    """The point after a step along the direction, halved until the objective falls; the same point if it never does."""
    length = 1.0
    for _ in range(MOST_HALVINGS):
        reached = point.moved(direction, change, length)
        if reached.objective <= point.objective:
            return reached
        length /= 2
    return point


def _best_step(point: LeafPoint, group: LeafGroup, residual: Vector, direction: Vector) -> Vector:
    """The step of the group's values and of the intercept that minimises the quadratic model."""
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
