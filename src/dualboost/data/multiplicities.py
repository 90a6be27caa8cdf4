"""What sample weights say about how many rows there are. Categories of few rows, and leaves, ask for that number."""

from __future__ import annotations

from math import gcd

import numpy as np

from .._typing import Integers, Vector
from ..workers import ALONE, Communicator
from ..workers.exchange import objects_of_all

MOST_ROWS = 2.0**53
"""Beyond it every double is a whole number, so that being whole says nothing."""
NEARLY_WHOLE, FARTHEST_OFF = 1e-9, 1e-3
"""Rounding errors of a multiple, as a share of it, and at most: of 1e9 any number is within a share of 1e-9."""


def numbers_of_rows(weights: Vector, workers: Communicator = ALONE) -> Vector:
    """How many rows each row stands for; 0 where its weight is.

    Weights that are whole multiples of the least of them are numbers of rows, and so a row of weight two is the row
    twice among rows of weight one. Of other weights only ratios count, and each row is one. The answer is the same if
    all weights are multiplied by a number. Where each worker has a part of the rows, all weights decide.
    """
    present = weights > 0
    with np.errstate(over="ignore", invalid="ignore"):
        multiples = weights / -workers.max(-float(weights.min(where=present, initial=np.inf)))
        whole = np.rint(multiples)
        is_near = np.abs(multiples - whole) <= np.minimum(NEARLY_WHOLE * multiples, FARTHEST_OFF)
    are_numbers = multiples.max(initial=1.0) < MOST_ROWS and bool(is_near.all())
    return present.astype(float) if workers.max(float(not are_numbers)) else whole


def in_rows(weights: Vector) -> Vector:
    """Weights as numbers of rows: in proportion to them, and as many in all as they stand for."""
    return np.asarray(weights * (float(numbers_of_rows(weights).sum()) / float(weights.sum())))


def rows_each(numbers: Vector, group: Integers, workers: Communicator = ALONE) -> float:
    """How many rows the members of each group stand for, on average over the groups, given the numbers of rows.

    What all groups have in common is divided out: all rows four times are no more than all rows once.
    """
    sums = np.bincount(group, weights=numbers)
    own = int(np.gcd.reduce(sums.astype(np.int64))) if sums.sum() < MOST_ROWS else 1
    common = max(gcd(*objects_of_all(workers, own)), 1)
    return workers.sum(float(sums.sum())) / (common * max(workers.sum(float(len(sums))), 1.0))
