"""The parts of a model file that depend on the target."""

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
from .checks import SMALLEST, choice, fail, fields, inside, number, numbers, spelled
from .objects import made, plain
from .trees import LARGEST_FIGURE, read_classes

# A model has a score for each class or quantile of several, and else one. Files have lists of them in either case.


def describe_outputs(figures: Any) -> Any:
    return np.ravel(figures).tolist()


def describe_calibration(fitted: FittedModel) -> dict[str, Any] | None:
    """The curve of probabilities over scores; null where these are the softmax of the scores."""
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
    """The target for the classes of a file."""
    classes = read_classes(value, "classes")
    if len(classes) == 2:
        return BinaryTarget(classes)
    if not formulation.optimizes_for_classes:
        fail("classes.values", f"has {len(classes)} entries; it must have 2 under formulation {formulation.name!r}")
    return MulticlassTarget(classes)


def restore_outputs(value: Any, where: str, target: Target, low: float, high: float) -> Any:
    """A number for each output; a model with one output has it as a number."""
    found = numbers(value, where, target.n_outputs, low, high)
    return found if target.n_outputs > 1 else float(found[0])


def restore_calibration(value: Any, target: Target) -> Any:
    """The curve of probabilities over scores."""
    if target.n_outputs == 1:
        return _read_curve(value, "calibration")
    if value is None:
        return target.identity_calibration()
    entry = fields(value, "calibration", ("slope", "intercepts"))
    slope = number(entry["slope"], "calibration.slope", SMALLEST_SLOPE, LARGEST_SLOPE)
    ends = -LARGEST_FIGURE, LARGEST_FIGURE
    return ClassCalibration(slope, numbers(entry["intercepts"], "calibration.intercepts", target.n_outputs, *ends))


def _read_curve(value: Any, where: str) -> MarginCalibration:
    slopes = ("negative_slope", "positive_slope")
    entry = fields(value, where, (*slopes, "intercept", "limit"))
    negative, positive = (number(entry[name], inside(where, name), SMALLEST_SLOPE, LARGEST_SLOPE) for name in slopes)
    limit = entry["limit"]
    return MarginCalibration(
        negative,
        positive,
        number(entry["intercept"], inside(where, "intercept")),
        np.inf if limit is None else number(limit, inside(where, "limit"), SMALLEST),
    )


NAMES = list(dict.fromkeys(kind.name for kind in REGRESSION.values()))
"""The names of targets of regression."""


def describe_numbers(target: NumericTarget) -> dict[str, Any]:
    measured = {field.name: plain(getattr(target, field.name)) for field in dataclass_fields(target)}
    return {"name": target.name} | measured


def describe_widening(widening: Widening | None) -> dict[str, Any] | None:
    """The shifts of intervals that were calibrated; else null."""
    return None if widening is None else {"shifts": describe_outputs(widening.shifts)}


def loss_of_parameters(parameters: dict[str, Any], used: NumberLoss) -> tuple[NumberLoss | str, str]:
    """The loss in the parameters, and its place; levels must be equal to the levels of the loss that was used."""
    loss, levels, known = parameters["loss"], parameters["quantiles"], plain(used.get_params().get("quantiles"))
    if levels is None:
        several = made(make_number_loss, {"loss": loss, "C": None}, "parameters.loss")
        if several.name == used.name and several.link != used.link:
            fail("formulation.quantiles", f"is {known}, but the loss of the parameters is {several!r}")
        return loss, "parameters.loss"
    several = made(make_number_loss, {"loss": loss, "C": None, "quantiles": levels}, "parameters.quantiles")
    if known is not None and known != levels:
        fail("formulation.quantiles", f"is {known}, but parameters.quantiles is {levels}")
    return several, "that of parameters.quantiles"


def restore_numbers(value: Any, where: str, loss: NumberLoss) -> NumericTarget:
    """The target, which must fit the loss."""
    kind = REGRESSION[loss.link]
    entry = fields(value, where, ("name", *(field.name for field in dataclass_fields(kind))))
    name = choice(entry["name"], f"{where}.name", NAMES)
    if name != kind.name:
        fail(f"{where}.name", f"is {name!r}; it must be {kind.name!r} under the loss {loss.name!r}")
    centre = number(entry["centre"], f"{where}.centre")
    if centre and not kind.has_centre:
        fail(f"{where}.centre", f"is {centre}; it must be 0 for the target {kind.name!r}")
    levels = {"levels": _levels(entry["levels"], f"{where}.levels", loss)} if "levels" in entry else {}
    return kind(centre, number(entry["scale"], f"{where}.scale", SMALLEST), **levels)


def _levels(value: Any, where: str, loss: NumberLoss) -> tuple[float, ...]:
    known = list(loss.get_params()["quantiles"])
    found = numbers(value, where, len(known)).tolist()
    if found != known:
        fail(where, f"is {found}, but formulation.quantiles is {known}")
    return tuple(found)


def restore_widening(value: Any, target: NumericTarget, interval_calibration: str | None) -> Widening | None:
    """The shifts of intervals, which a file has if and only if its parameters have ``interval_calibration``."""
    where = "calibration"
    if (value is None) != (interval_calibration is None):
        fail(where, f"is {spelled(value)}, but parameters.interval_calibration is {spelled(interval_calibration)}")
    if value is None:
        return None
    if not isinstance(target, QuantileTarget):
        fail(where, f"is {spelled(value)}; it must be null for the target {target.name!r}")
    shifts = fields(value, where, ("shifts",))["shifts"]
    return Widening(
        tuple(numbers(shifts, inside(where, "shifts"), target.n_intervals, -LARGEST_FIGURE, LARGEST_FIGURE).tolist())
    )


def require_finite_predictions(target: NumericTarget, ensemble: Ensemble, widening: Widening | None = None) -> None:
    """Refuse trees by which a row could have a prediction, or an end of an interval, beyond the largest number."""
    trees = [tree for tree in ensemble.learners if isinstance(tree, Tree)]
    ends = [np.array([tree.votes.min(axis=0), tree.votes.max(axis=0)]) for tree in trees]
    scores = ensemble.intercept + sum(weight * end for weight, end in zip(ensemble.weights, ends, strict=True))
    wider = 0.0 if widening is None else float(np.abs(widening.shifts).max())
    lowest, highest = np.min(scores) - wider, np.max(scores) + wider
    with np.errstate(over="ignore"):
        predicted = target.decode(np.tile([[lowest], [highest]], target.n_outputs))
    if not np.isfinite(predicted).all():
        fail("trees", f"give scores from {lowest:g} to {highest:g}, for which predictions are not finite")
