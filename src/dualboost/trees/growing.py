"""Candidate splits, and trees built from their splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Features, Integers, Matrix, Vector
from ..data.columns import Source
from ..data.features import require_finite
from ..data.merging import hashes_of_column
from ..data.on_disk import MISSING, MOST_CUTS, CodedFeatures, Codes, HashedFeatures, RowsOnDisk
from ..workers import ALONE, Communicator
from ..workers.base import nth_smallest, objects_of_all
from .lightgbm_text import READ_AS_ZERO
from .tree import Tree, column_values, constant_tree

AT_ONCE = 16
"""Of how many features workers exchange the quantiles at a time: fewer messages, and copies of as many columns."""


def cuts_between(values: Vector, n_cuts: int) -> Vector:
    """At most ``n_cuts`` points between neighbouring values."""
    return _cuts_of_sorted(np.sort(values), n_cuts)


def _cuts_of_sorted(values: Vector, n_cuts: int) -> Vector:
    distinct = values[np.append(True, values[1:] != values[:-1])] if len(values) else values
    below = np.arange(max(len(distinct) - 1, 0))
    if len(distinct) > n_cuts + 1:
        below = np.unique(np.searchsorted(distinct, values[_places(len(values), n_cuts)]))
        below = below[below < len(distinct) - 1]
    return _between(distinct[below], distinct[below + 1])


def cuts_by_all(
    X: Features,
    features: Sequence[int],
    n_cuts: int,
    workers: Communicator,
    in_order: Callable[[Vector], Vector] = np.sort,
) -> list[Vector]:
    """The cuts of some features, whose missing values do not count; from the values of all workers together.

    ``in_order`` sorts values, on a GPU where there is one.
    """
    if isinstance(X, CodedFeatures):
        assert n_cuts >= MOST_CUTS, "bins are no finer than they were made"
        return [X.cuts[feature] for feature in features]

    def known(feature: int) -> Vector:
        values = column_values(X, feature, slice(None))
        return values[~np.isnan(values)]

    if workers.size == 1:
        return [_cuts_of_sorted(in_order(known(feature)), n_cuts) for feature in features]
    found: list[Vector] = []
    for start in range(0, len(features), AT_ONCE):
        columns = [np.sort(known(feature)) for feature in features[start : start + AT_ONCE]]
        found += _spread_cuts(columns, n_cuts, workers)
    return found


def _spread_cuts(columns: Sequence[Vector], n_cuts: int, workers: Communicator) -> list[Vector]:
    """The same cuts for columns of which each worker has a part, in order."""
    distinct = [np.unique(column) for column in columns]
    sizes = workers.max(np.array([len(own) for own in distinct], dtype=float))
    sent = [own if size <= n_cuts + 1 else None for own, size in zip(distinct, sizes, strict=True)]
    known = [
        None if parts[0] is None else np.unique(np.concatenate(parts))
        for parts in zip(*objects_of_all(workers, sent), strict=True)
    ]
    found = [np.empty(0) if own is None else _between(own[:-1], own[1:]) for own in known]
    many = [k for k, own in enumerate(known) if own is None or len(own) > n_cuts + 1]
    if many:
        parts = [columns[k] for k in many], [distinct[k] for k in many]
        for k, (low, high) in zip(many, _at_quantiles(*parts, n_cuts, workers), strict=True):
            found[k] = _between(low, high)
    return found


def _at_quantiles(
    columns: Sequence[Vector], distinct: Sequence[Vector], n_cuts: int, workers: Communicator
) -> list[tuple[Vector, Vector]]:
    """For each column the values below and above its cuts: quantiles, and the next larger values."""
    totals = workers.sum(np.array([len(column) for column in columns], dtype=float))[:, None]
    low = nth_smallest(workers, columns, _places(totals, n_cuts) + 1)
    following = [
        np.append(own, np.inf)[np.searchsorted(own, below, side="right")]
        for own, below in zip(distinct, low, strict=True)
    ]
    high = -workers.max(-np.array(following))
    found = []
    for below, above in zip(low, high, strict=True):
        _, first = np.unique(below, return_index=True)
        first = first[np.isfinite(above[first])]
        found.append((below[first], above[first]))
    return found


def _places(n: Any, n_cuts: int) -> Integers:
    """The places of the quantiles among n numbers in order, counted from 0, as numpy's ``inverted_cdf`` has them."""
    return np.asarray(np.ceil(n * (np.arange(1, n_cuts + 1) / (n_cuts + 1)) - 1.0).clip(0).astype(np.intp))


def _between(low: Vector, high: Vector) -> Vector:
    """A number in the middle of each pair; the lower one where there is none between.

    So it is too where the middle is zero between tiny numbers: a cut at zero is read as one between other numbers.
    """
    middle = low + (high - low) / 2
    is_usual = (middle > low) & (middle < high) & ((middle != 0) | (high > READ_AS_ZERO))
    return np.where(is_usual, middle, low)


NUMBERS_AT_ONCE = 2**25
"""How many numbers are in memory at a time, unless a single column has more: a quarter of a gigabyte."""


@dataclass(frozen=True, eq=False)
class RowsToCode(HashedFeatures):
    """Rows on disk that are read once for their hashes, and once more as bins when it is known which of them count."""

    source: RowsOnDisk
    hashes: NDArray[np.uint64]
    workers: Communicator

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.source.shape

    def dense(self, rows: Integers | slice) -> Matrix:
        return self.source.dense(rows)

    def column(self, feature: int, rows: Integers | slice) -> Vector:
        return self.source.column(feature, rows)

    def batches(self) -> Iterator[Matrix]:
        return self.source.batches()

    def taken(self, rows: Integers) -> CodedFeatures:
        """Bins between the cuts of these rows, and of the rows of other workers."""
        n_features = self.shape[1]
        codes: Codes = np.empty((len(rows), n_features), dtype=np.uint8, order="F")
        values, cuts = np.full((n_features, MISSING + 1), np.nan), []
        for first, columns in _read(self.source, self.workers):
            columns = columns[rows]
            found = cuts_by_all(columns, range(columns.shape[1]), MOST_CUTS, self.workers)
            for k, (column, own) in enumerate(zip(columns.T, found, strict=True)):
                codes[:, first + k], values[first + k] = _coded(column, own)
            cuts += found
        return CodedFeatures(codes, cuts, values, self.hashes[rows])


def to_code(source: RowsOnDisk, workers: Communicator) -> RowsToCode:
    """The rows with their hashes; infinite numbers are refused."""
    hashes = np.zeros(source.shape[0], dtype=np.uint64)
    for first, columns in _read(source, workers):
        names = None if source.names is None else source.names[first : first + columns.shape[1]].tolist()
        require_finite(columns, Source(), names)
        for k, column in enumerate(columns.T):
            hashes += hashes_of_column(column, first + k, source.shape[1])
    return RowsToCode(source, hashes, workers)


def _read(source: RowsOnDisk, workers: Communicator) -> Iterator[tuple[int, Matrix]]:
    """Some columns at a time, with the number of the first; as many on every worker."""
    n_rows, n_features = source.shape
    n_at_once = max(1, int(NUMBERS_AT_ONCE // workers.max(float(n_rows))))
    for first in range(0, n_features, n_at_once):
        yield first, source.columns(range(first, min(first + n_at_once, n_features)))


def _coded(column: Vector, cuts: Vector) -> tuple[Codes, Vector]:
    """The bin of each number, and the number that stands for each bin: the largest in it, or its cut if it has none."""
    codes = np.searchsorted(cuts, column).astype(np.uint8)
    missing = np.isnan(column)
    codes[missing] = MISSING
    values = np.full(MISSING + 1, np.nan)
    values[: len(cuts)] = cuts
    values[len(cuts)] = np.nextafter(cuts[-1], np.inf) if len(cuts) else 0.0
    largest = np.full(MISSING + 1, -np.inf)
    np.maximum.at(largest, codes, np.where(missing, -np.inf, column))
    return codes, np.where(largest > -np.inf, largest, values)


EVEN = 1e-12
"""Sums that differ by less than this share of the sizes added up are equal: the difference is a rounding error, which
must not choose between two votes."""


@dataclass(frozen=True)
class Split:
    """Rows with ``x <= threshold``, or of one category, go left; missing values go right unless ``missing_left``."""

    feature: int
    threshold: float = np.inf
    category: int | None = None
    missing_left: bool = False


@dataclass(frozen=True)
class Branch:
    """A split with the branch on either side; None is a leaf."""

    split: Split
    gain: float
    left: Branch | None = None
    right: Branch | None = None


def build_tree(root: Branch | None) -> Tree:
    """The tree with this root; the votes of its leaves are zero."""
    if root is None:
        return constant_tree(0.0)
    branches: list[Branch] = []
    children: list[list[int]] = []
    pending: list[tuple[Branch, int, int]] = [(root, -1, 0)]
    while pending:
        branch, parent, side = pending.pop()
        if parent >= 0:
            children[parent][side] = len(branches)
        branches.append(branch)
        children.append([-1, -1])
        here = len(branches) - 1
        pending += [(child, here, k) for k, child in enumerate((branch.left, branch.right)) if child is not None]
    n_leaves = 0
    for pair in children:
        for side in (0, 1):
            if pair[side] < 0:
                pair[side] = ~n_leaves
                n_leaves += 1
    splits = [branch.split for branch in branches]
    return Tree(
        feature=np.array([split.feature for split in splits], dtype=np.intp),
        threshold=np.array([split.threshold for split in splits]),
        left=np.array([pair[0] for pair in children], dtype=np.intp),
        right=np.array([pair[1] for pair in children], dtype=np.intp),
        missing_left=np.array([split.missing_left for split in splits]),
        categories={k: np.array([s.category], dtype=np.intp) for k, s in enumerate(splits) if s.category is not None},
        gain=np.array([branch.gain for branch in branches]),
        votes=np.zeros(n_leaves),
    )


def leaf_votes(balance: Vector, weight: Vector, voting: str) -> Vector:
    """The votes of leaves: the sign of ``balance``, or for confidence voting ``balance / weight`` in [-1, 1].

    An even balance is a vote for the first class.

    ``balance`` is the sum of the residuals in each leaf, ``weight`` the sum of their absolute values. Votes are rounded
    to single precision, in which the solver stores them.
    """
    if voting == "hard":
        return np.where(balance > EVEN * weight, 1.0, -1.0)
    share = np.divide(balance, weight, out=np.zeros_like(balance), where=weight > 0)
    return np.clip(share, -1.0, 1.0).astype(np.float32).astype(np.float64)


MOST_BIN_CUTS = 255
"""A numeric feature has at most this many cuts."""


class Bins:
    """For each feature, the bin of every row and the splits between bins.

    A numeric feature is cut between neighbouring values: at all of them if there are at most ``n_cuts``, else at
    quantiles. A categorical feature has a split for each category, against all others. If a numeric feature has missing
    values, there is a split of missing against known values, and two splits for every cut: missing values may go to
    either side.
    """

    def __init__(
        self, X: Features, categorical: list[int], n_cuts: int = MOST_BIN_CUTS, workers: Communicator = ALONE
    ) -> None:
        self._workers = workers
        self.codes: list[NDArray[np.signedinteger]] = []
        """The bin of every row, one array for each feature; the last bin is that of missing values."""
        self.splits: list[list[Split]] = []
        """The splits, one list for each feature. The k-th split sends the bins up to k left, or for categories bin k
        only; the splits that send missing values left come last."""
        self.is_categorical: list[bool] = []
        self._n_missing_right: list[int] = []
        numeric = [feature for feature in range(X.shape[1]) if feature not in categorical]
        cuts = dict(zip(numeric, cuts_by_all(X, numeric, n_cuts, workers), strict=True))
        for feature in range(X.shape[1]):
            values = column_values(X, feature, slice(None))
            if feature in categorical:
                self._add_categories(feature, values)
            else:
                self._add_numbers(feature, values, cuts[feature])

    @property
    def n_splits(self) -> int:
        return sum(len(splits) for splits in self.splits)

    def goes_left(self, feature: int, k: int, rows: NDArray[np.intp] | slice = slice(None)) -> NDArray[np.bool_]:
        """Which of the rows the k-th split of a feature sends left."""
        codes, n = self.codes[feature][rows], self._n_missing_right[feature]
        if self.is_categorical[feature]:
            return codes == k
        return codes <= k if k < n else (codes <= k - n) | (codes == n)

    def left_sums(self, feature: int, s: Vector, rows: NDArray[np.intp] | slice) -> Vector:
        """The sum of s over the rows that go left, for every split of a feature."""
        sums = np.bincount(self.codes[feature][rows], weights=s[rows], minlength=self.n_bins(feature)).astype(float)
        return self.left_of(feature, sums[:, None])[:, 0]

    def n_bins(self, feature: int) -> int:
        return self._n_missing_right[feature] + 1

    def left_of(self, feature: int, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums over the rows that go left, for every split of a feature, given the sums of its bins.

        Bins, and splits, are the last axis but one; the last axis is for several sums of the same bins.
        """
        n, n_both = self._n_missing_right[feature], len(self.splits[feature]) - self._n_missing_right[feature]
        if self.is_categorical[feature]:
            return sums[..., :n, :]
        below = np.cumsum(sums, axis=-2)[..., :n, :]
        if not n_both:
            return below
        return np.concatenate([below, below[..., :n_both, :] + sums[..., n : n + 1, :]], axis=-2)

    def _add_numbers(self, feature: int, values: Vector, cuts: Vector) -> None:
        missing = np.isnan(values)
        codes = np.searchsorted(cuts, values)
        splits = [Split(feature, float(cut)) for cut in cuts]
        to_left: list[Split] = []
        has_missing, has_known = self._workers.max(np.array([missing.any(), not missing.all()], dtype=float)) > 0
        if has_missing and has_known:
            codes[missing] = len(cuts) + 1
            splits.append(Split(feature))
            to_left = [Split(feature, float(cut), missing_left=True) for cut in cuts]
        self._n_missing_right.append(len(splits))
        self._add(codes, splits + to_left, is_categorical=False)

    def _add_categories(self, feature: int, values: Vector) -> None:
        missing = np.isnan(values)
        own = np.where(missing, np.inf, values)
        present = np.unique(np.concatenate(objects_of_all(self._workers, np.unique(own))))
        codes, known = np.searchsorted(present, own), present[np.isfinite(present)]
        self._n_missing_right.append(len(known))
        self._add(codes, [Split(feature, category=int(category)) for category in known], is_categorical=True)

    def _add(self, codes: NDArray[np.intp], splits: list[Split], is_categorical: bool) -> None:
        self.codes.append(codes.astype(np.promote_types(np.int16, np.min_scalar_type(-len(splits) - 1))))
        self.splits.append(splits)
        self.is_categorical.append(is_categorical)
