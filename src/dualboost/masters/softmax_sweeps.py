"""Sweeps over the trees where leaves have a value for each class.

Under the quadratic model of the loss with classes taken as independent, the best step of one tree has a closed form for
each leaf and class. The length of the whole step is that of the true second derivatives.
"""

from __future__ import annotations

import numpy as np

from .._typing import Matrix
from .leaf_sweeps import FLATTEST, lowered
from .softmax_point import SoftmaxPoint

LONGEST = 2.0
"""The longest multiple of the step of a sweep that is tried."""


def softmax_sweep(point: SoftmaxPoint, newest: int | None = None) -> SoftmaxPoint:
    """A point with a smaller objective, after one sweep over all trees; the newest tree, by default the last, first."""
    columns, curvature, ridge = point.columns, point.curvature, point.ridge
    direction = np.zeros((len(point.values) + 1, point.programme.n_classes))
    residual, scores = point.residual.copy(), np.zeros_like(point.scores)
    total = curvature.sum(axis=0) + FLATTEST * ridge
    for k in _in_order(columns.n_trees, newest):
        own = columns.of_tree(k)
        slopes = columns.sums_of_tree(k, residual) - ridge * point.values[own]
        step = _centred(slopes / (columns.sums_of_tree(k, curvature) + ridge))
        direction[own] = step
        change = step.take(columns.leaves(k), axis=0)
        scores += change
        change *= curvature
        residual -= change
    direction[-1] = _centred(residual.sum(axis=0) / total)
    length = _best_length(point, direction, scores)
    return lowered(point, length * direction, length * scores)


def _in_order(n_trees: int, newest: int | None) -> list[int]:
    order = list(range(n_trees))[::-1]
    return order if newest is None else [newest, *(k for k in order if k != newest)]


def _centred(step: Matrix) -> Matrix:
    """The step without what it adds to all classes alike, which changes no probability."""
    return step - step.mean(axis=-1, keepdims=True)


def _best_length(point: SoftmaxPoint, direction: Matrix, scores: Matrix) -> float:
    """Where the quadratic model is least along the direction."""
    change = scores + direction[-1]
    slope = float((point.residual * change).sum()) - point.ridge * float((point.values * direction[:-1]).sum())
    bend = float((change * point.curved(change)).sum()) + point.ridge * float((direction[:-1] ** 2).sum())
    return float(np.clip(slope / bend, 0.0, LONGEST)) if bend > 0 else 1.0
