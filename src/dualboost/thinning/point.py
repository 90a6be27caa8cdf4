"""An ensemble of some of a model's members, with its scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Integers, Vector
from ..masters import MasterSolution


@dataclass(frozen=True, eq=False)
class Point:
    """An ensemble of some members, with the weights, or the values of all leaves, of the programme at C."""

    C: float
    """Not a number where nothing was optimised: the first members, recalibrated."""
    members: Integers
    weights: Vector
    intercept: Any
    train_score: float
    validation_score: float
    solution: MasterSolution | None = None
    leaves: tuple[Any, ...] | None = None
    """The new leaves of the members, in place of weights; the scores are then log-odds."""
    way: str = "weights"

    @property
    def score(self) -> float:
        """The score that ensembles are compared by: on the validation rows, or else on the training rows."""
        return self.train_score if np.isnan(self.validation_score) else self.validation_score

    @property
    def size(self) -> int:
        return len(self.members)

    @property
    def gap(self) -> float:
        """The relative duality gap; not a number where nothing was optimised."""
        return np.nan if self.solution is None else self.solution.gap
