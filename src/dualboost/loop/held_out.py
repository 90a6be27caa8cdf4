"""Held-out rows that the loop scores the ensemble on as it grows."""

from __future__ import annotations

import numpy as np

from .._typing import Features, Vector
from ..algebra.rows import Rows
from ..data.merging import n_observed
from ..data.multiplicities import numbers_of_rows
from ..tasks.scoring import Scoring
from ..trees.learner import Learner


class HeldOut:
    """The votes of every learner so far on the held-out rows."""

    def __init__(
        self,
        X: Features,
        targets: Vector,
        counts: Vector,
        scoring: Scoring | None = None,
        numbers: Vector | None = None,
    ) -> None:
        """``numbers`` says how many rows each row stands for; it is found from ``counts`` if these are all there is."""
        self.X = X
        self.targets = targets
        n_rows = numbers_of_rows(counts).sum() if numbers is None else n_observed(X, targets, numbers)
        self.rows = Rows(counts, rows_each=float(n_rows) / max(len(counts), 1))
        self.scoring = scoring or Scoring()
        self._votes: list[Vector] = []

    @property
    def counts(self) -> Vector:
        return self.rows.counts

    def counts_in_rows(self) -> Vector:
        """The multiplicities as numbers of rows, whatever their unit."""
        return self.counts * self.rows.rows_in_unit

    def add(self, learner: Learner) -> None:
        self._votes.append(learner.vote(self.X))

    def scores(self, w: Vector) -> Vector:
        """The unnormalised score of each row; w may be shorter than the learners seen."""
        return np.tensordot(w, np.array(self._votes[: len(w)]), axes=1)
