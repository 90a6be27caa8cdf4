"""What a fitted model computes, without how it was found: trees whose values add up to scores, and what follows.

Everything that writes models in another language starts here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import Integers, Vector
from ..errors import UnsupportedModelError
from ..tasks.endings import Ending
from ..trees.tree import Tree
from .ensemble import Ensemble

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Inputs:
    """What the columns of X are called, and the values of those that hold categories."""

    names: list[str]
    """x0, x1, ... where X had no names."""
    categories: dict[int, list[Any]]
    """By the position of the column: its values, in the order of their codes."""
    truths: frozenset[int] = frozenset()
    """The positions of the numbers that were truth values in training."""

    @property
    def numbered(self) -> dict[int, list[Any]]:
        """Those of the categories that are numbers or truth values, so that a row can hold them as they are."""
        return {k: known for k, known in self.categories.items() if all(isinstance(one, (int, float)) for one in known)}

    @classmethod
    def of(
        cls,
        n: int,
        names: Iterable[Any] | None,
        categories: Mapping[int, Iterable[Any]],
        truths: frozenset[int] = frozenset(),
    ) -> Inputs:
        called = [f"x{k}" for k in range(n)] if names is None else [str(name) for name in names]
        listed = {k: np.asarray(known, dtype=object).tolist() for k, known in sorted(categories.items())}
        return cls(called, listed, truths)


@dataclass(frozen=True, eq=False)
class TreeSum:
    """The scores of a row are the intercepts and the values of its leaf in each tree, added up in this order of trees.

    Scores of numbers are in the units of y, or in those of the logarithm of the mean.
    """

    trees: list[Tree]
    """Each has a split; ``votes`` has a row for each leaf and a column for each score."""
    intercepts: Vector
    """One for each score."""
    ending: Ending
    inputs: Inputs

    @property
    def n_outputs(self) -> int:
        return len(self.intercepts)

    @property
    def used_features(self) -> Integers:
        """The positions of the features that a tree tests."""
        return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *(tree.feature for tree in self.trees)]))


def tree_sum(ensemble: Ensemble, n_outputs: int, ending: Ending, inputs: Inputs) -> TreeSum:
    """An ensemble of trees as a sum; trees without a split are a part of the intercepts."""
    scaled = ensemble.scaled_trees()
    if scaled is None:
        raise UnsupportedModelError("model has learners that are not trees; only trees can be exported.")
    trees, scales = scaled
    intercepts, kept = np.zeros(n_outputs), []
    for first in range(0, len(trees), n_outputs):  # of several scores, one tree after the other has the same splits
        of_one = slice(first, first + n_outputs)
        values = _values(trees[of_one], scales[of_one])
        if len(trees[first].feature):
            kept.append(_with_finite_cuts(trees[first].with_votes(values)))
        else:
            intercepts += values[0]
    return TreeSum(kept, intercepts, ending, inputs)


def _values(trees: Sequence[Tree], scales: Vector) -> Vector:
    """A row for each leaf, a column for each score."""
    return np.column_stack([scale * tree.votes for tree, scale in zip(trees, scales, strict=True)])


def _with_finite_cuts(tree: Tree) -> Tree:
    """The same for all finite numbers, with thresholds that every language can write."""
    return replace(tree, threshold=np.clip(tree.threshold, -LARGEST, LARGEST))
