"""The parts of a file that depend on how many scores a row has.

That is one for two classes and for numbers, and else one for each class or quantile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formulations import Formulation
from ..models.fitted import FittedModel
from ..tasks import ManyClasses, Task, TwoClasses
from ..tasks.calibration import LARGEST_SLOPE, SMALLEST_SLOPE, MarginCalibration
from ..tasks.class_calibration import ClassCalibration
from .checks import SMALLEST, fail, fields, flag, inside, number, numbers
from .trees import LARGEST_FIGURE
from .values import read_classes


def describe_outputs(figures: Any) -> Any:
    """A number, or a list with one for each class or quantile."""
    return np.asarray(figures, dtype=float).tolist()


def describe_calibration(fitted: FittedModel) -> dict[str, Any] | None:
    """The curve of the probability; null where it is the softmax of the scores."""
    curve = fitted.calibration
    if fitted.task.n_outputs > 1:
        if fitted.formulation.has_final_scores:
            return None
        return {"slope": curve.slope, "intercepts": curve.intercepts.tolist()}
    return {
        "negative_slope": curve.negative_slope,
        "positive_slope": curve.positive_slope,
        "intercept": curve.intercept,
        "limit": curve.limit if np.isfinite(curve.limit) else None,
    }


def restore_task(value: Any, formulation: Formulation) -> Task:
    """The task for the classes of a file."""
    classes = read_classes(value, "classes")
    if len(classes) == 2:
        return TwoClasses(classes)
    if not formulation.corrects_for_classes:
        fail("classes.values", f"has {len(classes)} entries; it must have 2 under formulation {formulation.name!r}")
    return ManyClasses(classes)


def restore_normalised(document: dict[str, Any], task: Task) -> bool:
    """Whether scores are divided by the sum of the weights; files of before there were intercepts do not say so."""
    if task.n_outputs > 1:
        fields(document, "", ("intercept", "normalised"), document)
    return flag(document.get("normalised", True), "normalised")


def restore_balance(value: Any, task: Task) -> Any:
    """The score of an ensemble without a tree, or one for each class."""
    if task.n_outputs > 1 and isinstance(value, list):
        return numbers(value, "balance", task.n_outputs, 0.0, 1.0)
    balance = number(value, "balance", -1.0 if task.n_outputs == 1 else 0.0, 1.0)
    return balance if task.n_outputs == 1 else np.full(task.n_outputs, balance)


def restore_intercept(document: dict[str, Any], task: Task, most: float) -> Any:
    """A number, or one for each class or quantile, of at most this size."""
    value = document.get("intercept", 0.0)
    if task.n_outputs > 1:
        return numbers(value, "intercept", task.n_outputs, -most, most)
    return number(value, "intercept", -most, most)


def restore_calibration(value: Any, task: Task) -> Any:
    """What turns scores into probabilities."""
    if task.n_outputs == 1:
        return _read_curve(value, "calibration")
    if value is None:
        return task.identity_calibration()
    entry = fields(value, "calibration", ("slope", "intercepts"))
    slope = number(entry["slope"], "calibration.slope", SMALLEST_SLOPE, LARGEST_SLOPE)
    ends = -LARGEST_FIGURE, LARGEST_FIGURE
    return ClassCalibration(slope, numbers(entry["intercepts"], "calibration.intercepts", task.n_outputs, *ends))


def _read_curve(value: Any, where: str) -> MarginCalibration:
    names = ("negative_slope", "positive_slope")
    entry = fields(value, where, names, ("intercept", "limit"))
    negative, positive = (number(entry[name], inside(where, name), SMALLEST_SLOPE, LARGEST_SLOPE) for name in names)
    # Older files have neither: their curves pass through one half at margin zero.
    intercept, limit = entry.get("intercept", 0.0), entry.get("limit")
    return MarginCalibration(
        negative,
        positive,
        number(intercept, inside(where, "intercept")),
        np.inf if limit is None else number(limit, inside(where, "limit"), SMALLEST),
    )
