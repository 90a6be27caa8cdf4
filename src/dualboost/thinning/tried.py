"""What is known of an ensemble that was tried, and which of several is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from .base import Adapter
from .point import Point

ROUNDING = 1e-9
"""Two scores that differ by at most this count as equal."""


class Judged(Protocol):
    """Anything of a size that has a score."""

    @property
    def size(self) -> int: ...

    @property
    def score(self) -> float: ...


AnyJudged = TypeVar("AnyJudged", bound=Judged)


@dataclass(frozen=True)
class Tried:
    """A row of the path."""

    way: str
    """How it was made: "refit", "imitate", "truncate" or "weights"."""
    C: float
    size: int
    """How many members it has."""
    trees: int
    nodes: int
    train_score: float
    validation_score: float

    @classmethod
    def of(cls, point: Point, adapter: Adapter) -> Tried:
        trees, nodes = point.size * adapter.trees_per_member, int(adapter.n_nodes[point.members].sum())
        return cls(point.way, point.C, point.size, trees, nodes, point.train_score, point.validation_score)

    @property
    def score(self) -> float:
        """The score that ensembles are compared by: on the validation rows, or else on the training rows."""
        return self.train_score if np.isnan(self.validation_score) else self.validation_score


class Chosen(NamedTuple):
    """The ensembles that were compared, the ensemble taken, and the ensemble returned."""

    path: list[Tried]
    taken: int | None
    """The row of the path that was taken; None if none of them is good enough."""
    final: Point | None
    """The ensemble returned: that taken, fitted to all rows."""
    full_score: float
    """The score of the whole model on the rows that ensembles were compared on."""
    judged_on: str
    """Which rows these were, in words."""


def take(points: Sequence[AnyJudged], enough: float) -> AnyJudged | None:
    """The smallest ensemble with a score of at least ``enough``; if that is infinite, the one with the best score."""
    if np.isinf(enough):
        return min(points, key=lambda point: (-point.score, point.size), default=None)
    good = [point for point in points if point.score >= enough - ROUNDING]
    return min(good, key=lambda point: (point.size, -point.score), default=None)
