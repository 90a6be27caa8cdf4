"""LexiBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from .base import Formulation
from .programme import Programme
from .terms import LinearTerm
from .two_stages import KINK, TwoStageProgramme
from .weight_sets import Simplex


@dataclass(frozen=True)
class LexiBoost(Formulation):
    """LexiBoost.

    Primal, Dual Pricing: C: Default: Paper's range: Paper:
    """

    name: ClassVar[str] = "lexi"
    title: ClassVar[str] = "LexiBoost"
    optimises: ClassVar[str] = "the larger excess of the classes' hinge losses over the least that each has alone"
    meaning_of_C: ClassVar[str] = "the sum of the weights, above 0 (default 5)"
    use: ClassVar[str] = "A rare class that matters as much as the other one; no costs to tune."
    objective_sign: ClassVar[int] = 1
    depends_on_columns: ClassVar[bool] = True

    def programme(self, counts: Vector, n_columns: int) -> Programme:
        """The programme of a single class."""
        lower = np.zeros_like(counts)
        return Programme(lower, counts / counts.sum(), LinearTerm(KINK, lower), Simplex(self.strength), size=KINK)

    def programme_of(self, labels: Vector, counts: Vector, n_columns: int) -> Programme:
        if labels.min() == labels.max():
            return self.programme(counts, n_columns)
        return TwoStageProgramme.of(labels, counts, Simplex(self.strength))

    def first_prices(self, labels: Vector, counts: Vector) -> Vector:
        positive = labels > 0
        return counts / np.where(positive, counts[positive].sum(), counts[~positive].sum())

    def default_C(self, n_samples: float) -> float:
        return 5.0

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(1.5, 50.0, k)
