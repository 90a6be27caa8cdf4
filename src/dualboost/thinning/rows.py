"""The members of a model, and the rows that it is thinned and compared on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Scores, Vector
from ..matrix.columns import Columns
from ..matrix.rows import Rows
from ..targets.base import Operator, Target
from ..targets.scoring import ScoredRows
from .links import Link

Probability = Callable[[Scores], Scores]
"""From raw scores to P(second class), to the probabilities of all classes, or to predictions."""
LeafIds = NDArray[np.integer]
"""The leaf of each row in one tree, as the tree's library counts its leaves or nodes."""

MOST_LEAVES_OF_MEMBER = 1024
"""A member with more leaves than this cannot be refitted."""
MOST_LEAVES = 1500
"""The most leaves of all members together whose values are optimised at once: their products are a dense matrix."""
FEW_CLASSES = 10
"""With more classes than this, fewer leaves are optimised at once where every class has a matrix of its own."""


@dataclass(frozen=True, eq=False)
class Members:
    """The trees of a model. A member is a tree, or a round of one tree for each score; it is kept or dropped whole."""

    values: Sequence[NDArray[np.floating]]
    """For each tree a row for each leaf, and a column for each score that the tree adds to."""
    n_outputs: int = 1
    """How many scores a row of data has."""
    trees_per_member: int = 1
    groups: Sequence[Integers] | None = None
    """For each tree the group of each leaf: leaves of a group are one leaf to fits. None: each leaf is its own."""

    @classmethod
    def of_outputs(cls, outputs: Matrix) -> tuple[Members, list[LeafIds]]:
        """Members that need not be trees, given a row of outputs for each: every row of the data is a leaf."""
        rows = np.arange(outputs.shape[1])
        return cls([own[:, None] for own in np.asarray(outputs, dtype=np.float32)]), [rows] * len(outputs)

    def merged(self) -> Members:
        """The members with values in single precision, of which equal ones in a tree are one leaf to fits."""
        values = [own.astype(np.float32) for own in self.values]
        groups = self.groups or [np.unique(own, return_inverse=True)[1].ravel() for own in values]
        return replace(self, values=values, groups=groups)

    def __len__(self) -> int:
        return len(self.values) // self.trees_per_member

    def trees_of(self, members: Iterable[int]) -> list[int]:
        """The trees of some members, in their order."""
        n = self.trees_per_member
        return [tree for member in members for tree in range(int(member) * n, (int(member) + 1) * n)]

    def columns_of(self, tree: int) -> slice:
        """The scores that a tree adds to."""
        own = tree % self.trees_per_member
        return slice(None) if self.trees_per_member == 1 else slice(own, own + 1)

    def sizes(self) -> Integers:
        """The rows of values of each member's trees together."""
        return np.array([len(own) for own in self.values], dtype=np.intp).reshape(len(self), -1).sum(axis=1)

    def weighted(self, members: Integers, weights: Vector) -> list[Matrix]:
        """The values of the trees of some members, times their weights."""
        trees, factors = self.trees_of(members), np.repeat(weights, self.trees_per_member).tolist()
        return [factor * self.values[tree].astype(float) for tree, factor in zip(trees, factors, strict=True)]


class Refittable(NamedTuple):
    """Members whose leaves can be refitted at once, the first ones of a large model."""

    members: Integers
    fitted_leaves: list[list[Integers]]
    """For each of them and of its trees, the number of each leaf among those with rows; -1 for the others."""


@dataclass(frozen=True, eq=False)
class ModelRows:
    """The leaf of each row in every tree; targets, multiplicities and the raw scores of the model."""

    members: Members
    leaf_ids: Sequence[LeafIds]
    labels: Vector
    counts: Vector
    target: Target
    link: Link
    full_scores: Scores
    goals: Scores | None = None
    """The probabilities or predictions to fit leaves to; None where these are the labels."""
    has_class_weights: bool = False
    """Whether the multiplicities contain different weights of classes, which the model was trained with."""

    def part(self, rows: Any) -> ModelRows:
        return replace(
            self,
            leaf_ids=[own[rows] for own in self.leaf_ids],
            labels=self.labels[rows],
            counts=self.counts[rows],
            full_scores=self.full_scores[rows],
            goals=None if self.goals is None else self.goals[rows],
        )

    def imitating(self, goals: Scores) -> ModelRows:
        """The rows with these probabilities or predictions to fit leaves to."""
        return replace(self, goals=goals)

    def scores(self, members: Integers, leaves: Sequence[Matrix], intercept: Any) -> Scores:
        """The scores of some members, given the values of the leaves of their trees."""
        total = np.zeros((len(self.labels), self.members.n_outputs))
        for tree, values in zip(self.members.trees_of(members), leaves, strict=True):
            leaf_ids = self.leaf_ids[tree].astype(np.intp, copy=False)  # much faster than with small integers
            if values.shape[1] == 1:
                total[:, self.members.columns_of(tree)][:, 0] += values[:, 0].take(leaf_ids)
            else:
                total += values.take(leaf_ids, axis=0)
        total += intercept
        return total[:, 0] if self.members.n_outputs == 1 else total

    def weighted_scores(self, members: Integers, weights: Vector, intercept: Any) -> Scores:
        """The raw scores of some members with these weights."""
        return self.scores(members, self.members.weighted(members, weights), intercept)

    def outputs(self, member: int) -> Vector:
        """The output of one member for each row, where a row has one score."""
        return np.asarray(self.members.values[member][:, 0].take(self.leaf_ids[member]), dtype=float)

    def mean_loss(self, scores: Scores) -> float:
        """The mean loss of these scores of refitted leaves."""
        return float(self.counts @ self.link.losses(self.labels, scores) / self.counts.sum())

    @property
    def full_quality(self) -> float:
        """The accuracy of the model, or its R²."""
        return self.target.quality(self.full_scores, self.labels, Rows(self.counts))

    def scored(self, scores: Scores, probability: Probability) -> ScoredRows:
        """The rows with these raw scores, which ``probability`` turns into predictions."""
        return ScoredRows(
            self.target, scores, self.labels, Rows(self.counts), lambda raw: self.link.columns(probability(raw))
        )

    def columns(self, operator: Operator, scales: Vector, groups: Integers | None) -> tuple[Columns, Integers]:
        """The scaled outputs as columns, and the members they belong to; constant and repeated columns are left out."""
        columns, members = Columns(Rows(self.counts, groups), capacity=len(scales)), []
        for member in np.flatnonzero(scales).tolist():
            votes = scales[member] * self.outputs(member)
            entries = operator.apply(votes)
            if votes.min() < votes.max() and not columns.holds(entries):
                columns.append(entries)
                members.append(member)
        return columns, np.array(members, dtype=np.intp)

    @cached_property
    def refittable(self) -> Refittable:
        """Members with one leaf for all rows are left out; there are none if one has too many leaves."""
        none = Refittable(np.zeros(0, dtype=np.intp), [])
        members: list[int] = []
        found: list[list[Integers]] = []
        total, most = 0, MOST_LEAVES * min(1.0, FEW_CLASSES / self.members.trees_per_member) ** (1 / 3)
        # the time of a matrix for each class grows with the cube of the leaves
        for member in range(len(self.members)):
            fitted = [self._fitted_leaves(tree) for tree in self.members.trees_of([member])]
            largest = max(int(own.max()) + 1 for own in fitted)
            if largest > MOST_LEAVES_OF_MEMBER:
                return none
            if total + largest > most and members:
                break
            if largest > 1:
                members.append(member)
                found.append(fitted)
                total += largest
        return Refittable(np.array(members, dtype=np.intp), found)

    def _fitted_leaves(self, tree: int) -> Integers:
        n_leaves = len(self.members.values[tree])
        groups = np.arange(n_leaves) if self.members.groups is None else self.members.groups[tree]
        sizes = np.bincount(groups, weights=np.bincount(self.leaf_ids[tree], minlength=n_leaves))
        numbers = np.where(sizes > 0, np.cumsum(sizes > 0) - 1, -1)
        return np.asarray(numbers[groups])
