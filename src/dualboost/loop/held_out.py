"""Held-out rows that the loop scores the ensemble on as it grows."""

from __future__ import annotations

import numpy as np

from .._typing import Features, Vector
from ..algebra.rows import Rows
from ..tasks.scoring import Scoring
from ..trees.learner import Learner


class HeldOut:
    """The votes of every learner so far on the held-out rows."""

    def __init__(self, X: Features, targets: Vector, counts: Vector, scoring: Scoring | None = None) -> None:
        self.X = X
        self.targets = targets
        self.rows = Rows(counts)
        self.scoring = scoring or Scoring()
        self._votes: list[Vector] = []

    @property
    def counts(self) -> Vector:
        return self.rows.counts

    def add(self, learner: Learner) -> None:
        self._votes.append(learner.vote(self.X))

    def scores(self, w: Vector) -> Vector:
        """The unnormalised score of each row; w may be shorter than the learners seen."""
        return np.tensordot(w, np.array(self._votes[: len(w)]), axes=1)
