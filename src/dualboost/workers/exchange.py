"""What workers tell each other beside sums: arrays of unequal length, objects, order statistics."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
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

    There is a row of ranks for each column. Found by bisection over the numbers of double precision: 64 messages,
    whatever the numbers are.
    """
    low, high = (np.full(ranks.shape, end, dtype=np.uint64) for end in (0, np.iinfo(np.uint64).max))
    while (low < high).any():
        middle = low + (high - low) // np.uint64(2)
        asked = zip(columns, _numbers(middle), strict=True)
        n_below = workers.sum(np.array([np.searchsorted(own, row, side="right") for own, row in asked], dtype=float))
        low, high = np.where(n_below < ranks, middle + np.uint64(1), low), np.where(n_below < ranks, high, middle)
    return _numbers(high)


def _numbers(codes: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers of double precision in their order, counted from the smallest; infinities beyond the ends."""
    bits = np.where(codes & SIGN, codes ^ SIGN, ~codes)
    numbers = bits.view(np.float64)
    return np.where(np.isnan(numbers), np.where(codes & SIGN, np.inf, -np.inf), numbers)
