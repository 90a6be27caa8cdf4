"""The leaves of a model's members, told apart by what the members say of rows.

A library need not tell the leaf of a row: two rows with the same output of a member are taken to be in the same leaf, a
*kind* of row. Leaves that say the same are one kind, which loses nothing of the model that came in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from .outputs import Outputs

MOST_KINDS = 1024
"""A member with more kinds than this is no tree of few leaves, and cannot be refitted."""
MOST_LEAVES = 1500
"""The most kinds of all members together whose values are optimised at once: their products are a dense matrix."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """The outputs of one member, in increasing order."""

    outputs: NDArray[np.float32]

    @classmethod
    def of(cls, outputs: Outputs) -> Kinds:
        """The kinds of one member, from its outputs for some rows."""
        return cls(np.unique(outputs))

    def __len__(self) -> int:
        return len(self.outputs)

    def numbers(self, outputs: Outputs | Vector) -> Integers:
        """The kind of each output; one more than the last where the output is of none."""
        outputs = np.asarray(outputs, dtype=np.float32)
        found = np.minimum(np.searchsorted(self.outputs, outputs), len(self.outputs) - 1)
        return np.where(self.outputs[found] == outputs, found, len(self.outputs))


@dataclass(frozen=True, eq=False)
class NewLeaves:
    """New values for the leaves of one member; a leaf without rows gets zero, which is optimal under a ridge."""

    kinds: Kinds
    values: Vector

    def __call__(self, outputs: Outputs | Vector) -> Vector:
        """The new values in the place of some of the member's outputs."""
        return np.append(self.values, 0.0)[self.kinds.numbers(outputs)]


def refittable(outputs: Outputs) -> tuple[Integers, list[Kinds]]:
    """The members whose leaves can be refitted at once, the first ones of a large model, and their kinds.

    Members that say the same of all rows are left out. No members are returned if one has too many kinds.
    """
    members: list[int] = []
    kinds: list[Kinds] = []
    total = 0
    for j, of_member in enumerate(outputs):
        own = Kinds.of(of_member)
        if len(own) > MOST_KINDS:
            return np.zeros(0, dtype=np.intp), []
        if total + len(own) > MOST_LEAVES and kinds:
            break
        if len(own) > 1:
            members.append(j)
            kinds.append(own)
            total += len(own)
    return np.array(members, dtype=np.intp), kinds


def refitted_scores(outputs: Outputs, leaves: Sequence[NewLeaves], intercept: float) -> Vector:
    """The scores of rows, from the outputs of the members kept."""
    total = np.full(len(outputs[0]) if len(outputs) else 0, intercept)
    for of_member, own in zip(outputs, leaves, strict=True):
        total += own(of_member)
    return total
