"""The rows that a model is thinned and compared on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .._typing import Integers, Matrix, Scores, Vector
from ..matrix.columns import Columns
from ..matrix.rows import Rows
from ..targets.base import Operator, Target
from ..targets.classes import accuracy
from ..targets.scoring import ScoredRows
from .links import NumberLink
from .members import (
    MOST_KINDS,
    MOST_LEAVES,
    ClassLeaves,
    ClassMembers,
    LeafOfRows,
    NewLeaves,
    Outputs,
    Probability,
    refittable_kinds,
    refitted_scores,
)

NEGLIGIBLE = 1e-9
"""A class with a smaller probability than this is left out of a row."""


class AnyRows(Protocol):
    """What thinning by refitted leaves asks of rows, for two classes, for several and for numbers."""

    @property
    def labels(self) -> Vector: ...

    @property
    def counts(self) -> Vector: ...

    @property
    def full_scores(self) -> Scores: ...

    @property
    def n_members(self) -> int: ...

    @property
    def n_refittable(self) -> int: ...

    @property
    def full_quality(self) -> float: ...

    @property
    def full_quality_in_words(self) -> str: ...

    def part(self, rows: Any) -> Any: ...

    def imitating(self, p: Scores) -> Any: ...

    def scores(self, members: Integers, weights: Vector, intercept: Any) -> Scores: ...

    def refitted_scores(self, members: Integers, leaves: Sequence[Any], intercept: Any) -> Scores: ...

    def mean_loss(self, scores: Scores) -> float: ...

    def scored(self, scores: Scores, target: Target, probability: Probability) -> ScoredRows: ...


@dataclass(frozen=True, eq=False)
class MemberRows:
    """The members' outputs (one row for each member), and labels, multiplicities and the full model's raw scores."""

    outputs: Outputs
    labels: Vector
    counts: Vector
    full_scores: Vector
    leaf_ids: Outputs | None = None
    """What tells the leaves of members apart, where their outputs do not."""
    cut: float = 0.0
    """The raw score above which the model decides for the second class."""

    @property
    def leaf_outputs(self) -> Outputs:
        return self.outputs if self.leaf_ids is None else self.leaf_ids

    @property
    def n_members(self) -> int:
        return len(self.outputs)

    def part(self, rows: Integers | NDArray[np.bool_]) -> MemberRows:
        leaf_ids = None if self.leaf_ids is None else np.ascontiguousarray(self.leaf_ids[:, rows])
        return replace(
            self,
            outputs=np.ascontiguousarray(self.outputs[:, rows]),
            labels=self.labels[rows],
            counts=self.counts[rows],
            full_scores=self.full_scores[rows],
            leaf_ids=leaf_ids,
        )

    def imitating(self, p: Vector) -> MemberRows:
        """Each row twice, as one of either class, with the probabilities of the classes as shares of its count."""
        doubled, p = np.tile(np.arange(len(p)), 2), np.clip(p, 0.0, 1.0)
        counts = np.concatenate([p, 1.0 - p]) * self.counts[doubled]
        matters = np.flatnonzero(counts > NEGLIGIBLE * self.counts[doubled])
        labels = np.repeat([1.0, -1.0], len(p))
        return replace(self.part(doubled[matters]), labels=labels[matters], counts=counts[matters])

    def scores(self, members: Integers, weights: Vector, intercept: float) -> Vector:
        """The raw scores of some members with these weights."""
        total = np.full(len(self.labels), intercept)
        for member, weight in zip(members, weights, strict=True):
            total += weight * self.outputs[member]
        return total

    def refitted_scores(self, members: Integers, leaves: Sequence[NewLeaves], intercept: float) -> Vector:
        """The log-odds of some members with new leaves."""
        return refitted_scores(self.leaf_outputs[members], leaves, intercept)

    def mean_loss(self, scores: Vector) -> float:
        """The mean log loss of these log-odds."""
        return float(self.counts @ np.logaddexp(0.0, -self.labels * scores) / self.counts.sum())

    @property
    def n_refittable(self) -> int:
        """How many members can have new leaves."""
        return len(refittable_kinds(self.leaf_outputs)[0])

    @property
    def full_quality(self) -> float:
        """The accuracy of the model."""
        return accuracy(self.full_scores - self.cut, self.labels, self.counts)

    @property
    def full_quality_in_words(self) -> str:
        return f"is right on {self.full_quality:.1%} of the rows of X"

    def scored(self, scores: Vector, target: Target, probability: Probability) -> ScoredRows:
        """The rows with these raw scores, which ``probability`` turns into P(second class)."""

        def probabilities(raw: Vector) -> Matrix:
            positive = np.clip(probability(raw), 0.0, 1.0)  # an average may leave this range by rounding
            return np.column_stack([1.0 - positive, positive])

        return ScoredRows(target, scores, self.labels, Rows(self.counts), probabilities)

    def columns(self, operator: Operator, scales: Vector, groups: Integers | None) -> tuple[Columns, Integers]:
        """The scaled outputs as columns, and the members they belong to; constant and repeated columns are left out."""
        columns, members = Columns(Rows(self.counts, groups), capacity=len(scales)), []
        for member in np.flatnonzero(scales):
            votes = scales[member] * self.outputs[member].astype(np.float64)
            entries = operator.apply(votes)
            if votes.min() < votes.max() and not columns.holds(entries):
                columns.append(entries)
                members.append(member)
        return columns, np.array(members, dtype=np.intp)


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

    def scored(self, scores: Matrix, target: Target, probability: Probability) -> ScoredRows:
        """The rows with these raw scores, which ``probability`` turns into probabilities."""
        return ScoredRows(target, scores, self.labels, Rows(self.counts), probability)

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
        return self.link.target(0.0, 1.0).quality(self.full_scores, self.labels, Rows(self.counts))

    @property
    def full_quality_in_words(self) -> str:
        return f"has R² {self.full_quality:.4f} on the rows of X"

    def scored(self, scores: Vector, target: Target, probability: Probability) -> ScoredRows:
        return ScoredRows(target, scores, self.labels, Rows(self.counts), probability)

    @property
    def n_refittable(self) -> int:
        return len(self.refittable.members)

    @cached_property
    def refittable(self) -> Refittable:
        return refittable([[own] for own in self.leaves], MOST_LEAVES)
