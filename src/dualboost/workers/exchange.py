"""What workers tell each other beside sums: arrays of unequal length, objects, order statistics."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from .base import Communicator

SIGN = np.uint64(1) << np.uint64(63)


def joined(workers: Communicator, values: NDArray[Any]) -> tuple[NDArray[Any], slice]:
    """The arrays of all workers one after the other, along the last axis, and the place of the own one."""
    if workers.size == 1:
        return values, slice(None)
    sizes = np.zeros(workers.size)
    sizes[workers.rank] = values.shape[-1]
    ends = np.cumsum(workers.sum(sizes)).astype(np.intp)
    own = slice(int(ends[workers.rank]) - values.shape[-1], int(ends[workers.rank]))
    whole = np.zeros((*values.shape[:-1], int(ends[-1])), dtype=values.dtype)
    whole[..., own] = values
    return workers.sum(whole), own


def objects_of_all(workers: Communicator, one: Any) -> list[Any]:
    """The objects of all workers, by rank."""
    if workers.size == 1:
        return [one]
    sizes = np.zeros(workers.size)
    text = np.frombuffer(pickle.dumps(one), dtype=np.uint8)
    sizes[workers.rank] = len(text)
    ends = np.cumsum(workers.sum(sizes)).astype(np.intp)
    whole, _ = joined(workers, text)
    return [pickle.loads(whole[start:end].tobytes()) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def nth_smallest(workers: Communicator, columns: Sequence[Vector], ranks: Integers) -> Matrix:
    """The entries of these ranks, counted from 1, in several columns, of which each worker has a part, in order.

    There is a row of ranks for each column.
    """

    def n_up_to(numbers: Matrix) -> Matrix:
        asked = zip(columns, numbers, strict=True)
        return np.array([np.searchsorted(own, row, side="right") for own, row in asked], dtype=float)

    return _least_reaching(workers, ranks, n_up_to)


def smallest_reaching(workers: Communicator, values: Vector, weights: Vector, levels: NDArray[Any]) -> NDArray[Any]:
    """For each level the smallest value up to which values, of which each worker has a part, weigh as much."""
    order = np.argsort(values, kind="stable")
    values, totals = values[order], np.cumsum(weights[order])
    if workers.size == 1:
        return np.asarray(values[np.minimum(np.searchsorted(totals, levels), len(values) - 1)])
    totals = np.append(0.0, totals)
    return _least_reaching(workers, levels, lambda numbers: totals[np.searchsorted(values, numbers, side="right")])


def _least_reaching(
    workers: Communicator, levels: NDArray[Any], reached: Callable[[NDArray[Any]], NDArray[Any]]
) -> NDArray[Any]:
    """The smallest numbers at which the sums over workers of ``reached``, which rises, are at least the levels.

    Found by bisection over the numbers of double precision: 64 messages, whatever the numbers are.
    """
    low, high = (np.full(levels.shape, end, dtype=np.uint64) for end in (0, np.iinfo(np.uint64).max))
    while (low < high).any():
        middle = low + (high - low) // np.uint64(2)
        is_below = workers.sum(reached(_numbers(middle))) < levels
        low, high = np.where(is_below, middle + np.uint64(1), low), np.where(is_below, high, middle)
    return _numbers(high)


def _numbers(codes: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers of double precision in their order, counted from the smallest; infinities beyond the ends."""
    bits = np.where(codes & SIGN, codes ^ SIGN, ~codes)
    numbers = bits.view(np.float64)
    return np.where(np.isnan(numbers), np.where(codes & SIGN, np.inf, -np.inf), numbers)
