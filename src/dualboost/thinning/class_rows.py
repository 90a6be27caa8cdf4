"""The rows that a model of several classes is thinned and compared on, with the leaf of each row in every tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from .._typing import Integers, Matrix, Vector
from ..algebra.rows import Rows
from ..tasks import Task
from ..tasks.scoring import ScoredRows
from .class_members import ClassLeaves, ClassMembers, LeafOfRows
from .kinds import MOST_KINDS, MOST_LEAVES
from .outputs import Probability

FEW_CLASSES = 10
"""With more classes than this, fewer leaves are optimised at once where every class has a matrix of its own."""


class Refittable(NamedTuple):
    """Members whose leaves can be refitted at once, the first ones of a large model."""

    members: Integers
    present: list[list[Integers]]
    """For each of them and of its trees, the leaves that have rows, increasing."""


@dataclass(frozen=True, eq=False)
class ClassRows:
    """The leaf of each row in every tree; labels (numbers of classes), multiplicities and the model's raw scores."""

    trees: ClassMembers
    leaves: Sequence[LeafOfRows]
    labels: Vector
    counts: Vector
    full_scores: Matrix
    goals: Matrix | None = None
    """The probabilities to fit leaves to; None where these are the labels."""

    @property
    def n_members(self) -> int:
        return self.trees.n_members

    @property
    def shares(self) -> Matrix:
        """How much of each row belongs to each class, for those who fit leaves."""
        return np.eye(self.trees.n_classes)[self.labels.astype(np.intp)] if self.goals is None else self.goals

    def part(self, rows: Any) -> ClassRows:
        return replace(
            self,
            leaves=[own[rows] for own in self.leaves],
            labels=self.labels[rows],
            counts=self.counts[rows],
            full_scores=self.full_scores[rows],
            goals=None if self.goals is None else self.goals[rows],
        )

    def imitating(self, p: Matrix) -> ClassRows:
        """The rows with these probabilities of the classes to fit leaves to."""
        p = np.clip(p, 0.0, 1.0)
        return replace(self, goals=p / p.sum(axis=1, keepdims=True))

    def scores(self, members: Integers, weights: Vector, intercept: Any) -> Matrix:
        """The raw scores of some members with these weights."""
        total = np.zeros_like(self.full_scores)
        for member, weight in zip(members.tolist(), weights.tolist(), strict=True):
            own = ClassLeaves(tuple(weight * values for values in self.trees.as_they_are(member).values))
            self.trees.add_scores(total, member, self.leaves, own)
        return total + intercept

    def refitted_scores(self, members: Integers, leaves: Sequence[ClassLeaves], intercept: Any) -> Matrix:
        """The log-probabilities, up to a number for each row, of some members with new leaves."""
        total = np.zeros_like(self.full_scores)
        for member, own in zip(members.tolist(), leaves, strict=True):
            self.trees.add_scores(total, member, self.leaves, own)
        return total + intercept

    def mean_loss(self, scores: Matrix) -> float:
        """The mean log loss of these log-probabilities."""
        own = np.take_along_axis(scores, self.labels.astype(np.intp)[:, None], axis=1)[:, 0]
        return float(self.counts @ (logsumexp(scores, axis=1) - own) / self.counts.sum())

    @property
    def full_quality(self) -> float:
        correct = self.full_scores.argmax(axis=1) == self.labels
        return float(self.counts @ correct / self.counts.sum())

    @property
    def full_quality_in_words(self) -> str:
        return f"is right on {self.full_quality:.1%} of the rows of X"

    def scored(self, scores: Matrix, task: Task, probability: Probability) -> ScoredRows:
        """The rows with these raw scores, which ``probability`` turns into probabilities."""
        return ScoredRows(task, scores, self.labels, Rows(self.counts), probability)

    @property
    def n_refittable(self) -> int:
        return len(self.refittable.members)

    @cached_property
    def refittable(self) -> Refittable:
        leaves = [[self.leaves[tree] for tree in self.trees.trees_of(member)] for member in range(self.n_members)]
        return refittable(leaves, self._most_leaves)

    @property
    def _most_leaves(self) -> float:
        """The time of a matrix for each class grows with the cube of the leaves."""
        n_matrices = self.trees.trees_per_member
        return MOST_LEAVES * min(1.0, FEW_CLASSES / n_matrices) ** (1 / 3)


def refittable(leaves: Sequence[Sequence[LeafOfRows]], most_leaves: float) -> Refittable:
    """The members that can be refitted, given the leaf of each row in every tree of each member.

    Members that say the same of all rows are left out; none are returned if one has too many leaves.
    """
    found, total = Refittable(np.zeros(0, dtype=np.intp), []), 0
    members: list[int] = []
    for member, of_trees in enumerate(leaves):
        present = [np.flatnonzero(np.bincount(own)) for own in of_trees]
        largest = max(map(len, present))
        if largest > MOST_KINDS:
            return Refittable(np.zeros(0, dtype=np.intp), [])
        if total + largest > most_leaves and members:
            break
        if largest > 1:
            members.append(member)
            found.present.append(present)
            total += largest
    return found._replace(members=np.array(members, dtype=np.intp))
