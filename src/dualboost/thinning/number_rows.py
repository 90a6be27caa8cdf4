"""The rows that a regressor is thinned and compared on, with the leaf of each row in every tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import Integers, Vector
from ..algebra.rows import Rows
from ..tasks import Task
from ..tasks.scoring import ScoredRows
from .class_members import LeafOfRows
from .class_rows import Refittable, refittable
from .kinds import MOST_LEAVES
from .number_links import NumberLink
from .outputs import Probability


@dataclass(frozen=True, eq=False)
class NumberLeaves:
    """New values for the leaves of one tree, in the order in which its library counts its leaves or nodes.

    A leaf without rows gets zero, which is optimal under a ridge.
    """

    values: Vector


@dataclass(frozen=True, eq=False)
class NumberRows:
    """The leaf of each row in every tree; y, multiplicities and the model's raw scores."""

    values: Sequence[Vector]
    """The values of each tree's leaves."""
    leaves: Sequence[LeafOfRows]
    labels: Vector
    counts: Vector
    full_scores: Vector
    link: NumberLink
    goals: Vector | None = None
    """The predictions to fit leaves to; None where these are y."""

    @property
    def targets(self) -> Vector:
        """What leaves are fitted to."""
        return self.labels if self.goals is None else self.goals

    @property
    def n_members(self) -> int:
        return len(self.values)

    def part(self, rows: Any) -> NumberRows:
        return replace(
            self,
            leaves=[own[rows] for own in self.leaves],
            labels=self.labels[rows],
            counts=self.counts[rows],
            full_scores=self.full_scores[rows],
            goals=None if self.goals is None else self.goals[rows],
        )

    def imitating(self, predictions: Vector) -> NumberRows:
        """The rows with these predictions to fit leaves to."""
        return replace(self, goals=predictions)

    def scores(self, members: Integers, weights: Vector, intercept: Any) -> Vector:
        """The raw scores of some trees with these weights."""
        total = np.full(len(self.labels), float(intercept))
        for member, weight in zip(members.tolist(), weights.tolist(), strict=True):
            total += (weight * self.values[member]).take(self.leaves[member])
        return total

    def refitted_scores(self, members: Integers, leaves: Sequence[NumberLeaves], intercept: Any) -> Vector:
        """The raw scores of some trees with new leaves."""
        total = np.full(len(self.labels), float(intercept))
        for member, own in zip(members.tolist(), leaves, strict=True):
            total += own.values.take(self.leaves[member])
        return total

    def mean_loss(self, scores: Vector) -> float:
        return float(self.counts @ self.link.row_losses(self.labels, scores) / self.counts.sum())

    @property
    def full_quality(self) -> float:
        """R^2 of the model."""
        return self.link.task(0.0, 1.0).quality(self.full_scores, self.labels, Rows(self.counts))

    @property
    def full_quality_in_words(self) -> str:
        return f"has R² {self.full_quality:.4f} on the rows of X"

    def scored(self, scores: Vector, task: Task, probability: Probability) -> ScoredRows:
        return ScoredRows(task, scores, self.labels, Rows(self.counts), probability)

    @property
    def n_refittable(self) -> int:
        return len(self.refittable.members)

    @cached_property
    def refittable(self) -> Refittable:
        return refittable([[own] for own in self.leaves], MOST_LEAVES)
