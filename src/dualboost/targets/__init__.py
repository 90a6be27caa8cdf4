"""Targets: the tasks of classifiers and regressors, and their registry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from .._typing import Vector
from ..errors import UnsupportedModelError
from ..workers import ALONE, Communicator
from .base import Operator as Operator
from .base import Target as Target
from .base import TargetReader as TargetReader
from .classes import BinaryTarget as BinaryTarget
from .classes import MulticlassTarget as MulticlassTarget
from .numbers import CountTarget as CountTarget
from .numbers import EpsilonInsensitiveTarget as EpsilonInsensitiveTarget
from .numbers import NumericTarget as NumericTarget
from .numbers import RobustTarget as RobustTarget
from .quantiles import QuantileTarget as QuantileTarget

CLASSIFICATION: list[type[Target]] = [MulticlassTarget, BinaryTarget]
"""The tasks of a classifier: the first one that takes y reads it; if none does, the last one raises the error."""
REGRESSION: dict[str, type[NumericTarget]] = {
    "identity": NumericTarget,
    "robust": RobustTarget,
    "log": CountTarget,
    "tube": EpsilonInsensitiveTarget,
    "quantiles": QuantileTarget,
}
"""The tasks of a regressor, by the link of its loss."""


def require_task(target: Target, known: Sequence[type[Target]], what: str) -> None:
    """Refuse a model of a task that is not among ``known``; the error states ``what`` it cannot be."""
    if type(target) not in known:
        raise UnsupportedModelError(f"A model of the task {target.name!r} cannot be {what}.")


def read_target(
    y: NDArray[Any], tasks: Sequence[TargetReader], weights: Vector | None = None, workers: Communicator = ALONE
) -> tuple[Target, Vector]:
    """The target for this y, of all workers, and the number of each row; ``weights`` are the multiplicities."""
    seen = tasks[0].seen_by_all(y, workers)
    task = next((one for one in tasks if one.takes(seen)), tasks[-1])
    return task.read(y, weights) if workers.size == 1 else task.read_part(y, weights, seen, workers)
