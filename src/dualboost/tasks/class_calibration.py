"""Probabilities of several classes from scores: the softmax of the scores times a slope.

The slope is that of the least log loss. There is no number for each class beside it, so that the class with the largest
score, which is predicted, is also the most probable one, as scikit-learn requires.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from .._typing import Matrix, Vector
from .base import Scored
from .calibration import LARGEST_SLOPE, SMALLEST_SLOPE


@dataclass(frozen=True)
class ClassCalibration:
    """P(class k | scores) is in proportion to exp(slope * score_k)."""

    slope: float

    def probabilities(self, scores: Matrix) -> Matrix:
        found: Matrix = softmax(self.slope * scores, axis=1)
        return found


def calibrate_classes(scores: Matrix, targets: Vector, counts: Vector) -> ClassCalibration:
    """The curve of least log loss; one more row of each class for every class keeps it finite (Platt's targets)."""
    codes, n_classes = targets.astype(np.intp), scores.shape[1]
    weights = counts / min(float(counts.mean()), 1.0)
    totals = np.bincount(codes, weights=weights, minlength=n_classes)[codes, None]
    wanted = (totals * np.eye(n_classes)[codes] + 1.0) / (totals + n_classes)
    shares = weights / weights.sum()

    def loss(exponent: float) -> float:
        return -float(shares @ (wanted * log_softmax(np.exp(exponent) * scores, axis=1)).sum(axis=1))

    limits = float(np.log(SMALLEST_SLOPE)), float(np.log(LARGEST_SLOPE))
    found = minimize_scalar(loss, bounds=limits, method="bounded", options={"xatol": 1e-6})
    return ClassCalibration(float(np.exp(found.x)))


def calibrate_classes_by_twins(training: Scored, unseen: Scored) -> ClassCalibration:
    """The curve of an ensemble from the scores of its twins, no steeper than that of its own training rows."""
    curves = [calibrate_classes(*training), calibrate_classes(*unseen)]
    return min(curves, key=lambda curve: curve.slope)
