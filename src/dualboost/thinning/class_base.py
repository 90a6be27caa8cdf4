"""The interface to models of several classes: members whose values add up to one raw score for each class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..tasks import ManyClasses
from .base import Adapter
from .class_links import ClassLink, LogProbabilities
from .class_members import ClassLeaves, ClassMembers
from .class_path import ClassLeafPath, RoundLeafPath
from .class_rows import ClassRows


class ClassAdapter(Adapter):
    """A model of several classes, whose raw scores are the intercepts plus the weighted values of a row's leaves."""

    refits = True
    intercept: Vector
    link: ClassLink = LogProbabilities()
    refitted_link: ClassLink = LogProbabilities()
    members: ClassMembers

    @abstractmethod
    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        """For each tree the leaf of each row of X: its row in the tree's values."""

    @abstractmethod
    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        """A model of these members, given the values of all their trees' leaves; scores are log-probabilities."""

    @property
    def trees_per_member(self) -> int:
        return self.members.trees_per_member

    @property
    def task(self) -> ManyClasses:
        return ManyClasses(self.classes)

    def rows(self, X: Any, labels: Vector, counts: Vector) -> ClassRows:
        sizes = [len(values) for values in self.members.values]
        leaves = [
            np.asarray(own).astype(np.min_scalar_type(size - 1))
            for own, size in zip(self.leaf_numbers(X), sizes, strict=True)
        ]
        rows = ClassRows(self.members, leaves, labels, counts, np.zeros((len(labels), self.members.n_classes)))
        full_scores = rows.scores(np.arange(self.n_members), self.weights, self.intercept)
        return replace(rows, full_scores=full_scores)

    def leaf_path(self, rows: ClassRows) -> ClassLeafPath:
        return RoundLeafPath(rows) if self.trees_per_member > 1 else ClassLeafPath(rows)

    def rebuild(self, kept: Integers, weights: Vector, intercept: Vector) -> Any:
        values = [
            weight * own
            for member, weight in zip(kept.tolist(), weights.tolist(), strict=True)
            for own in self.members.as_they_are(member).values
        ]
        return self.written(kept, values, intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[ClassLeaves], intercept: Vector) -> Any:
        return self.written(kept, [values for own in leaves for values in own.values], intercept)

    def trees_kept(self, kept: Integers) -> list[int]:
        """The trees of the members kept, in their order."""
        return [tree for member in kept.tolist() for tree in self.members.trees_of(member)]
