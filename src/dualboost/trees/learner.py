"""What the loop asks of a base learner, be it a tree or not."""

from __future__ import annotations

from typing import Protocol

from .._typing import Features, Vector


class Learner(Protocol):
    """A fitted base learner: it must be picklable and need nothing of the pricer that made it."""

    def vote(self, X: Features) -> Vector:
        """Votes in [-1, 1], one a row; positive for the second class."""

    def feature_gains(self, n_features: int) -> Vector:
        """Each feature's share in the learner, summing to one (or all zero)."""
