"""The parts of a file that only regressors have: what makes predictions of scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formulations import NumberLoss
from ..models.ensemble import Ensemble
from ..tasks import REGRESSION, Numbers
from ..trees.tree import Tree
from .checks import SMALLEST, choice, fail, fields, number

KINDS = {kind.name: kind for kind in REGRESSION.values()}
"""The tasks by the names that files have for them."""


def describe_numbers(task: Numbers) -> dict[str, Any]:
    return {"name": task.name, "centre": float(task.centre), "scale": float(task.scale)}


def restore_numbers(value: Any, where: str, loss: NumberLoss) -> Numbers:
    """The task, which must be that of the loss."""
    entry = fields(value, where, ("name", "centre", "scale"))
    kind = KINDS[choice(entry["name"], f"{where}.name", KINDS)]
    expected = REGRESSION[loss.link]
    if kind is not expected:
        fail(f"{where}.name", f"is {kind.name!r}; it must be {expected.name!r} under the loss {loss.name!r}")
    centre = number(entry["centre"], f"{where}.centre")
    if centre and not kind.has_centre:
        fail(f"{where}.centre", f"is {centre}; it must be 0 in the task {kind.name!r}")
    return kind(centre, number(entry["scale"], f"{where}.scale", SMALLEST))


def require_finite_predictions(task: Numbers, ensemble: Ensemble) -> None:
    """Require that no row can have a prediction beyond the largest number."""
    trees = [tree for tree in ensemble.learners if isinstance(tree, Tree)]
    ends = [np.array([tree.votes.min(), tree.votes.max()]) for tree in trees]
    scores = ensemble.intercept + sum(
        (weight * end for weight, end in zip(ensemble.weights, ends, strict=True)), np.zeros(2)
    )
    with np.errstate(over="ignore"):
        is_finite = np.isfinite(task.decode(scores)).all()
    if not is_finite:
        fail("trees", f"give scores from {scores[0]:g} to {scores[1]:g}, for which predictions are not finite")
