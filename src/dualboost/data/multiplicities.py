"""What sample weights say about how many rows there are. Categories of few rows, and leaves, ask for that number."""

from __future__ import annotations

import numpy as np

from .._typing import Integers, Vector

MOST_ROWS = 2.0**53
"""Beyond it every double is a whole number, so that being whole says nothing."""


def numbers_of_rows(weights: Vector) -> Vector:
    """How many rows each row stands for; 0 where its weight is.

    Weights that are whole multiples of the least of them are numbers of rows, and so a row of weight two is the row
    twice among rows of weight one. Of other weights only ratios count, and each row is one. The answer is the same if
    all weights are multiplied by a number.
    """
    present = weights > 0
    with np.errstate(over="ignore"):
        multiples = weights / weights.min(where=present, initial=np.inf)
    whole = np.rint(multiples)
    are_numbers = multiples.max(initial=1.0) < MOST_ROWS and np.allclose(multiples, whole, rtol=1e-9, atol=0.0)
    return whole if are_numbers else present.astype(float)


def rows_each(numbers: Vector, group: Integers) -> float:
    """How many rows the members of each group stand for, on average over the groups, given the numbers of rows.

    What all groups have in common is divided out: all rows four times are no more than all rows once.
    """
    sums = np.bincount(group, weights=numbers)
    common = np.gcd.reduce(sums.astype(np.int64)) if sums.sum() < MOST_ROWS else 1
    return float(sums.sum() / (max(common, 1) * max(len(sums), 1)))
