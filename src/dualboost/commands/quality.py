"""How good a model's predictions are, in figures."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, log_loss, r2_score, recall_score, roc_auc_score

from .._typing import Integers, Matrix, Vector


def quality_figures(true: Integers, predicted: Integers, probabilities: Matrix) -> dict[str, float]:
    """Figures of rows whose classes are numbered; nan where the rows are of too few classes for a figure."""
    present = np.unique(true)
    has_several = len(present) > 1
    return {
        "accuracy": float(np.mean(predicted == true)),
        "balanced_accuracy": recall_score(true, predicted, labels=present, average="macro")
        if has_several
        else float("nan"),
        "auc": _mean_auc(true, probabilities) if has_several else float("nan"),
        "log_loss": log_loss(true, probabilities, labels=np.arange(probabilities.shape[1])),
    }


def number_figures(true: Vector, predicted: Vector) -> dict[str, float]:
    """Figures of rows with numbers; R^2 is nan where there is one row only."""
    return {
        "rmse": float(np.sqrt(np.mean((true - predicted) ** 2))),
        "mae": float(np.mean(np.abs(true - predicted))),
        "r2": r2_score(true, predicted) if len(true) > 1 else float("nan"),
    }


def _mean_auc(true: Integers, probabilities: Matrix) -> float:
    """The area under the curve of the second of two classes; of several, the mean over each class against the rest."""
    judged = [1] if probabilities.shape[1] == 2 else np.unique(true).tolist()
    return float(np.mean([roc_auc_score(true == k, probabilities[:, k]) for k in judged]))


def confusion_figures(true: Integers, predicted: Integers, classes: Any) -> dict[str, dict[str, int]]:
    """How often each class is predicted for the rows of each class."""
    table = confusion_matrix(true, predicted, labels=np.arange(len(classes)))
    return {
        f"true_{name}": {f"predicted {other}": int(table[k, j]) for j, other in enumerate(classes)}
        for k, name in enumerate(classes)
    }
