"""The targets of classifiers and regressors, and their registry."""

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
"""The targets of a classifier: the first one that takes y reads it; if none does, the last one raises the error."""
REGRESSION: dict[str, type[NumericTarget]] = {
    "identity": NumericTarget,
    "robust": RobustTarget,
    "log": CountTarget,
    "tube": EpsilonInsensitiveTarget,
    "quantiles": QuantileTarget,
}
"""The targets of a regressor, by the link of its loss."""


def require_task(target: Target, known: Sequence[type[Target]], what: str) -> None:
    """Refuse a model whose target is not among ``known``; the error contains ``what``."""
    if type(target) not in known:
        raise UnsupportedModelError(f"A model with the target {target.name!r} cannot be {what}.")


def read_target(
    y: NDArray[Any], readers: Sequence[TargetReader], weights: Vector | None = None, workers: Communicator = ALONE
) -> tuple[Target, Vector]:
    """The target for this y, of all workers, and the number of each row; ``weights`` are the multiplicities."""
    seen = readers[0].seen_by_all(y, workers)
    reader = next((one for one in readers if one.takes(seen)), readers[-1])
    return reader.read(y, weights) if workers.size == 1 else reader.read_part(y, weights, seen, workers)
