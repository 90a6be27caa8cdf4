"""What a fit solves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..data.merging import TrainingRows
from ..loop.held_out import HeldOut
from ..loop.leaf_wiring import LeafWiring
from ..loop.wiring import Wiring
from .reading import TrainingSet

Rewire = Callable[[TrainingRows], Wiring | LeafWiring]


@dataclass(frozen=True, eq=False)
class Problem:
    """What the loop solves: its wiring, the rows to train on, and the rows to validate on."""

    training_set: TrainingSet
    rows: TrainingRows
    wiring: Wiring | LeafWiring
    held_out: HeldOut | None
    rewire: Rewire | None = None
    """The same parts for other rows, to be solved loosely; None if nothing is to be fitted but the model itself."""

    @property
    def has_twins(self) -> bool:
        """Whether probabilities are calibrated by ensembles of other rows."""
        return self.held_out is None and self.rewire is not None and not self.wiring.formulation.has_final_scores
