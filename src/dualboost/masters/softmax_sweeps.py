"""Sweeps over the trees where leaves have a value for each class.

Under the quadratic model of the loss with classes taken as independent, the best step of one tree has a closed form for
each leaf and class. Steps are in single precision; the length of the whole step is that of the true second derivatives.
"""

from __future__ import annotations

import numpy as np

from .._typing import Matrix
from .leaf_sweeps import FLATTEST, lowered
from .softmax_point import SoftmaxPoint

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
        step = _centred(slopes / (columns.sums_of_tree(k, curvature) + ridge)).astype(np.float32)
        direction[own] = step
        change = step.take(columns.leaves(k), axis=0)
        scores += change
        change *= curvature
        residual -= change
    direction[-1] = _centred(point.summed(residual) / total)
    length = _best_length(point, direction, scores)
    return lowered(point, length * direction, length * scores)


def _swept(n_trees: int, newest: int | None) -> list[int]:
    """The newest tree, then the others from the last to the first; of many trees, others each time."""
    first = n_trees - 1 if newest is None else newest
    stride = -(-n_trees // MOST_SWEPT)
    return [first, *(k for k in range(n_trees)[::-1] if k != first and (k - first) % stride == 0)][:n_trees]


def _centred(step: Matrix) -> Matrix:
    """The step without what it adds to all classes alike, which changes no probability."""
    return step - step.mean(axis=-1, keepdims=True)


def _best_length(point: SoftmaxPoint, direction: Matrix, scores: Matrix) -> float:
    """Where the quadratic model is least along the direction."""
    change = scores + direction[-1]
    own = np.array([(point.residual * change).sum(), (change * point.curved(change)).sum()])
    of_slopes, of_bends = point.programme.rows.workers.sum(own).tolist()
    slope = of_slopes - point.ridge * float((point.values * direction[:-1]).sum())
    bend = of_bends + point.ridge * float((direction[:-1] ** 2).sum())
    return float(np.clip(slope / bend, 0.0, LONGEST)) if bend > 0 else 1.0
