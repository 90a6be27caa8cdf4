"""The tasks, which say what y means, and the registry that a new task joins by one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from .._typing import Vector
from ..errors import UnsupportedModelError
from ..workers import ALONE, Communicator
from .base import Operator as Operator
from .base import Task as Task
from .base import TaskReader as TaskReader
from .classes import ManyClasses as ManyClasses
from .classes import TwoClasses as TwoClasses
from .numbers import CountTarget as CountTarget
from .numbers import EpsilonInsensitiveTarget as EpsilonInsensitiveTarget
from .numbers import NumericTarget as NumericTarget
from .numbers import RobustTarget as RobustTarget
from .quantiles import QuantileNumbers as QuantileNumbers

CLASSIFICATION: list[type[Task]] = [ManyClasses, TwoClasses]
"""The tasks of a classifier: the first task that takes y reads it; if no task does, the last one raises the error."""
REGRESSION: dict[str, type[NumericTarget]] = {
    "identity": NumericTarget,
    "robust": RobustTarget,
    "log": CountTarget,
    "tube": EpsilonInsensitiveTarget,
    "quantiles": QuantileNumbers,
}
"""The tasks of a regressor, by the link of its loss."""


def require_task(task: Task, known: Sequence[type[Task]], what: str) -> None:
    """An error for a model of another task than those that can be saved, thinned and so on: ``what`` it cannot be."""
    if type(task) not in known:
        raise UnsupportedModelError(f"A model of the task {task.name!r} cannot be {what}.")


def read_target(
    y: NDArray[Any], tasks: Sequence[TaskReader], weights: Vector | None = None, workers: Communicator = ALONE
) -> tuple[Task, Vector]:
    """The task for this y, and the target of each row as a number; ``weights`` are the multiplicities of the rows.

    Where each worker has a part of y, the task is that of the whole of it.
    """
    seen = tasks[0].seen_by_all(y, workers)
    chosen = next((task for task in tasks if task.takes(seen)), tasks[-1])
    return chosen.read(y, weights) if workers.size == 1 else chosen.read_part(y, weights, seen, workers)
