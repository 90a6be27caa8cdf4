"""The seam between the loop and the base learners."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .._typing import Features, Vector


class Learner(Protocol):
    """A fitted base classifier: it must be picklable and need nothing of the pricer that made it."""

    def vote(self, X: Features) -> Vector:
        """Votes in [-1, 1], one a row; positive for the second class."""

    def feature_gains(self, n_features: int) -> Vector:
        """Each feature's share in the learner, summing to one (or all zero)."""


class PricedColumn(NamedTuple):
    """A learner with its votes on the training rows."""

    learner: Learner
    votes: Vector


class Pricer(Protocol):
    """Looks for a column with a large edge under given sample weights."""

    is_exact: bool
    """Whether no learner of its class has a larger edge than the one returned."""

    def price(self, u: Vector) -> PricedColumn:
        """A column for the sample weights u; a negative u_i counts for the opposite label."""
