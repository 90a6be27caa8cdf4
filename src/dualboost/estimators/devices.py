"""What can be fitted on a GPU."""

from __future__ import annotations

from typing import Any

from ..algebra.device_rows import on_device
from ..algebra.devices import DEVICES, Device, device_named
from ..algebra.rows import Rows
from ..arguments import require_choice
from ..errors import InvalidParameterError, UnsupportedFormulationError
from ..pricing import as_learners
from ..tasks import Task


def require_device(estimator: Any) -> None:
    """Refuse an unknown device, and learners that grow their trees in memory; whether it is there, ``fit`` asks."""
    if require_choice("device", estimator.device, DEVICES) == "cpu":
        return
    for member in as_learners(estimator.learner):
        if not getattr(member, "grows_on_devices", False):
            raise InvalidParameterError(
                f"learner={estimator.learner!r} grows trees in memory; with device={estimator.device!r} use 'xgboost'."
            )


def find_device(estimator: Any) -> Device:
    """The device that the estimator asks for; raises an error of ours where it is not to be had."""
    return device_named(estimator.device)


def rows_for(estimator: Any, task: Task, rows: Rows) -> Rows:
    """The rows, with their vectors where the estimator asks for them."""
    device = find_device(estimator)
    if not device.is_memory and task.n_outputs > 1:
        raise UnsupportedFormulationError(
            f"device={estimator.device!r} is for one score a row, and {task.n_outputs} classes or quantiles are asked "
            "for: use device='cpu'."
        )
    return on_device(rows, device)
