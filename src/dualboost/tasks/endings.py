"""What is made of the scores of a row, as data: enough to write it down in another language.

Each kind of ending asks its writer for one thing, so that a language that can be written has an answer to each kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from .._typing import Vector

if TYPE_CHECKING:  # both know of tasks, which know of endings
    from .calibration import MarginCalibration
    from .class_calibration import ClassCalibration

Written = TypeVar("Written")


class EndingWriter(ABC, Generic[Written]):
    """One language: how it writes each kind of ending."""

    @abstractmethod
    def two_classes(self, ending: TwoClassEnding) -> Written: ...

    @abstractmethod
    def several_classes(self, ending: SeveralClassEnding) -> Written: ...

    @abstractmethod
    def numbers(self, ending: NumberEnding) -> Written: ...

    @abstractmethod
    def quantiles(self, ending: QuantileEnding) -> Written: ...


class Ending(ABC):
    """What is made of the scores of a row."""

    @abstractmethod
    def written_by(self, writer: EndingWriter[Written]) -> Written:
        """What the writer makes of this kind of ending."""


@dataclass(frozen=True, eq=False)
class TwoClassEnding(Ending):
    """The second class if the score is positive; its probability is a curve of the score."""

    classes: Sequence[Any]
    calibration: MarginCalibration
    is_normalised: bool
    """Whether scores are limited to [-1, 1], and zero where they differ from zero by rounding only."""

    def written_by(self, writer: EndingWriter[Written]) -> Written:
        return writer.two_classes(self)

    @property
    def has_log_odds(self) -> bool:
        """Whether scores are log-odds already."""
        return not self.is_normalised and self.calibration.is_identity


@dataclass(frozen=True, eq=False)
class SeveralClassEnding(Ending):
    """The class with the largest score, of equal ones the first; probabilities are a softmax."""

    classes: Sequence[Any]
    calibration: ClassCalibration
    is_normalised: bool
    """Whether scores are rounded, and limited to [-1, 1]."""

    def written_by(self, writer: EndingWriter[Written]) -> Written:
        return writer.several_classes(self)

    @property
    def lifts(self) -> bool:
        """Whether the class predicted may have to be made the most probable one."""
        return bool(np.ptp(self.calibration.intercepts) > 0)


@dataclass(frozen=True, eq=False)
class NumberEnding(Ending):
    """The score itself, in the units of y; or its exponential."""

    is_logarithm: bool

    def written_by(self, writer: EndingWriter[Written]) -> Written:
        return writer.numbers(self)


@dataclass(frozen=True, eq=False)
class QuantileEnding(Ending):
    """The scores in increasing order, in the units of y; a prediction is a weighted sum of these."""

    levels: Sequence[float]
    shares: Vector
    """The share of each level in the prediction."""
    widening: float
    """By how much the ends of the outermost interval are moved apart; crossed ends then meet in their middle."""
    outwards: float
    """By how much they are moved apart after that."""

    def written_by(self, writer: EndingWriter[Written]) -> Written:
        return writer.quantiles(self)
