"""The interface of base learners, whether they are trees or not."""

from __future__ import annotations

from typing import Protocol

from .._typing import Features, Vector


class Learner(Protocol):
    """A fitted base learner; it must be picklable, and must not depend on the pricer that made it."""

    def vote(self, X: Features) -> Vector:
        """One vote in [-1, 1] for each row; a positive vote is for the second class."""

    def feature_gains(self, n_features: int) -> Vector:
        """Each feature's share in the learner, summing to one (or all zero)."""
