"""Held-out rows that the loop scores the ensemble on as it grows."""

from __future__ import annotations

import numpy as np

from .._typing import Features, Vector
from ..pricing.base import Learner

TIE = 1e-12
"""A score below this fraction of the largest one is a tie, whatever the order of summation made of it."""


def class_balance(labels: Vector, counts: Vector) -> float:
    """The weighted class balance in [-1, 1]: what an ensemble without a learner answers."""
    return float(labels @ counts / counts.sum())


def accuracy(scores: Vector, labels: Vector, counts: Vector) -> float:
    """The weighted share of rows whose score has their label's sign; a tie is the first class."""
    correct = (scores > TIE * np.abs(scores).max(initial=0.0)) == (labels > 0)
    return float(counts[correct].sum() / counts.sum())


class HeldOut:
    """The votes of every learner so far on the held-out rows."""

    def __init__(self, X: Features, labels: Vector, counts: Vector) -> None:
        self.X = X
        self.labels = labels
        self.counts = counts
        self._votes: list[Vector] = []

    def add(self, learner: Learner) -> None:
        self._votes.append(learner.vote(self.X))

    def scores(self, w: Vector) -> Vector:
        """The unnormalised score of each row; w may be shorter than the learners seen."""
        return w @ np.array(self._votes[: len(w)])
