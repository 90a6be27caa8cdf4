"""How good a model's predictions are, in figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import (
    confusion_matrix,
    log_loss,
    mean_pinball_loss,
    mean_poisson_deviance,
    recall_score,
    roc_auc_score,
)

from .._typing import Integers, Matrix, Vector
from ..data.messages import few
from ..data.table_files import name_of
from ..data.tables import Table
from ..errors import InvalidDataError
from ..escaping import csv_cell
from ..formulations.numbers import PoissonLoss, QuantileLoss
from ..tasks.errors_of_numbers import r_squared, root_mean_square
from .targets import split_numbers, split_target


def figures_of(fitted: Any, frame: pd.DataFrame, features: Table, target: str, path: Path) -> dict[str, Any]:
    """The figures of a model on a table with a target."""
    figures: dict[str, Any] = {"rows": len(frame)}
    confusion: dict[str, Any] = {}
    if fitted.fitted_.task.has_classes:
        true = _class_numbers(split_target(frame, target, path)[1], fitted, path)
        predicted = np.searchsorted(fitted.classes_, fitted.predict(features))
        figures |= quality_figures(true, predicted, fitted.predict_proba(features))
        confusion = confusion_figures(true, predicted, fitted.classes_)
    else:
        numbers = split_numbers(frame, target, path)[1]
        figures |= number_figures(numbers, fitted.predict(features))
        figures |= figures_of_loss(fitted, features, numbers)
    return figures | {"trees": fitted.n_trees_, "leaves": fitted.n_leaves_} | confusion


def _class_numbers(labels: Any, model: Any, path: Path) -> Integers:
    """The number of each label's class in the model, where it may have another type than in the table."""
    by_text = {str(name): k for k, name in enumerate(model.classes_)}
    # The labels may be predictions from a CSV file.
    spelled = {csv_cell(name): k for name, k in by_text.items()} | by_text
    unknown = sorted({str(label) for label in np.unique(labels)} - set(spelled))
    if unknown:
        raise InvalidDataError(
            f"{name_of(path)}: the label {unknown[0]!r} is not one of the model's: {few(sorted(by_text))}."
        )
    return np.array([spelled[str(label)] for label in labels], dtype=np.intp)


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
        "rmse": root_mean_square(true, predicted),
        "mae": float(np.mean(np.abs(true - predicted))),
        "r2": r_squared(true, predicted) if len(true) > 1 else float("nan"),
    }


def figures_of_loss(model: Any, features: Any, true: Vector) -> dict[str, float]:
    """What judges the predictions of losses that are not for means."""
    loss, predicted = model.formulation_, model.predict(features)
    if model.fitted_.task.n_outputs > 1:
        return quantile_figures(model, features, true)
    if isinstance(loss, QuantileLoss):
        return {
            "pinball_loss": mean_pinball_loss(true, predicted, alpha=loss.quantile),
            "share_below": float(np.mean(true <= predicted)),
        }
    if isinstance(loss, PoissonLoss):
        return {"poisson_deviance": float(mean_poisson_deviance(true, predicted))}
    return {}


def quantile_figures(model: Any, features: Any, true: Vector) -> dict[str, float]:
    """Figures of a model of several quantiles; the interval is that between the outermost ones."""
    lower, upper = model.predict_interval(features).T
    return {
        "pinball_loss": -model.formulation_.scorer(model, features, true),
        "coverage": float(np.mean((lower <= true) & (true <= upper))),
        "mean_width": float(np.mean(upper - lower)),
    }


def _mean_auc(true: Integers, probabilities: Matrix) -> float:
    """The area under the curve of the second of two classes; of several, the mean over each class against the rest."""
    judged = [1] if probabilities.shape[1] == 2 else np.unique(true).tolist()
    return float(np.mean([roc_auc_score(true == k, probabilities[:, k]) for k in judged]))


def confusion_figures(true: Integers, predicted: Integers, classes: Any) -> dict[str, dict[str, int]]:
    """How often each class is predicted for the rows of each class."""
    table = confusion_matrix(true, predicted, labels=np.arange(len(classes)))
    return {
        f"true_{name}": {f"predicted_{other}": int(table[k, j]) for j, other in enumerate(classes)}
        for k, name in enumerate(classes)
    }
