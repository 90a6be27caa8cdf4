"""Columns of tiny numbers, coded so that LightGBM tells them apart.

LightGBM reads every number of at most 1e-35 in size as zero where it predicts. Where it bins rows, it cuts right above
and right below zero at these two numbers, and a number that is -1e-35 itself is below the cut. A column that is cut
among such numbers is given to it as codes: whole numbers in the order of the values, with the code 0 for zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features, Vector
from ..errors import UnsupportedModelError
from .tree import Tree, column_values

READ_AS_ZERO = float(np.float32(1e-35))
"""The largest number that LightGBM reads as zero, 1e-35 in single precision; it cuts right above zero there."""
BELOW_ZEROS = float(np.nextafter(-READ_AS_ZERO, -np.inf))
"""Where a cut right below zero is: LightGBM writes -1e-35, but predicts that number itself as zero, above the cut."""
ROWS_AT_ONCE = 4096
"""How many rows are looked at at a time, so that no array is as large as X."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column cut at ``cuts``, which increase: the code of a value is the number of cuts below it, less zero's."""

    cuts: Vector

    @cached_property
    def _zero(self) -> int:
        return int(np.searchsorted(self.cuts, 0.0))

    def codes(self, values: Vector) -> Vector:
        """The codes of values; missing values stay missing."""
        codes: Vector = (np.searchsorted(self.cuts, values) - self._zero).astype(float)
        codes[np.isnan(values)] = np.nan
        return codes

    def coded_cuts(self, cuts: Vector) -> Vector:
        """Where the codes are to be cut instead of the values: halfway between two codes."""
        return np.asarray(np.searchsorted(self.cuts, cuts) - self._zero + 0.5, dtype=float)

    def decoded_cuts(self, thresholds: Vector) -> Vector:
        """Where the values are cut if the codes are cut at these thresholds; beyond all codes, beyond all values."""
        ends = np.concatenate([[-np.finfo(float).max], self.cuts, [np.inf]])
        below = np.floor(np.clip(thresholds, -len(ends), len(ends))).astype(np.intp) + self._zero
        return ends[np.clip(below, -1, len(self.cuts)) + 1]


def tiny_features(X: Features) -> list[int]:
    """The features with a value that LightGBM reads as zero, and that is not zero."""
    if sparse.issparse(X):
        positions = np.flatnonzero(_is_tiny(X.data))
        return np.unique(np.searchsorted(X.indptr, positions, side="right") - 1).tolist()
    found = np.zeros(X.shape[1], dtype=bool)
    for start in range(0, X.shape[0], ROWS_AT_ONCE):
        found |= _is_tiny(X[start : start + ROWS_AT_ONCE]).any(axis=0)
    return np.flatnonzero(found).tolist()


def _is_tiny(values: Vector) -> NDArray[np.bool_]:
    tiny: NDArray[np.bool_] = (np.abs(values) <= READ_AS_ZERO) & (values != 0)
    return tiny


def columns_cut_at_tiny_values(trees: Sequence[Tree]) -> dict[int, CodedColumn]:
    """Those features that the trees cut where LightGBM sees but one value, coded by all cuts of the trees."""
    feature = np.concatenate([np.zeros(0, dtype=np.intp), *(tree.feature for tree in trees)])
    cuts = np.concatenate([np.zeros(0), *(_cuts(tree) for tree in trees)])
    among_tiny = np.unique(feature[_is_among_zeros(cuts)]).tolist()
    return {k: CodedColumn(np.unique(cuts[(feature == k) & ~np.isnan(cuts)])) for k in among_tiny}


def require_readable_cuts(trees: Sequence[Tree], name: Callable[[int], str]) -> None:
    """Require that LightGBM sees values on both sides of every cut; ``name`` names a feature in the message."""
    for tree in trees:
        cuts = _cuts(tree)
        for node in np.flatnonzero(_is_among_zeros(cuts) & (cuts != 0)).tolist():
            raise UnsupportedModelError(
                f"The model splits {name(int(tree.feature[node]))} at {cuts[node]:g}, but a LightGBM model reads all "
                "numbers up to 1e-35 as zero: take the logarithm of the feature, or multiply it, and fit again."
            )


def _is_among_zeros(cuts: Vector) -> NDArray[np.bool_]:
    """Which cuts have numbers on both sides that LightGBM reads as zero; a number goes left up to the cut."""
    among: NDArray[np.bool_] = (cuts >= -READ_AS_ZERO) & (cuts < READ_AS_ZERO)
    return among


def _cuts(tree: Tree) -> Vector:
    """The thresholds of numeric nodes; nan for those that split by category."""
    cuts = tree.threshold.copy()
    cuts[list(tree.categories)] = np.nan
    return cuts


def with_codes(X: Features, columns: Mapping[int, CodedColumn]) -> Features:
    """X with codes in these columns; X itself if there are none."""
    if not columns:
        return X
    coded = sparse.csc_matrix(X, copy=True) if sparse.issparse(X) else X.copy()
    for k, column in columns.items():
        if sparse.issparse(coded):
            entries = slice(coded.indptr[k], coded.indptr[k + 1])
            coded.data[entries] = column.codes(coded.data[entries])
        else:
            coded[:, k] = column.codes(column_values(X, k, slice(None)))
    return coded


def tree_of_codes(tree: Tree, columns: Mapping[int, CodedColumn]) -> Tree:
    """The tree that does with codes what this one does with values."""
    return _recut(tree, {k: column.coded_cuts for k, column in columns.items()})


def tree_of_values(tree: Tree, columns: Mapping[int, CodedColumn]) -> Tree:
    """The tree that does with values what this one does with codes."""
    return _recut(tree, {k: column.decoded_cuts for k, column in columns.items()})


def _recut(tree: Tree, moved: Mapping[int, Callable[[Vector], Vector]]) -> Tree:
    threshold = tree.threshold.copy()
    for k, move in moved.items():
        nodes = tree.feature == k
        threshold[nodes] = move(threshold[nodes])
    return replace(tree, threshold=threshold) if moved else tree
