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
NUMBERS_AT_ONCE = 4096
"""How many numbers a message of a search has at most, unless more are sought."""


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


def summed(workers: Communicator, parts: Sequence[Any]) -> list[Any]:
    """The sums over all workers of several arrays or numbers, in one message."""
    arrays = [np.asarray(part, dtype=float) for part in parts]
    whole = workers.sum(np.concatenate([array.ravel() for array in arrays]))
    ends = np.cumsum([array.size for array in arrays])
    pieces = np.split(whole, ends[:-1])
    return [
        piece.reshape(array.shape) if array.ndim else float(piece[0])
        for piece, array in zip(pieces, arrays, strict=True)
    ]


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

    Found by division of the numbers of double precision, whatever they are: into two parts at a time in 64 messages, or
    where few levels are asked for into up to 256 parts in 8.
    """
    bits = np.uint64(max(b for b in (1, 2, 4, 8) if b == 1 or levels.size * 2**b <= NUMBERS_AT_ONCE))
    found = np.zeros(levels.shape, dtype=np.uint64)  # the digits known of the largest number below
    for shift in range(64 - int(bits), -1, -int(bits)):
        unit = np.uint64(1) << np.uint64(shift)
        steps = np.arange(1, 2 ** int(bits), dtype=np.uint64)
        asked = [found + step * unit - np.uint64(1) for step in steps]
        sums = workers.sum(np.array([reached(_numbers(codes)) for codes in asked]))
        found += (sums < levels).sum(axis=0).astype(np.uint64) * unit
    return _numbers(found)


def _numbers(codes: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers of double precision in their order, counted from the smallest; infinities beyond the ends."""
    bits = np.where(codes & SIGN, codes ^ SIGN, ~codes)
    numbers = bits.view(np.float64)
    return np.where(np.isnan(numbers), np.where(codes & SIGN, np.inf, -np.inf), numbers)
