"""The tasks, which say what y means, and the registry that a new task joins by one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from .._typing import Vector
from ..errors import UnsupportedModelError
from .base import Operator as Operator
from .base import Task as Task
from .binary import TwoClasses as TwoClasses
from .multiclass import ManyClasses as ManyClasses
from .numbers import Counts as Counts
from .numbers import Numbers as Numbers
from .numbers import TubeNumbers as TubeNumbers

CLASSIFICATION: list[type[Task]] = [ManyClasses, TwoClasses]
"""The tasks of a classifier: the first task that takes y reads it; if no task does, the last one raises the error."""
REGRESSION: dict[str, type[Numbers]] = {"identity": Numbers, "log": Counts, "tube": TubeNumbers}
"""The tasks of a regressor, by the link of its loss."""


def require_task(task: Task, known: Sequence[type[Task]], what: str) -> None:
    """An error for a model of another task than those that can be saved, thinned and so on: ``what`` it cannot be."""
    if type(task) not in known:
        raise UnsupportedModelError(f"A model of the task {task.name!r} cannot be {what}.")


def read_target(y: NDArray[Any], tasks: Sequence[type[Task]]) -> tuple[Task, Vector]:
    """The task for this y, and the target of each row as a number."""
    chosen = next((task for task in tasks if task.takes(y)), tasks[-1])
    return chosen.read(y)
