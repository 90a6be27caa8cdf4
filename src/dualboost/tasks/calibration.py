"""Probabilities from normalised margins: a logistic curve with one slope on each side of zero.

The curve passes through one half at margin zero, so that probabilities and predictions agree, and increases strictly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from .._typing import Vector

SMALLEST_SLOPE = 1e-3
"""The smallest slope, which is positive so that probabilities increase with the margin."""
LARGEST_SLOPE = 1e4
"""The largest slope."""
DIGITS = 5
"""Margins are rounded to this many decimal places, so that there are few different ones to fit to."""


@dataclass(frozen=True)
class MarginCalibration:
    """P(second class | margin) = 1/(1 + exp(-slope*margin))."""

    negative_slope: float
    positive_slope: float

    def probability(self, margins: Vector) -> Vector:
        """The probability of the second class."""
        slopes = np.where(margins < 0, self.negative_slope, self.positive_slope)
        return expit(slopes * margins)


def calibrate(margins: Vector, labels: Vector, counts: Vector) -> MarginCalibration:
    """The slopes of least log loss; Platt's smoothed targets keep them finite where margins separate the classes."""
    margins, labels, counts = _binned(margins, labels, counts)
    totals = {sign: counts[labels == sign].sum() for sign in (-1.0, 1.0)}
    targets = np.where(labels > 0, (totals[1.0] + 1) / (totals[1.0] + 2), 1 / (totals[-1.0] + 2))
    sides = (margins < 0, margins > 0)
    return MarginCalibration(*(_slope(margins[side], targets[side], counts[side]) for side in sides))


def _binned(margins: Vector, labels: Vector, counts: Vector) -> tuple[Vector, Vector, Vector]:
    """Merge rows of nearly equal margin and the same label."""
    values, group = np.unique(np.round(margins, DIGITS), return_inverse=True)
    by_label = [np.bincount(group, weights=np.where(labels == sign, counts, 0.0)) for sign in (-1.0, 1.0)]
    return np.tile(values, 2), np.repeat([-1.0, 1.0], len(values)), np.concatenate(by_label)


def _slope(margins: Vector, targets: Vector, counts: Vector) -> float:
    """The slope at which the derivative of the log loss, which increases with the slope, is zero."""

    def derivative(slope: float) -> float:
        return float((counts * margins) @ (expit(slope * margins) - targets))

    if not len(margins) or derivative(SMALLEST_SLOPE) >= 0:
        return SMALLEST_SLOPE
    if derivative(LARGEST_SLOPE) <= 0:
        return LARGEST_SLOPE
    return float(brentq(derivative, SMALLEST_SLOPE, LARGEST_SLOPE, xtol=1e-9, rtol=1e-9))
