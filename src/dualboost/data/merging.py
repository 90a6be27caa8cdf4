"""Training rows: numbers of rows from weights, held-out rows, and merging."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import train_test_split

from .._typing import Features, Integers, Vector
from ..errors import InvalidDataError
from ..workers import ALONE, Communicator
from ..workers.base import objects_of_all
from .on_disk import HashedFeatures

MOST_ROWS = 2.0**53
"""All doubles beyond this are whole numbers."""
NEARLY_WHOLE, FARTHEST_OFF = 1e-9, 1e-3
"""The largest rounding error of a multiple: relative, and absolute (a relative error of 1e-9 of 1e9 is one row)."""


def numbers_of_rows(weights: Vector, workers: Communicator = ALONE) -> Vector:
    """The number of rows that each row represents; 0 for a weight of 0.

    Weights that are whole multiples of the smallest weight are numbers of rows: among rows of weight one, a row of
    weight two is the row twice. With other weights each row is one. A common factor of all weights has no effect. If
    workers have parts of the rows, the result depends on all weights.
    """
    present = weights > 0
    with np.errstate(over="ignore", invalid="ignore"):
        multiples = weights / -workers.max(-float(weights.min(where=present, initial=np.inf)))
        whole = np.rint(multiples)
        is_near = np.abs(multiples - whole) <= np.minimum(NEARLY_WHOLE * multiples, FARTHEST_OFF)
    are_numbers = multiples.max(initial=1.0) < MOST_ROWS and bool(is_near.all())
    return present.astype(float) if workers.max(float(not are_numbers)) else whole


def in_rows(weights: Vector) -> Vector:
    """Weights scaled to the total number of rows that they represent."""
    return np.asarray(weights * (float(numbers_of_rows(weights).sum()) / float(weights.sum())))


def rows_each(numbers: Vector, group: Integers, workers: Communicator = ALONE) -> float:
    """The mean number of rows of a group, given the number of each row.

    A common factor of all groups is divided out: all rows four times count as all rows once.
    """
    sums = np.bincount(group, weights=numbers)
    own = int(np.gcd.reduce(sums.astype(np.int64))) if sums.sum() < MOST_ROWS else 1
    common = max(gcd(*objects_of_all(workers, own)), 1)
    return workers.sum(float(sums.sum())) / (common * max(workers.sum(float(len(sums))), 1.0))


def hold_out(strata: NDArray[Any] | None, weights: Vector, fraction: float, rng: np.random.RandomState) -> Integers:
    """The positions of a random share of the rows with a positive weight, stratified if ``strata`` are given.

    Of more than two strata, some may have too few rows for a share; their last row is never held out.
    """
    present = np.flatnonzero(weights > 0)
    kept = None if strata is None else strata[present]
    if kept is not None and len(np.unique(kept)) > 2:
        return np.sort(present[_from_many(kept, fraction, rng)])
    try:
        _, held = train_test_split(present, test_size=fraction, stratify=kept, random_state=rng)
    except ValueError as error:
        raise InvalidDataError(
            f"validation_fraction={fraction!r} cannot be held out of {len(present)} rows: {error}"
        ) from error
    return np.sort(held)


def _from_many(strata: NDArray[Any], fraction: float, rng: np.random.RandomState) -> Integers:
    """Rows at regular distances, in an order by stratum that is random within each."""
    n = len(strata)
    order = np.lexsort((rng.permutation(n), strata))
    marks = np.floor(fraction * np.arange(n + 1) + rng.random_sample())
    is_held = np.zeros(n, dtype=bool)
    is_held[order[np.diff(marks) > 0]] = True
    last = order[np.append(np.diff(strata[order]) != 0, True)]
    is_held[last] = False
    if not is_held.any():
        raise InvalidDataError(
            f"validation_fraction={fraction!r} cannot be held out of {n} rows in {len(last)} classes: every row would "
            "be the last one of its class. Train on more rows, or hold none out."
        )
    return np.flatnonzero(is_held)


# Every formulation depends on rows with equal features and target only through the sum of their weights, so merging
# them is exact, and a row of weight two is equivalent to the row twice. Sorting the rows by a hash makes the model
# independent of the order of the data. The sign of a target is the last bit of the hash: y and -y give one order. Only
# the leading digits of a target count for the order: another unit of y, which changes the last digits, keeps it.

ROWS_AT_ONCE = 512
"""The number of rows that are hashed or copied at a time; they fit into the processor's cache."""
LEADING = 1024.0
"""For the order of the rows, targets are rounded to multiples of the inverse of this."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Distinct rows with targets and multiplicities, and their relation to the original rows."""

    X: Features
    targets: Vector
    counts: Vector
    group: Integers
    """The merged row of each original row; -1 for a row of weight zero."""
    share: Vector
    """The share of each original row in the weight of its merged row."""
    keys: NDArray[np.uint64]
    """The hash of each row with the leading digits of its target, by which rows are sorted."""
    rows_each: float = 1.0
    """The mean number of original rows of a row; see ``rows_each``."""
    n_each: Vector | None = None
    """The number of original rows of each row; None for one."""

    def spread(self, u: Vector) -> Vector:
        """The duals of the merged rows, divided among the original rows."""
        own = (self.share * (self.group >= 0)).reshape(-1, *(1,) * (u.ndim - 1))
        return u[self.group] * own

    def part(self, positions: Integers) -> TrainingRows:
        """Some of the rows, with multiplicities scaled to the sum of all, so that C keeps its meaning."""
        is_array = not sparse.issparse(self.X) and not isinstance(self.X, HashedFeatures)
        X = _taken(self.X, positions) if is_array else self.X[positions]
        counts = self.counts[positions]
        counts = counts * (self.counts.sum() / counts.sum())
        own, ones = np.arange(len(positions)), np.ones(len(positions))
        keys, rows_each = self.keys[positions], self.rows_each
        n_each = None if self.n_each is None else self.n_each[positions]
        return TrainingRows(X, self.targets[positions], counts, own, ones, keys, rows_each, n_each)


def merge_rows(
    X: Features, targets: Vector, weights: Vector, numbers: Vector | None = None, workers: Communicator = ALONE
) -> TrainingRows:
    """Drop the rows of weight zero and merge identical rows of this worker.

    ``numbers`` are the numbers of rows that rows represent, if weights have other factors.
    """
    numbers = numbers_of_rows(weights, workers) if numbers is None else numbers
    rows = X.tocsr() if sparse.issparse(X) else X
    merged = _merge_indexed(rows, targets, weights)
    each = rows_each(numbers[merged.group >= 0], merged.group[merged.group >= 0], workers)
    return replace(merged, X=merged.X.tocsc() if sparse.issparse(X) else merged.X, rows_each=each)


def equal_rows(X: Features) -> Integers:
    """A number for each row; equal features have equal numbers, and others almost surely different ones."""
    rows = X.tocsr() if sparse.issparse(X) else X
    _, number = np.unique(_hashes_of_features(rows), return_inverse=True)
    return number.astype(np.intp, copy=False)


def n_observed(X: Features, targets: Vector, numbers: Vector) -> float:
    """The number of rows, given the number of each; a common factor is divided out."""
    rows = X.tocsr() if sparse.issparse(X) else X
    _, group = np.unique(_with_targets(_hashes_of_features(rows), X.shape[1], targets), return_inverse=True)
    return float(np.rint(rows_each(numbers, group) * (group.max(initial=-1) + 1)))


def _merge_indexed(X: Features, targets: Vector, weights: Vector) -> TrainingRows:
    kept = np.flatnonzero(weights > 0)
    of_features, own = _hashes_of_features(X)[kept], targets[kept]
    keys, leading = (_with_targets(of_features, X.shape[1], digits) for digits in (own, _leading(own)))
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if not _identical(X, targets, kept[first[group]], kept):
        first = np.argsort(keys, kind="stable")
        group = np.argsort(first)
    order = np.argsort(leading[first], kind="stable")
    first, group = first[order], np.argsort(order)[group]
    counts = np.bincount(group, weights=weights[kept]).astype(float)
    all_groups = np.full(len(weights), -1, dtype=np.intp)
    all_groups[kept] = group
    share = np.zeros(len(weights))
    share[kept] = weights[kept] / counts[group]
    merged = kept[first]
    X = X[merged] if sparse.issparse(X) else _taken(X, merged)
    n_each = np.bincount(group).astype(float)
    return TrainingRows(X, targets[merged], counts, all_groups, share, leading[first], n_each=n_each)


def _taken(X: Features, rows: Integers) -> Features:
    """Some rows, stored column by column because learners read columns."""
    if isinstance(X, HashedFeatures):
        return X.taken(rows)
    taken = np.empty((len(rows), X.shape[1]), order="F")
    for start in range(0, len(rows), ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        taken[block] = X[rows[block]]
    return taken


def _hashes_of_features(X: Features) -> NDArray[np.uint64]:
    """A 64-bit hash of each row: equal rows have equal hashes, and different rows almost surely different ones."""
    if isinstance(X, HashedFeatures):
        return X.hashes
    odd = _odd_numbers(X.shape[1])
    if sparse.issparse(X):
        products = _mix(X.data) * odd[X.indices]
        ends = np.concatenate([[np.uint64(0)], np.cumsum(products, dtype=np.uint64)])
        return np.asarray(ends[X.indptr[1:]] - ends[X.indptr[:-1]])
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    for start in range(0, len(hashes), ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        hashes[block] = (_mix(X[block]) * odd[:-1]).sum(axis=1, dtype=np.uint64)
    return hashes


def _leading(targets: Vector) -> Vector:
    """The targets without the digits that another unit of y may change; classes and counts are as they are."""
    return np.rint(targets * LEADING) / LEADING


def hashes_of_column(values: Vector, feature: int, n_features: int) -> NDArray[np.uint64]:
    """The part of the hashes of rows from one feature."""
    return _mix(values) * _odd_numbers(n_features)[feature]


def _odd_numbers(n_features: int) -> NDArray[np.uint64]:
    return np.random.default_rng(20250101).integers(0, 2**63, n_features + 1, dtype=np.uint64) * 2 + 1


def _with_targets(of_features: NDArray[np.uint64], n_features: int, targets: Vector) -> NDArray[np.uint64]:
    """The hashes of features plus the hashes of the absolute targets, with the sign as the last bit."""
    hashes = of_features + _mix(np.abs(targets)) * _odd_numbers(n_features)[-1]
    return (hashes & ~np.uint64(1)) | (targets < 0)


def _mix(values: Vector) -> NDArray[np.uint64]:
    """The bits of each number, mixed; both zeros have equal bits, and so have all missing values."""
    clean = np.where(np.isnan(values), np.nan, values + 0.0)
    bits = clean.view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return bits ^ (bits >> np.uint64(29))


def _identical(X: Features, targets: Vector, one: Integers, other: Integers) -> bool:
    paired = one != other
    one, other = one[paired], other[paired]
    if not np.array_equal(targets[one], targets[other]):
        return False
    if isinstance(X, HashedFeatures):  # on disk; ten million rows have two equal hashes once in 400,000 fits
        return True
    if sparse.issparse(X):
        left, right = X[one], X[other]
        return all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            for a, b in ((left.indptr, right.indptr), (left.indices, right.indices), (left.data, right.data))
        )
    return np.array_equal(X[one], X[other], equal_nan=True)
