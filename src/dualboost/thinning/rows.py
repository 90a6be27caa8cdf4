"""The rows that a model is thinned and compared on, with the outputs of every member and of the whole model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Scores, Vector
from ..algebra.columns import Columns
from ..algebra.rows import Rows
from ..tasks.base import Operator, Task
from ..tasks.binary import accuracy
from ..tasks.scoring import ScoredRows
from .kinds import NewLeaves, refittable, refitted_scores
from .outputs import Outputs, Probability

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

    def scored(self, scores: Scores, task: Task, probability: Probability) -> ScoredRows: ...


@dataclass(frozen=True, eq=False)
class MemberRows:
    """The members' outputs (one row for each member), and labels, multiplicities and the full model's raw scores."""

    outputs: Outputs
    labels: Vector
    counts: Vector
    full_scores: Vector
    told_apart: Outputs | None = None
    """What tells the leaves of members apart, where their outputs do not."""
    cut: float = 0.0
    """The raw score above which the model decides for the second class."""

    @property
    def leaf_outputs(self) -> Outputs:
        return self.outputs if self.told_apart is None else self.told_apart

    @property
    def n_members(self) -> int:
        return len(self.outputs)

    def part(self, rows: Integers | NDArray[np.bool_]) -> MemberRows:
        told_apart = None if self.told_apart is None else np.ascontiguousarray(self.told_apart[:, rows])
        return replace(
            self,
            outputs=np.ascontiguousarray(self.outputs[:, rows]),
            labels=self.labels[rows],
            counts=self.counts[rows],
            full_scores=self.full_scores[rows],
            told_apart=told_apart,
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
        return len(refittable(self.leaf_outputs)[0])

    @property
    def full_quality(self) -> float:
        """The accuracy of the model."""
        return accuracy(self.full_scores - self.cut, self.labels, self.counts)

    @property
    def full_quality_in_words(self) -> str:
        return f"is right on {self.full_quality:.1%} of the rows of X"

    def scored(self, scores: Vector, task: Task, probability: Probability) -> ScoredRows:
        """The rows with these raw scores, which ``probability`` turns into P(second class)."""

        def probabilities(raw: Vector) -> Matrix:
            positive = np.clip(probability(raw), 0.0, 1.0)  # an average may leave this range by rounding
            return np.column_stack([1.0 - positive, positive])

        return ScoredRows(task, scores, self.labels, Rows(self.counts), probabilities)

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
