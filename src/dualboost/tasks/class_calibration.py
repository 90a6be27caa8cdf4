"""Probabilities of several classes from scores: the softmax of the scores times a slope, plus a number for each class.

The slope is that of the least log loss on rows that the ensemble has not seen; the numbers let the mean probability of
each class be its share, since formulations treat all classes alike, whatever their shares are.
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
"""The strength of a ridge on the numbers of the classes, and, with that of the least slope, all that keeps them finite
where scores separate the classes."""


@dataclass(frozen=True, eq=False)
class ClassCalibration:
    """P(class k | scores) is in proportion to exp(slope * score_k + intercept_k)."""

    slope: float
    intercepts: Vector

    def probabilities(self, scores: Matrix) -> Matrix:
        found: Matrix = softmax(self.slope * scores + self.intercepts, axis=1)
        return found


def calibrate_classes(scores: Matrix, targets: Vector, counts: Vector) -> ClassCalibration:
    """The curve of least log loss; one more row of each class, as likely as not, keeps it finite."""
    n_classes = scores.shape[1]
    codes = targets.astype(np.intp)
    weights = counts / min(float(counts.mean()), 1.0)
    wanted = np.zeros_like(scores)
    wanted[np.arange(len(codes)), codes] = 1.0
    totals = np.bincount(codes, weights=weights, minlength=n_classes)
    wanted = (wanted * totals[codes][:, None] + 1.0) / (totals[codes][:, None] + n_classes)
    shares = (weights / weights.sum())[:, None]
    width = max(float(np.sqrt(np.average(scores.var(axis=1), weights=counts))), 1e-12)

    def loss(theta: Vector) -> tuple[float, Vector]:
        logits = np.exp(theta[0]) * scores + theta[1:]
        off = shares * (softmax(logits, axis=1) - wanted)
        value = -float((shares * wanted * log_softmax(logits, axis=1)).sum()) + 0.5 * RIDGE * float(theta @ theta)
        slope = np.exp(theta[0]) * float((off * scores).sum())
        return value, np.append(slope, off.sum(axis=0)) + RIDGE * theta

    start = np.append(-np.log(width), np.zeros(n_classes))
    limits = [(np.log(SMALLEST_SLOPE), np.log(LARGEST_SLOPE)), *[(None, None)] * n_classes]
    found = minimize(loss, np.clip(start, *limits[0]) * (np.arange(n_classes + 1) == 0), jac=True, bounds=limits)
    intercepts = found.x[1:]
    return ClassCalibration(float(np.exp(found.x[0])), intercepts - intercepts.mean())


def calibrate_classes_by_twins(training: Scored, unseen: Scored) -> ClassCalibration:
    """The curve of an ensemble from the scores of its twins, no steeper than that of its own training rows."""
    curves = [calibrate_classes(*training), calibrate_classes(*unseen)]
    return min(curves, key=lambda curve: curve.slope)
