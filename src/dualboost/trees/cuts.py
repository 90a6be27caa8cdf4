"""Where numeric features are cut: between neighbouring values, at quantiles if there are many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._typing import Features, Integers, Vector
from ..data.coded import MOST_CUTS, CodedFeatures
from ..workers import Communicator
from ..workers.exchange import nth_smallest, objects_of_all
from .tiny_values import READ_AS_ZERO
from .tree import column_values

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
    """The cuts of some features, whose missing values do not count; those of the values of all workers together.

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
    told = [own if size <= n_cuts + 1 else None for own, size in zip(distinct, sizes, strict=True)]
    known = [
        None if parts[0] is None else np.unique(np.concatenate(parts))
        for parts in zip(*objects_of_all(workers, told), strict=True)
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
