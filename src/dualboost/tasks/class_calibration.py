"""Probabilities of several classes from scores: the softmax of the scores times a slope, plus a number for each class.

Both are those of the least log loss. The numbers make up for how often classes are, which formulations do not look at.
The class with the largest score, which is predicted, is then made the most probable one, as scikit-learn requires.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from .._typing import Matrix, Vector
from .base import Scored
from .calibration import LARGEST_SLOPE, SMALLEST_SLOPE

RIDGE = 1e-6
"""The strength of a ridge that keeps the numbers of the classes finite."""
AHEAD = 1e-6
"""By how much the logit of the class predicted is above the others, where these would be more probable."""


@dataclass(frozen=True, eq=False)
class ClassCalibration:
    """P(class k | scores) is in proportion to exp(slope * score_k + intercept_k), the predicted class being lifted."""

    slope: float
    intercepts: Vector

    def probabilities(self, scores: Matrix) -> Matrix:
        logits = self.slope * scores + self.intercepts
        rows, best = np.arange(len(scores)), scores.argmax(axis=1)
        others = logits.copy()
        others[rows, best] = -np.inf
        own, highest = logits[rows, best], others.max(axis=1)
        logits[rows, best] = np.where(highest > own, highest + AHEAD, own)
        found: Matrix = softmax(logits, axis=1)
        return found


def log_probabilities(n_classes: int) -> ClassCalibration:
    """The calibration of scores that are logarithms of probabilities."""
    return ClassCalibration(1.0, np.zeros(n_classes))


def calibrate_classes(scores: Matrix, targets: Vector, counts: Vector) -> ClassCalibration:
    """The curve of least log loss; one more row of each class for every class keeps it finite (Platt's targets).

    ``counts`` are numbers of rows.
    """
    codes, n_classes = targets.astype(np.intp), scores.shape[1]
    totals = np.bincount(codes, weights=counts, minlength=n_classes)[codes, None]
    wanted = (totals * np.eye(n_classes)[codes] + 1.0) / (totals + n_classes)
    shares = (counts / counts.sum())[:, None]

    def loss(theta: Vector) -> tuple[float, Vector]:
        slope = np.exp(theta[0])
        logits = slope * scores + theta[1:]
        off = shares * (softmax(logits, axis=1) - wanted)
        value = -float((shares * wanted * log_softmax(logits, axis=1)).sum()) + 0.5 * RIDGE * float(theta @ theta)
        return value, np.append(slope * float((off * scores).sum()), off.sum(axis=0)) + RIDGE * theta

    width = float(np.sqrt(np.average(scores.var(axis=1), weights=counts)))
    limits = [(np.log(SMALLEST_SLOPE), np.log(LARGEST_SLOPE)), *[(None, None)] * n_classes]
    start = np.append(np.clip(-np.log(max(width, SMALLEST_SLOPE)), *limits[0]), np.zeros(n_classes))
    found = minimize(loss, start, jac=True, bounds=limits).x
    return ClassCalibration(float(np.exp(found[0])), found[1:] - found[1:].mean())


def calibrate_classes_by_twins(training: Scored, unseen: Scored) -> ClassCalibration:
    """The curve of an ensemble from the scores of its twins, no steeper than that of its own training rows."""
    curves = [calibrate_classes(*training), calibrate_classes(*unseen)]
    return min(curves, key=lambda curve: curve.slope)
