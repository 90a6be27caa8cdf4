"""Intervals that cover the share of rows that they promise: split conformal prediction.

Some rows are set aside before the fit. How far y is outside the interval of such a row, negative if it is inside, is a
number s; for rows like these, all orders of the s of the n rows set aside and that of a new row are equally likely. So
intervals that are made wider, on both sides, by the k-th smallest s cover a new row with a probability of at least
k/(n+1), whatever the model is. That is a mean over all rows and all choices of rows: not a promise for every x.

Romano, Patterson & Candès, "Conformalized quantile regression", NeurIPS 2019.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Integers, Matrix, Vector
from ..data.lazy import some_rows
from ..data.splitting import hold_out
from ..errors import InvalidDataError
from ..formulations.quantiles import PinballScorer
from ..models.fitted import FittedModel
from ..tasks.quantiles import QuantileNumbers, Widening, moved_apart
from .reading import TrainingSet

SHARE = 0.25
"""The share of the rows that is set aside."""


def rows_aside(weights: Vector, random_state: Any) -> Integers:
    """The rows to set aside."""
    return hold_out(None, weights, SHARE, check_random_state(random_state))


def widening_of(fitted: FittedModel, data: TrainingSet) -> Widening:
    """By how much the interval of each pair of levels is to be made wider, by the rows that were set aside."""
    task, aside = fitted.task, data.aside
    assert isinstance(task, QuantileNumbers)
    assert aside is not None, "no rows were set aside"
    scores = np.sort(fitted.scores(some_rows(data.features, aside.rows)), axis=1)
    targets = data.targets[aside.rows]
    shifts = []
    for pair in range(task.n_intervals):
        outside = _outside(scores[:, [pair, -1 - pair]], targets)
        shifts.append(_widened(outside, aside.counts, task.coverage(pair)))
    return Widening(tuple(shifts))


def _outside(ends: Matrix, targets: Vector) -> Vector:
    return np.asarray(np.maximum(ends[:, 0] - targets, targets - ends[:, 1]))


def _widened(outside: Vector, counts: Vector, coverage: float) -> float:
    """The smallest of these numbers that is not below the share asked for, a new row being one of them."""
    total = float(counts.sum())
    asked = coverage * (total + 1.0)
    if asked > total:
        needed = int(np.ceil(coverage / (1.0 - coverage) * (1.0 - 1e-12)))
        raise InvalidDataError(
            f"calibrate='conformal' sets a quarter of the rows aside, {total:g} here, and intervals that cover "
            f"{coverage:.0%} of new rows need {needed}: give {needed / SHARE:.0f} rows or more, or quantiles closer to "
            "each other."
        )
    return _smallest_reaching(asked, outside, counts)


def _smallest_reaching(asked: float, numbers: Vector, counts: Vector) -> float:
    """The smallest of these numbers up to which so many are counted."""
    order = np.argsort(numbers, kind="stable")
    return float(numbers[order[np.searchsorted(np.cumsum(counts[order]), asked * (1.0 - 1e-12))]])


class CalibratedPinballScorer(PinballScorer):
    """The same, where every interval is made so wide that it covers its share of the rows scored.

    Intervals that will be calibrated are to be compared as such: quantiles that fit the training rows too closely cost
    pinball loss, all of which calibration may give back.
    """

    def quantiles(self, found: Matrix, y: Vector, sample_weight: Vector | None) -> Matrix:
        counts = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        judged = found.copy()
        for pair in range(len(self.levels) // 2):
            both = [pair, -1 - pair]
            asked = (self.levels[-1 - pair] - self.levels[pair]) * float(counts.sum())
            judged[:, both] = moved_apart(
                found[:, both], _smallest_reaching(asked, _outside(found[:, both], y), counts)
            )
        return judged
