"""What sample weights say about how many rows there are. Categories of few rows, and leaves, ask for that number."""

from __future__ import annotations

from math import gcd

import numpy as np

from .._typing import Integers, Vector
from ..workers import ALONE, Communicator
from ..workers.exchange import objects_of_all

MOST_ROWS = 2.0**53
"""Beyond it every double is a whole number, so that being whole says nothing."""


def numbers_of_rows(weights: Vector, workers: Communicator = ALONE) -> Vector:
    """How many rows each row stands for; 0 where its weight is.

    Weights that are whole multiples of the least of them are numbers of rows, and so a row of weight two is the row
    twice among rows of weight one. Of other weights only ratios count, and each row is one. The answer is the same if
    all weights are multiplied by a number. Where each worker has a part of the rows, all weights decide.
    """
    present = weights > 0
    with np.errstate(over="ignore"):
        multiples = weights / -workers.max(-float(weights.min(where=present, initial=np.inf)))
    whole = np.rint(multiples)
    are_numbers = multiples.max(initial=1.0) < MOST_ROWS and np.allclose(multiples, whole, rtol=1e-9, atol=0.0)
    return present.astype(float) if workers.max(float(not are_numbers)) else whole


def rows_each(numbers: Vector, group: Integers, workers: Communicator = ALONE) -> float:
    """How many rows the members of each group stand for, on average over the groups, given the numbers of rows.

    What all groups have in common is divided out: all rows four times are no more than all rows once.
    """
    sums = np.bincount(group, weights=numbers)
    own = int(np.gcd.reduce(sums.astype(np.int64))) if sums.sum() < MOST_ROWS else 1
    common = max(gcd(*objects_of_all(workers, own)), 1)
    return workers.sum(float(sums.sum())) / (common * max(workers.sum(float(len(sums))), 1.0))
