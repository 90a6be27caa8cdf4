"""Side rows: rows of A beside those of the data, each a further linear function of the weights with its own dual.

A formulation whose objective depends on more than the margins names its side rows (``Formulation.side_rows``) and gives
each a box and a linear term (``Formulation.with_sides``). Masters and certificates treat them like other rows. Only
pricing treats them differently. If a side row depends on the votes of a column, its dual changes the duals of the data
rows that the pricer sees. If it depends on the learner, its dual becomes a factor for edges on some features, the
*favour*. The duals of the side rows are called theta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from .._typing import Integers, Vector
from ..trees.learner import Learner

LEAST_HURDLE = 0.1
"""The favour of a feature is at most the inverse of this."""


class SideRows(Protocol):
    """The side rows of one formulation."""

    read_splits: ClassVar[bool]
    """Whether entries depend on the splits of a learner, and not only on its votes."""

    @property
    def n(self) -> int: ...

    def entries(self, of_data: Vector, learner: Learner | None) -> Vector:
        """The entries of a column in the side rows, given its entries in the data rows and its learner."""

    def duals_seen(self, u: Vector, theta: Vector) -> Vector:
        """The duals that the pricer sees: u, plus what theta adds for side rows that depend on the votes."""

    def learner_part(self, theta: Vector, learner: Learner) -> float:
        """The part of an edge that comes from side rows that depend on the learner."""

    def favour(self, theta: Vector) -> Vector | None:
        """For each feature the factor by which edges of learners on it count; None if all factors are one."""


@dataclass(frozen=True)
class NoSideRows:
    """No side rows."""

    read_splits: ClassVar[bool] = False
    n: int = 0

    def entries(self, of_data: Vector, learner: Learner | None) -> Vector:
        return np.zeros(0)

    def duals_seen(self, u: Vector, theta: Vector) -> Vector:
        return u

    def learner_part(self, theta: Vector, learner: Learner) -> float:
        return 0.0

    def favour(self, theta: Vector) -> None:
        return None


@dataclass(frozen=True, eq=False)
class MeanMargin:
    """One side row: the mean of a column over the data rows, with ``shares`` that add up to one."""

    read_splits: ClassVar[bool] = False
    shares: Vector
    n: int = 1

    def entries(self, of_data: Vector, learner: Learner | None) -> Vector:
        return np.array([self.shares @ of_data])

    def duals_seen(self, u: Vector, theta: Vector) -> Vector:
        return u + theta[0] * self.shares

    def learner_part(self, theta: Vector, learner: Learner) -> float:
        return 0.0

    def favour(self, theta: Vector) -> None:
        return None


@dataclass(frozen=True, eq=False)
class FeatureDifferences:
    """One side row for each pair of features: the share of feature ``first`` in a learner minus that of ``second``.

    A learner on feature f improves when its edge exceeds ``cost`` minus what theta adds for f, so pricers compare edges
    divided by that difference.
    """

    read_splits: ClassVar[bool] = True
    first: Integers
    second: Integers
    n_features: int
    cost: float

    @property
    def n(self) -> int:
        return len(self.first)

    def entries(self, of_data: Vector, learner: Learner | None) -> Vector:
        assert learner is not None
        shares = learner.feature_gains(self.n_features)
        return shares[self.first] - shares[self.second]

    def duals_seen(self, u: Vector, theta: Vector) -> Vector:
        return u

    def learner_part(self, theta: Vector, learner: Learner) -> float:
        return float(self.granted(theta) @ learner.feature_gains(self.n_features))

    def favour(self, theta: Vector) -> Vector:
        return self.cost / np.maximum(self.cost - self.granted(theta), LEAST_HURDLE * self.cost)

    def granted(self, theta: Vector) -> Vector:
        """For each feature, what theta adds to the edge of a learner that uses only this feature."""
        gained, lost = (
            np.bincount(ends, weights=theta, minlength=self.n_features) for ends in (self.first, self.second)
        )
        return (gained - lost).astype(float)
