"""From a regressor's raw score to its prediction, the loss that leaves are refitted by, and recalibration."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..errors import UnsupportedModelError
from ..formulations.numbers import NumberLoss, PoissonLoss, SquaredLoss
from ..tasks import Counts, Numbers


class NumberLink(ABC):
    """What raw scores are to y."""

    loss: ClassVar[type[NumberLoss]]
    """What leaves are refitted by."""
    task: ClassVar[type[Numbers]]

    @abstractmethod
    def expected(self, raw: Vector) -> Vector:
        """The prediction for each raw score."""

    @abstractmethod
    def inverse(self, predictions: Vector) -> Vector:
        """The raw score of each prediction."""

    @abstractmethod
    def row_losses(self, y: Vector, raw: Vector) -> Vector:
        """The loss of each row."""

    def recalibration(self, scores: Vector, goals: Vector, counts: Vector, size: float) -> tuple[float, float]:
        """The factor and the shift with which the scores are nearest to those of the goals."""
        targets = self.inverse(goals)
        mean, wanted = np.average(scores, weights=counts), np.average(targets, weights=counts)
        centred = scores - mean
        spread = float(counts @ centred**2)
        factor = float((counts * centred) @ (targets - wanted)) / spread if spread > 0 else 1.0
        factor = factor if factor > 0 else 1.0
        return factor, float(wanted - factor * mean)


class Plain(NumberLink):
    """The raw score is the prediction."""

    loss = SquaredLoss
    task = Numbers

    def expected(self, raw: Vector) -> Vector:
        return raw

    def inverse(self, predictions: Vector) -> Vector:
        return predictions

    def row_losses(self, y: Vector, raw: Vector) -> Vector:
        return np.asarray((y - raw) ** 2)


class Logarithm(NumberLink):
    """The raw score is the logarithm of the prediction."""

    loss = PoissonLoss
    task = Counts

    def expected(self, raw: Vector) -> Vector:
        return np.exp(raw)

    def inverse(self, predictions: Vector) -> Vector:
        return np.log(np.maximum(predictions, np.finfo(float).tiny))

    def row_losses(self, y: Vector, raw: Vector) -> Vector:
        return np.asarray(np.exp(raw) - y * raw)


@dataclass(frozen=True)
class Predicts:
    """What a regressor predicts."""

    link: NumberLink
    is_mean: bool
    """Whether it is the mean of y, so that leaves may be fitted to y; those of others imitate the model only."""


MEAN, MEDIAN, LOG_MEAN = Predicts(Plain(), True), Predicts(Plain(), False), Predicts(Logarithm(), True)


def predicts_by(argument: str, value: str, known: Mapping[str, Predicts]) -> Predicts:
    """What a model predicts that was trained with this argument; an error if it cannot be thinned."""
    if value not in known:
        raise UnsupportedModelError(
            f"model with {argument}={value!r} cannot be thinned; with one of these it can: {', '.join(known)}."
        )
    return known[value]
