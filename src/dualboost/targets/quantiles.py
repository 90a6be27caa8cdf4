"""Several quantiles of targets that are numbers: a row has a score for each level.

Scores of a row are sorted before they are used: the solver keeps their order on the training rows only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..formulations.quantiles import QuantileLoss
from ..matrix.rows import Rows
from ..workers import Communicator
from .base import QuantileTransform, Target
from .numbers import NumericTarget, RobustTarget

MIDDLE = 0.5
OUTWARDS = 1e-6
"""Intervals are rounded outwards by this share of the scale of y. An end that equals the y of many rows, as with
counts, is only as precise as the solver, and must not miss all of these rows by a billionth."""


@dataclass(frozen=True, eq=False)
class QuantileTarget(RobustTarget):
    """Regression by quantiles; a prediction is the median, interpolated between the levels around one half."""

    levels: tuple[float, ...]

    name: ClassVar[str] = "quantiles"

    @classmethod
    def of_loss(cls, loss: Any) -> QuantileReader:
        assert isinstance(loss, QuantileLoss)
        return QuantileReader(loss.levels)

    @property
    def n_outputs(self) -> int:
        return len(self.levels)

    @property
    def output_names(self) -> list[str]:
        return [f"q{level!r}" for level in self.levels]

    @cached_property
    def _shares(self) -> Vector:
        return np.array([np.interp(MIDDLE, self.levels, row) for row in np.eye(len(self.levels))])

    def baseline(self, targets: Vector, rows: Rows) -> Vector:
        return np.zeros(self.n_outputs)

    def quantiles(self, scores: Matrix) -> Matrix:
        """The quantiles of each row in the units of y, never crossing."""
        return np.asarray(self.centre + self.scale * np.sort(scores, axis=1))

    def interval(self, scores: Matrix, pair: int, widening: Widening | None) -> Matrix:
        """The lower and the upper end for each row; pairs of levels are counted from outside."""
        ends = np.sort(scores, axis=1)[:, [pair, self.n_outputs - 1 - pair]]
        if widening is not None:
            ends = moved_apart(ends, widening.shifts[pair])
        return np.asarray(self.centre + self.scale * moved_apart(ends, OUTWARDS))

    def coverage(self, pair: int) -> float:
        """The nominal coverage of the interval of a pair of levels."""
        return self.levels[-1 - pair] - self.levels[pair]

    @property
    def n_intervals(self) -> int:
        return self.n_outputs // 2

    def standard_predictions(self, scores: Matrix) -> Vector:
        return np.asarray(np.sort(scores, axis=1) @ self._shares)

    def output_transform(self, calibration: Widening | None, is_normalised: bool) -> QuantileTransform:
        shift = 0.0 if calibration is None else calibration.shifts[0]
        return QuantileTransform(self.levels, self._shares, self.scale * shift, self.scale * OUTWARDS)

    def margins(self, scores: Matrix, targets: Vector) -> Vector:
        return super().margins(self.standard_predictions(scores), targets)


@dataclass(frozen=True)
class QuantileReader:
    """Makes a ``QuantileTarget`` with these levels from y."""

    levels: tuple[float, ...]

    plain = staticmethod(QuantileTarget.plain)
    takes = staticmethod(QuantileTarget.takes)
    seen_by_all = staticmethod(QuantileTarget.seen_by_all)

    def read(self, y: NDArray[Any], weights: Vector | None = None) -> tuple[QuantileTarget, Vector]:
        return self._with_levels(*RobustTarget.read(y, weights))

    def read_part(
        self, y: NDArray[Any], weights: Vector | None, seen: NDArray[Any], workers: Communicator
    ) -> tuple[Target, Vector]:
        return self._with_levels(*RobustTarget.read_part(y, weights, seen, workers))

    def _with_levels(self, target: NumericTarget, targets: Vector) -> tuple[QuantileTarget, Vector]:
        return QuantileTarget(target.centre, target.scale, self.levels), targets


@dataclass(frozen=True)
class Widening:
    """The shift of both ends of the intervals, in scores: a number for each pair of levels, from outside."""

    shifts: tuple[float, ...]


def moved_apart(ends: Matrix, shift: float) -> Matrix:
    """The ends of intervals, each moved outwards; ends that a negative shift makes cross meet in their middle."""
    moved = ends + shift * np.array([-1.0, 1.0])
    return np.where(moved[:, :1] <= moved[:, 1:], moved, moved.mean(axis=1, keepdims=True))
