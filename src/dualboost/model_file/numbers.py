"""The parts of a file that only regressors have: what makes predictions of scores."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from ..formulations import NumberLoss
from ..formulations.number_losses import make_number_loss
from ..models.ensemble import Ensemble
from ..tasks import REGRESSION, Numbers, QuantileNumbers
from ..tasks.quantiles import Widening
from ..trees.tree import Tree
from .checks import SMALLEST, choice, fail, fields, inside, number, numbers, shown
from .objects import made
from .outputs import describe_outputs
from .trees import LARGEST_FIGURE

NAMES = list(dict.fromkeys(kind.name for kind in REGRESSION.values()))
"""The names that files have for tasks: how the unit of y was measured is no part of them."""


def describe_numbers(task: Numbers) -> dict[str, Any]:
    measured = {field.name: describe_outputs(getattr(task, field.name)) for field in dataclass_fields(task)}
    return {"name": task.name} | measured


def describe_widening(widening: Widening | None) -> dict[str, Any] | None:
    """By how much intervals are made wider; null where they are not."""
    return None if widening is None else {"shifts": describe_outputs(widening.shifts)}


def asked_loss(parameters: dict[str, Any], used: NumberLoss) -> tuple[NumberLoss | str, str]:
    """The loss that the arguments ask for, and where they do; levels among them must be those of the loss used."""
    loss, levels = parameters["loss"], parameters.get("quantiles")
    if levels is None:
        return loss, "parameters.loss"
    asked = made(make_number_loss, {"loss": loss, "C": None, "quantiles": levels}, "parameters.quantiles")
    known = used.get_params().get("quantiles")
    if known is not None and list(known) != levels:
        fail("formulation.quantiles", f"is {list(known)}, but parameters.quantiles is {levels}")
    return asked, "that of parameters.quantiles"


def restore_numbers(value: Any, where: str, loss: NumberLoss) -> Numbers:
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


def restore_widening(value: Any, task: Numbers, calibrate: str | None) -> Widening | None:
    """By how much intervals are made wider, which a file says if and only if its arguments ask for it."""
    where = "calibration"
    if (value is None) != (calibrate is None):
        fail(where, f"is {shown(value)}, but parameters.calibrate is {shown(calibrate)}")
    if value is None:
        return None
    if not isinstance(task, QuantileNumbers):
        fail(where, f"is {shown(value)}; it must be null in the task {task.name!r}")
    shifts = fields(value, where, ("shifts",))["shifts"]
    return Widening(
        tuple(numbers(shifts, inside(where, "shifts"), task.n_intervals, -LARGEST_FIGURE, LARGEST_FIGURE).tolist())
    )


def require_finite_predictions(task: Numbers, ensemble: Ensemble, widening: Widening | None = None) -> None:
    """Require that no row can have a prediction, or an end of an interval, beyond the largest number."""
    trees = [tree for tree in ensemble.learners if isinstance(tree, Tree)]
    ends = [np.array([tree.votes.min(axis=0), tree.votes.max(axis=0)]) for tree in trees]
    scores = ensemble.intercept + sum(weight * end for weight, end in zip(ensemble.weights, ends, strict=True))
    wider = 0.0 if widening is None else float(np.abs(widening.shifts).max())
    lowest, highest = np.min(scores) - wider, np.max(scores) + wider
    with np.errstate(over="ignore"):
        predicted = task.decode(np.tile([[lowest], [highest]], task.n_outputs))
    if not np.isfinite(predicted).all():
        fail("trees", f"give scores from {lowest:g} to {highest:g}, for which predictions are not finite")
