"""The seam between the loop and the base learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from .._typing import Features, Vector


class Learner(Protocol):
    """A fitted base classifier: it must be picklable and need nothing of the pricer that made it."""

    def vote(self, X: Features) -> Vector:
        """Votes in [-1, 1], one a row; positive for the second class."""

    def feature_gains(self, n_features: int) -> Vector:
        """Each feature's share in the learner, summing to one (or all zero)."""


@dataclass(frozen=True)
class LearnerOptions:
    """What the estimator's arguments say about its learners; a pricer takes what it needs."""

    max_depth: int = 1
    voting: str = "hard"
    criterion: str = "gini"
    n_thresholds: int | None = None
    tree_time_limit: float = 10.0
    n_jobs: int = 1
    seed: int = 0
    leave_out_zeros: bool = False
    """Whether learners are grown without the rows of sample weight zero, where those are many and seldom change."""


class TrainingData(NamedTuple):
    """The rows that a pricer grows its learners on."""

    X: Features
    labels: Vector
    categorical: list[int]
    """The features that hold codes of categories."""


class PricedColumn(NamedTuple):
    """A learner with its votes on the training rows."""

    learner: Learner
    votes: Vector
    is_proven: bool = False
    """Whether no learner of the pricer's class has a larger edge."""


class Pricer(Protocol):
    """Looks for a column with a large edge under given sample weights."""

    is_exact: bool
    """Whether its columns can be proven to have the largest edge of its class."""
    n_learners: float
    """At most so many learners of its class vote differently; infinity where that is not known."""

    def price(self, u: Vector, favour: Vector | None = None) -> PricedColumn:
        """A column for the sample weights u; a negative u_i counts for the opposite label.

        ``favour``, if given, is a factor for the edges of splits on each feature, which a pricer may heed; then nothing
        is proven.
        """
