"""The function that a model computes, as data, and the distribution of its training rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import Features, Integers, Vector
from ..errors import UnsupportedModelError
from ..targets.base import OutputTransform
from ..trees.tree import Tree, column_values
from ..workers import ALONE, Communicator
from ..workers.base import joined
from .ensemble import Ensemble

# A fit keeps it for features that its trees test, if it is a sum of functions of one or two features.

N_BINS = 40
"""The bins of a density."""
TAIL = 0.01
"""The share of rows on either side that need not be inside of a picture."""
SAMPLE = 8192
"""How many rows the ends of a picture are measured on; those of a fit are in random order."""
LARGEST_DRAWN = 1e300
"""Beyond this, differences of numbers are none."""
MOST_FEATURES = 2
"""Trees are kept track of that test at most so many features on the way to a leaf."""


@dataclass(frozen=True, eq=False)
class NumberMarginal:
    """The rows by the values of a number: a bin holds what is above one edge and up to the next."""

    edges: Vector
    """The cuts of the trees and the ends of the bins of a density, increasing."""
    counts: Vector
    """One more than there are edges."""
    missing: float
    grid: Vector
    """The ends of the bins of a density, which are the range to draw."""

    def cell_counts(self, cuts: Vector) -> Vector | None:
        """The rows between some of the cuts, and last the missing ones; None if a cut is not among the edges."""
        found = self._between(cuts)
        return None if found is None else np.append(found, self.missing)

    def density(self) -> Vector:
        """The rows in each bin of the grid; those outside of it are left out."""
        found = self._between(self.grid)
        assert found is not None, "the grid is a part of the edges"
        return found[1:-1]

    def _between(self, cuts: Vector) -> Vector | None:
        places = np.searchsorted(self.edges, cuts)
        if not np.array_equal(self.edges[np.minimum(places, len(self.edges) - 1)], cuts):
            return None
        below = np.cumsum(self.counts)
        return np.diff(np.concatenate([[0.0], below[places], below[-1:]]))


@dataclass(frozen=True, eq=False)
class CategoryMarginal:
    """The rows by the code of a category."""

    counts: Vector
    missing: float

    def cell_counts(self, n_codes: int) -> Vector:
        """The rows of each code, and last the missing ones."""
        found = np.zeros(n_codes + 1)
        found[: min(len(self.counts), n_codes)] = self.counts[:n_codes]
        found[-1] = self.missing
        return found


Marginal = NumberMarginal | CategoryMarginal


def has_small_parts(trees: Sequence[Tree]) -> bool:
    """Whether the trees add up to functions of one or two features."""
    return all(tree.most_on_a_path <= MOST_FEATURES for tree in trees)


def cuts_of(trees: Sequence[Tree]) -> tuple[dict[int, Vector], set[int]]:
    """Where each number is cut, at finite values; and the features that are split by categories."""
    cuts: dict[int, list[float]] = {}
    categories = set()
    for tree in trees:
        for node in range(len(tree.feature)):
            feature, cut = int(tree.feature[node]), float(tree.threshold[node])
            if node in tree.categories:
                categories.add(feature)
            else:
                cuts.setdefault(feature, []).extend([cut] if abs(cut) < np.finfo(float).max else [])
    return {feature: np.unique(np.array(own)) for feature, own in cuts.items()}, categories


def marginals_of(
    trees: Sequence[Tree], X: Features, counts: Vector, n_codes: Mapping[int, int], workers: Communicator = ALONE
) -> dict[int, Marginal]:
    """The distribution of rows with these multiplicities, of all workers, for every feature that a tree tests."""
    cuts, categories = cuts_of(trees)
    found: dict[int, Marginal] = {}
    for feature in sorted({*cuts, *categories}):
        values = np.asarray(column_values(X, feature, slice(None)), dtype=float)
        if feature in categories:
            found[feature] = category_marginal(values, counts, n_codes.get(feature, 0), workers)
        else:
            found[feature] = number_marginal(values, counts, cuts[feature], workers)
    return found


def number_marginal(values: Vector, counts: Vector, cuts: Vector, workers: Communicator = ALONE) -> NumberMarginal:
    is_known = ~np.isnan(values)
    known = values[is_known]
    sample, _ = joined(workers, known[: SAMPLE // workers.size])
    grid = np.linspace(*_range(sample, cuts), N_BINS + 1)
    edges = np.union1d(cuts, grid)
    inside = np.bincount(np.searchsorted(edges, known), weights=counts[is_known], minlength=len(edges) + 1)
    missing = workers.sum(float(counts[~is_known].sum()))
    return NumberMarginal(edges, workers.sum(inside.astype(float)), missing, grid)


def _range(values: Vector, cuts: Vector) -> tuple[float, float]:
    """The values but for the tails, and a little more than the cuts, beyond which effects are constant."""
    ends = np.quantile(values, [TAIL, 1.0 - TAIL], method="nearest") if len(values) else np.zeros(0)
    seen = np.concatenate([ends, cuts]) if len(ends) or len(cuts) else np.zeros(1)
    low, high = np.clip([seen.min(), seen.max()], -LARGEST_DRAWN, LARGEST_DRAWN).tolist()
    space = 0.05 * (high - low) or 0.5 * max(abs(low), 1.0)
    return low - space, high + space


def category_marginal(values: Vector, counts: Vector, n_codes: int, workers: Communicator = ALONE) -> CategoryMarginal:
    is_known = ~np.isnan(values)
    codes: Integers = values[is_known].astype(np.intp)
    inside = np.bincount(codes, weights=counts[is_known], minlength=n_codes).astype(float)
    return CategoryMarginal(workers.sum(inside), workers.sum(float(counts[~is_known].sum())))


# Everything that writes models in another language starts here.

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
    output_transform: OutputTransform
    inputs: Inputs

    @property
    def n_outputs(self) -> int:
        return len(self.intercepts)

    @property
    def used_features(self) -> Integers:
        """The positions of the features that a tree tests."""
        return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *(tree.feature for tree in self.trees)]))


def tree_sum(ensemble: Ensemble, n_outputs: int, output_transform: OutputTransform, inputs: Inputs) -> TreeSum:
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
    return TreeSum(kept, intercepts, output_transform, inputs)


def _values(trees: Sequence[Tree], scales: Vector) -> Vector:
    """A row for each leaf, a column for each score."""
    return np.column_stack([scale * tree.votes for tree, scale in zip(trees, scales, strict=True)])


def _with_finite_cuts(tree: Tree) -> Tree:
    """The same for all finite numbers, with thresholds that every language can write."""
    return replace(tree, threshold=np.clip(tree.threshold, -LARGEST, LARGEST))
