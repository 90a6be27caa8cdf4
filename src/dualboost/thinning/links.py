"""From a model's raw score to its probability, and the factor and shift that recalibrate it after thinning.

Models differ in the factor and shift that can be written into them: the leaves of a boosted model take any, the average
of a forest must stay a probability, and AdaBoost divides by the sum of its weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from .._typing import Vector
from ..tasks.calibration import logistic_fit


class Link(ABC):
    """How raw scores become probabilities of the second class."""

    @abstractmethod
    def expected(self, raw: Vector) -> Vector:
        """P(second class); above one half where the raw score is positive."""

    @abstractmethod
    def recalibration(self, scores: Vector, targets: Vector, counts: Vector, size: float) -> tuple[float, float]:
        """The factor and the shift with which the scores fit the target probabilities best.

        ``size`` is the largest score possible: the sum of the weights and of the absolute intercept.
        """


@dataclass(frozen=True)
class Logit(Link):
    """P = 1/(1 + exp(-slope*raw)): factor and shift are free, and minimise the log loss."""

    slope: float = 1.0

    def expected(self, raw: Vector) -> Vector:
        return expit(self.slope * raw)

    def recalibration(self, scores: Vector, targets: Vector, counts: Vector, size: float) -> tuple[float, float]:
        spread = float(np.abs(scores).max(initial=0.0))
        if spread == 0.0:
            return 1.0, 0.0
        design = np.column_stack([scores / spread, np.ones(len(scores))])
        theta = logistic_fit(design, targets, counts)
        factor = theta[0] / spread
        if not np.isfinite(theta).all() or factor <= 0:
            return 1.0, 0.0
        return float(factor / self.slope), float(theta[1] / self.slope)


@dataclass(frozen=True)
class Average(Link):
    """P = (1 + raw)/2, an average of probabilities: the factor must keep P between 0 and 1."""

    def expected(self, raw: Vector) -> Vector:
        return 0.5 * (1.0 + raw)

    def recalibration(self, scores: Vector, targets: Vector, counts: Vector, size: float) -> tuple[float, float]:
        weighted = counts * scores
        squares = float(weighted @ scores)
        if squares == 0.0 or size == 0.0:
            return 1.0, 0.0
        factor = float(weighted @ (2.0 * targets - 1.0)) / squares
        return float(np.clip(factor, 1e-3 / size, 1.0 / size)), 0.0


@dataclass(frozen=True)
class Normalised(Link):
    """P = 1/(1 + exp(-raw)), with a raw score between -total and total whatever the scale of the weights is."""

    total: float = 1.0

    def expected(self, raw: Vector) -> Vector:
        return expit(raw)

    def recalibration(self, scores: Vector, targets: Vector, counts: Vector, size: float) -> tuple[float, float]:
        return (self.total / size if size > 0 else 1.0), 0.0
