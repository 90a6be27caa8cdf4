"""The members of a model of several classes: trees with a value for each class, or rounds of one tree a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector

LeafOfRows = NDArray[np.unsignedinteger]
"""The leaf of each row in one tree, as the tree's library counts its leaves or nodes."""


@dataclass(frozen=True, eq=False)
class ClassLeaves:
    """New values for the leaves of one member; a leaf without rows gets zero, which is optimal under a ridge."""

    values: tuple[Matrix, ...]
    """For each of its trees a row for each leaf, and a column for each class that the tree speaks for."""


@dataclass(frozen=True, eq=False)
class ClassMembers:
    """The trees of a model, member by member."""

    values: Sequence[Matrix]
    """For each tree a row for each leaf, and a column for each class that the tree speaks for."""
    speaks_for: tuple[slice, ...]
    """The classes that each tree of a member speaks for: all, or one of its own."""
    n_classes: int

    @classmethod
    def of_rounds(cls, values: Sequence[Vector], n_classes: int) -> ClassMembers:
        """Rounds of one tree for each class, given the values of all trees' leaves."""
        return cls([own[:, None] for own in values], tuple(slice(k, k + 1) for k in range(n_classes)), n_classes)

    @classmethod
    def of_vectors(cls, values: Sequence[Matrix]) -> ClassMembers:
        """Trees with a value for each class in every leaf."""
        return cls(values, (slice(None),), values[0].shape[1])

    @property
    def trees_per_member(self) -> int:
        return len(self.speaks_for)

    @property
    def n_members(self) -> int:
        return len(self.values) // self.trees_per_member

    @property
    def n_leaves(self) -> Integers:
        """The rows of values of each member's trees together."""
        sizes = np.array([len(own) for own in self.values], dtype=np.intp)
        return sizes.reshape(-1, self.trees_per_member).sum(axis=1)

    def trees_of(self, member: int) -> range:
        """The trees of a member."""
        return range(member * self.trees_per_member, (member + 1) * self.trees_per_member)

    def as_they_are(self, member: int) -> ClassLeaves:
        return ClassLeaves(tuple(self.values[tree] for tree in self.trees_of(member)))

    def add_scores(self, scores: Matrix, member: int, leaves: Sequence[LeafOfRows], own: ClassLeaves) -> None:
        """Add to the scores what one member says of rows in these leaves, if its values were these."""
        for tree, classes, values in zip(self.trees_of(member), self.speaks_for, own.values, strict=True):
            scores[:, classes] += values.take(leaves[tree], axis=0)
