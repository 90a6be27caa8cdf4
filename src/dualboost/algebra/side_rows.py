"""Rows of A beside those of the data: further linear functionals of a column, each with a dual variable of its own.

A formulation that asks something of the ensemble beyond its margins names them (``Formulation.side_rows``), and gives
each a box and a linear term (``Formulation.with_sides``). Masters and certificates do not tell them from other rows.
Only pricing does: theta, the duals of the side rows, reaches a pricer as duals of the data rows if the functional is
one of the votes, and as a favour for some features if it is one of the learner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._typing import Integers, Vector
from ..trees.learner import Learner

LEAST_HURDLE = 0.1
"""An edge counts at most for the inverse of this, however much its feature's neighbours ask for it."""


class SideRows(Protocol):
    """The functionals of a column that stand below the data rows."""

    @property
    def n(self) -> int: ...

    def entries(self, of_data: Vector, learner: Learner | None) -> Vector:
        """The side rows' entries of a column, given those of its data rows and its learner."""

    def duals_seen(self, u: Vector, theta: Vector) -> Vector:
        """The duals that the pricer sees: u, and what theta adds to the votes."""

    def learner_part(self, theta: Vector, learner: Learner) -> float:
        """The part of an edge that votes under these sample weights do not show."""

    def favour(self, theta: Vector) -> Vector | None:
        """A factor for the edges of learners on each feature; None if all features are alike."""


@dataclass(frozen=True)
class NoSideRows:
    """The data rows are all there is."""

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
    """One row: the mean of a column over the data rows, which have these shares of one."""

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
    """One row a pair of features: the share of the first in a learner, less that of the second.

    An edge on feature f improves when it exceeds ``cost`` less what theta grants f: edges are compared as parts of it.
    """

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
        """What theta adds to the edge of a learner on one feature, for each feature."""
        gained, lost = (
            np.bincount(ends, weights=theta, minlength=self.n_features) for ends in (self.first, self.second)
        )
        return (gained - lost).astype(float)
