"""Learners with weights: how they vote together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ._typing import Features, Matrix, Vector
from .pricing.base import Learner
from .validation import TIE


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A weighted vote. ``balance``, the class balance in training, answers where no learner has a weight."""

    learners: Sequence[Learner]
    weights: Vector
    balance: float

    def votes(self, X: Features) -> Matrix:
        """Every learner's votes, one column each."""
        votes = np.empty((X.shape[0], len(self.learners)), order="F")
        for j, learner in enumerate(self.learners):
            votes[:, j] = learner.vote(X)
        return votes

    def decide(self, X: Features) -> Vector:
        """The normalised margin in [-1, 1]; learners of weight zero are skipped."""
        return next(self.staged(X, [self.weights]))

    def staged(self, X: Features, stages: Sequence[Vector]) -> Iterator[Vector]:
        """The normalised margins under each of several weight vectors, asking each learner at most once."""
        known: dict[int, Vector] = {}
        for weights in stages:
            used = np.flatnonzero(weights).tolist()
            for j in used:
                if j not in known:
                    known[j] = self.learners[j].vote(X)
            yield self._combine(weights[used], [known[j] for j in used], X.shape[0])

    def _combine(self, weights: Vector, votes: list[Vector], n_rows: int) -> Vector:
        if not len(weights):
            return np.full(n_rows, self.balance)
        scores = np.zeros(n_rows)
        for weight, vote in zip(weights / weights.sum(), votes, strict=True):
            scores += weight * vote
        scores[np.abs(scores) < TIE] = 0.0
        return np.clip(scores, -1.0, 1.0)

    def feature_importances(self, n_features: int) -> Vector:
        """The learners' shares of each feature, summed with their weights and scaled to one."""
        total = np.zeros(n_features)
        for j in np.flatnonzero(self.weights).tolist():
            total += self.weights[j] * self.learners[j].feature_gains(n_features)
        return total / total.sum() if total.sum() > 0 else total
