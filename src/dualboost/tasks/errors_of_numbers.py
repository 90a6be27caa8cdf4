"""How far predicted numbers are from the true ones, in any unit: squares are taken of numbers of about one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from .._typing import Vector

ROUNDING = 1e-12
"""Predictions of a constant that are nearer to it than this share of its size are the constant."""


def r_squared(true: Any, predicted: Any, sample_weight: Any = None) -> float:
    """The share of the variance that is explained; of a constant, one where it is predicted and zero elsewhere."""
    true, predicted, _ = _in_a_usual_unit(true, predicted)
    if len(true) > 1 and not np.ptp(true):
        return float(np.abs(predicted - true).max() <= ROUNDING * np.abs(true[0]))
    return float(r2_score(true, predicted, sample_weight=sample_weight))


def root_mean_square(true: Any, predicted: Any) -> float:
    """The root of the mean squared error, in the unit of the numbers."""
    true, predicted, unit = _in_a_usual_unit(true, predicted)
    return float(np.ldexp(np.sqrt(np.mean((true - predicted) ** 2)), unit))


def _in_a_usual_unit(true: Any, predicted: Any) -> tuple[Vector, Vector, int]:
    """Both divided by a power of two, which rounds nothing, and its exponent."""
    true, predicted = (np.asarray(values, dtype=float) for values in (true, predicted))
    largest = max(float(np.abs(values).max(initial=0.0)) for values in (true, predicted))
    unit = int(np.frexp(largest)[1]) if np.isfinite(largest) else 0
    return np.ldexp(true, -unit), np.ldexp(predicted, -unit), unit
