"""How good a model is on the rows given, in the figures that a summary shows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, log_loss, mean_absolute_error

from .._typing import Scores, Vector
from ..tasks.errors_of_numbers import r_squared, root_mean_square


def class_figures(y: NDArray[Any], predicted: NDArray[Any], probabilities: Scores, classes: Any) -> dict[str, float]:
    """For predicted classes; ``probabilities`` are those of all classes, or of the second of two."""
    if probabilities.ndim == 1:
        probabilities = np.column_stack([1.0 - probabilities, probabilities])
    return {
        "accuracy, rows given": float(np.mean(predicted == y)),
        "balanced accuracy": float(balanced_accuracy_score(y, predicted)),
        "log loss": float(log_loss(y, np.clip(probabilities, 0.0, 1.0), labels=classes)),
    }


def number_figures(y: Vector, predicted: Vector) -> dict[str, float]:
    """For predicted numbers."""
    return {
        "R², rows given": r_squared(y, predicted),
        "mean absolute error": float(mean_absolute_error(y, predicted)),
        "root mean squared error": root_mean_square(y, predicted),
    }
