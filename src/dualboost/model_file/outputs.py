"""The parts of a model file that depend on the task."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from ..formulations import Formulation, NumberLoss, make_number_loss
from ..models.ensemble import Ensemble
from ..models.fitted import FittedModel
from ..targets import REGRESSION, BinaryTarget, MulticlassTarget, NumericTarget, QuantileTarget, Target
from ..targets.calibration import LARGEST_SLOPE, SMALLEST_SLOPE, ClassCalibration, MarginCalibration
from ..targets.quantiles import Widening
from ..trees.tree import Tree
from .checks import SMALLEST, choice, fail, fields, flag, inside, number, numbers, shown
from .objects import made, plain
from .trees import LARGEST_FIGURE, read_classes

# That is one for two classes and for numbers, and else one for each class or quantile.


def describe_outputs(figures: Any) -> Any:
    """A number, or a list with one for each class or quantile."""
    return np.asarray(figures, dtype=float).tolist()


def describe_calibration(fitted: FittedModel) -> dict[str, Any] | None:
    """The curve of the probability; null where it is the softmax of the scores."""
    curve = fitted.calibration
    if fitted.target.n_outputs > 1:
        if fitted.formulation.has_final_scores:
            return None
        return {"slope": curve.slope, "intercepts": curve.intercepts.tolist()}
    return {
        "negative_slope": curve.negative_slope,
        "positive_slope": curve.positive_slope,
        "intercept": curve.intercept,
        "limit": curve.limit if np.isfinite(curve.limit) else None,
    }


def restore_task(value: Any, formulation: Formulation) -> Target:
    """The task for the classes of a file."""
    classes = read_classes(value, "classes")
    if len(classes) == 2:
        return BinaryTarget(classes)
    if not formulation.optimizes_for_classes:
        fail("classes.values", f"has {len(classes)} entries; it must have 2 under formulation {formulation.name!r}")
    return MulticlassTarget(classes)


def restore_normalised(document: dict[str, Any], target: Target) -> bool:
    """Whether scores are divided by the sum of the weights; files of before there were intercepts do not say so."""
    if target.n_outputs > 1:
        fields(document, "", ("intercept", "normalised"), document)
    return flag(document.get("normalised", True), "normalised")


def restore_balance(value: Any, target: Target) -> Any:
    """The score of an ensemble without a tree, or one for each class."""
    if target.n_outputs > 1 and isinstance(value, list):
        return numbers(value, "balance", target.n_outputs, 0.0, 1.0)
    balance = number(value, "balance", -1.0 if target.n_outputs == 1 else 0.0, 1.0)
    return balance if target.n_outputs == 1 else np.full(target.n_outputs, balance)


def restore_intercept(document: dict[str, Any], target: Target, most: float) -> Any:
    """A number, or one for each class or quantile, of at most this size."""
    value = document.get("intercept", 0.0)
    if target.n_outputs > 1:
        return numbers(value, "intercept", target.n_outputs, -most, most)
    return number(value, "intercept", -most, most)


def restore_calibration(value: Any, target: Target) -> Any:
    """What turns scores into probabilities."""
    if target.n_outputs == 1:
        return _read_curve(value, "calibration")
    if value is None:
        return target.identity_calibration()
    entry = fields(value, "calibration", ("slope", "intercepts"))
    slope = number(entry["slope"], "calibration.slope", SMALLEST_SLOPE, LARGEST_SLOPE)
    ends = -LARGEST_FIGURE, LARGEST_FIGURE
    return ClassCalibration(slope, numbers(entry["intercepts"], "calibration.intercepts", target.n_outputs, *ends))


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


NAMES = list(dict.fromkeys(kind.name for kind in REGRESSION.values()))
"""The names that files have for tasks: how the unit of y was measured is no part of them."""


def describe_numbers(target: NumericTarget) -> dict[str, Any]:
    measured = {field.name: describe_outputs(getattr(target, field.name)) for field in dataclass_fields(target)}
    return {"name": target.name} | measured


def describe_widening(widening: Widening | None) -> dict[str, Any] | None:
    """By how much intervals are made wider; null where they are not."""
    return None if widening is None else {"shifts": describe_outputs(widening.shifts)}


def asked_loss(parameters: dict[str, Any], used: NumberLoss) -> tuple[NumberLoss | str, str]:
    """The loss that the arguments ask for, and where they do; levels among them must be those of the loss used."""
    loss, levels, known = parameters["loss"], parameters.get("quantiles"), plain(used.get_params().get("quantiles"))
    if levels is None:
        asked = made(make_number_loss, {"loss": loss, "C": None}, "parameters.loss")
        if asked.name == used.name and asked.link != used.link:
            fail("formulation.quantiles", f"is {known}, but the loss of the parameters is {asked!r}")
        return loss, "parameters.loss"
    asked = made(make_number_loss, {"loss": loss, "C": None, "quantiles": levels}, "parameters.quantiles")
    if known is not None and known != levels:
        fail("formulation.quantiles", f"is {known}, but parameters.quantiles is {levels}")
    return asked, "that of parameters.quantiles"


def restore_numbers(value: Any, where: str, loss: NumberLoss) -> NumericTarget:
    """The task, which must be that of the loss."""
    kind = REGRESSION[loss.link]
    entry = fields(value, where, ("name", *(field.name for field in dataclass_fields(kind))))
    name = choice(entry["name"], f"{where}.name", NAMES)
    if name != kind.name:
        fail(f"{where}.name", f"is {name!r}; it must be {kind.name!r} under the loss {loss.name!r}")
    centre = number(entry["centre"], f"{where}.centre")
    if centre and not kind.has_centre:
        fail(f"{where}.centre", f"is {centre}; it must be 0 in the task {kind.name!r}")
    levels = {"levels": _levels(entry["levels"], f"{where}.levels", loss)} if "levels" in entry else {}
    return kind(centre, number(entry["scale"], f"{where}.scale", SMALLEST), **levels)


def _levels(value: Any, where: str, loss: NumberLoss) -> tuple[float, ...]:
    known = list(loss.get_params()["quantiles"])
    found = numbers(value, where, len(known)).tolist()
    if found != known:
        fail(where, f"is {found}, but formulation.quantiles is {known}")
    return tuple(found)


def restore_widening(value: Any, target: NumericTarget, calibrate: str | None) -> Widening | None:
    """By how much intervals are made wider, which a file says if and only if its arguments ask for it."""
    where = "calibration"
    if (value is None) != (calibrate is None):
        fail(where, f"is {shown(value)}, but parameters.calibrate is {shown(calibrate)}")
    if value is None:
        return None
    if not isinstance(target, QuantileTarget):
        fail(where, f"is {shown(value)}; it must be null in the task {target.name!r}")
    shifts = fields(value, where, ("shifts",))["shifts"]
    return Widening(
        tuple(numbers(shifts, inside(where, "shifts"), target.n_intervals, -LARGEST_FIGURE, LARGEST_FIGURE).tolist())
    )


def require_finite_predictions(target: NumericTarget, ensemble: Ensemble, widening: Widening | None = None) -> None:
    """Require that no row can have a prediction, or an end of an interval, beyond the largest number."""
    trees = [tree for tree in ensemble.learners if isinstance(tree, Tree)]
    ends = [np.array([tree.votes.min(axis=0), tree.votes.max(axis=0)]) for tree in trees]
    scores = ensemble.intercept + sum(weight * end for weight, end in zip(ensemble.weights, ends, strict=True))
    wider = 0.0 if widening is None else float(np.abs(widening.shifts).max())
    lowest, highest = np.min(scores) - wider, np.max(scores) + wider
    with np.errstate(over="ignore"):
        predicted = target.decode(np.tile([[lowest], [highest]], target.n_outputs))
    if not np.isfinite(predicted).all():
        fail("trees", f"give scores from {lowest:g} to {highest:g}, for which predictions are not finite")
