"""Rows that an ensemble has not seen, for probabilities and for intervals."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .._typing import Integers, Matrix, Scores, Vector
from ..arguments import warn_user
from ..boosting.context import FitContext
from ..boosting.history import Trace
from ..boosting.leaf_context import LeafFitContext
from ..boosting.observers import log_no_twins
from ..boosting.paths import generate
from ..data.merging import TrainingRows, equal_rows, hold_out
from ..data.on_disk import some_rows
from ..deadlines import share_of_time, time_is_up, time_limit
from ..errors import DualBoostWarning, InterruptedFitWarning, InvalidDataError
from ..formulations.quantiles import PinballScorer
from ..matrix.rows import one_blas_thread
from ..models.ensemble import Ensemble
from ..models.fitted import FittedModel
from ..targets.base import Scored
from ..targets.calibration import limit_of
from ..targets.quantiles import QuantileTarget, Widening, moved_apart
from ..workers.base import joined
from .reading import Problem, Rewire, TrainingSet

# Margins on the training rows are too good: deep trees separate these rows perfectly. Where no rows are held out, the
# training rows are divided into two halves, each half is scored by a twin of the ensemble that was trained on the
# other half, and the curve is fitted to the scores of both.

FEWEST_ROWS = 10
"""The fewest rows of each class that a twin is trained on."""
MOST_TRAINED = 10_000
"""The most rows that a twin is trained on: a curve of two parameters needs no better twin."""
MOST_SCORED = 25_000
"""The most rows that a twin scores."""
MOST_GATHERED = 2 * (MOST_TRAINED + MOST_SCORED)
"""The most rows that workers who hold parts of the rows gather to find probabilities."""
SHARES_OF_TWINS = (0.45, 0.8)
"""The share of the time that is left for each twin."""
DIGITS = 9
"""Means of targets that agree in so many decimal places are equal: the rest are rounding errors of sums of weights."""
SEED = 0
"""Which rows are in which half does not depend on ``random_state``: a fit that draws nothing stays deterministic."""


def calibration_of(problem: Problem, trace: Trace, ensemble: Ensemble) -> Any:
    """What turns the scores of the ensemble into probabilities.

    It is fitted to the held-out rows, else to the training rows with the scores of twins, else to the training rows.
    """
    target, held_out = problem.training_set.target, problem.held_out
    if problem.fit_context.formulation.has_final_scores:
        return target.identity_calibration()
    if held_out is not None:
        return target.calibrate(ensemble.decide(held_out.X), held_out.targets, held_out.counts_in_rows())
    rows, rows_in_unit = _rows_of_all(problem), problem.fit_context.rows.rows_in_unit
    training = Scored(ensemble.decide(rows.X), rows.targets, rows.counts * rows_in_unit)
    unseen = None
    if problem.has_twins and problem.rewire is not None and trace.stop_reason != "interrupted":
        try:
            with _time_of(problem):
                unseen = _scored_by_twins(rows, rows_in_unit, problem.rewire, training, ensemble)
        except KeyboardInterrupt:
            warnings.warn(
                "fit was interrupted while probabilities were calibrated; the ensemble is complete, and its "
                "probabilities are fitted to the training rows.",
                InterruptedFitWarning,
                stacklevel=5,
            )
        except Exception as error:  # any learner may fail on fewer rows in its own way, but the model is fitted
            log_no_twins(error)
    return target.calibrate(*training) if unseen is None else target.calibrate_by_twins(training, unseen)


def _time_of(problem: Problem) -> AbstractContextManager[None]:
    """Any time over workers: each of them fits the same twins, which their own clocks must not make different."""
    return nullcontext() if problem.training_set.workers.size == 1 else time_limit(None)


def _rows_of_all(problem: Problem) -> TrainingRows:
    """The training rows; where they are spread over workers, a sample of them that all workers hold."""
    workers, rows = problem.training_set.workers, problem.rows
    if workers.size == 1:
        return rows
    n = problem.fit_context.rows.n_first(MOST_GATHERED)
    features = rows.X[:n].toarray() if sparse.issparse(rows.X) else rows.X[:n]
    X, targets, counts, keys = (
        joined(workers, values)[0] for values in (features.T, rows.targets[:n], rows.counts[:n], rows.keys[:n])
    )
    return TrainingRows(X.T, targets, counts, np.arange(len(keys)), np.ones(len(keys)), keys, rows.rows_each)


def _scored_by_twins(
    rows: TrainingRows, rows_in_unit: float, rewire: Rewire, training: Scored, ensemble: Ensemble
) -> Scored | None:
    """Each half of the rows as the twin of the other half scores it; None if rows or time do not suffice for twins.

    Ensembles of the same programme may differ much in how far their scores are from zero. So the scores of each twin
    are limited, shifted and scaled: on its training rows they have the mean and the deviation that the ensemble's have
    on all rows.
    """
    halves = halves_of(rows)
    trained = [_sample(half, MOST_TRAINED) for half in halves]
    if not all(_can_train(rows.targets[half]) for half in trained):
        return None
    _, centre, width = _extent(training.scores, training.counts)
    found: list[Scored] = []
    for half, other, share in zip(trained, reversed(halves), SHARES_OF_TWINS, strict=True):
        if time_is_up():
            warn_user(
                "time_limit ended the fit before its probabilities were calibrated on rows that the ensemble has not "
                "seen; they are fitted to the training rows. A longer time_limit helps, or calibration='training'.",
                InterruptedFitWarning,
            )
            return None
        part, tested = rows.part(half), _sample(other, MOST_SCORED)
        with share_of_time(share):
            twin = _twin(rewire(part), ensemble)
        limit, its_centre, its_width = _extent(twin.decide(part.X), part.counts)
        offsets = np.clip(twin.decide(rows.X[tested]), -limit, limit) - its_centre
        scores = centre + offsets * (width / its_width if its_width > 0 else 0.0)
        found.append(Scored(scores, rows.targets[tested], rows.counts[tested] * rows_in_unit))
    return Scored(*(np.concatenate(both) for both in zip(*found, strict=True)))


def _twin(fit_context: FitContext | LeafFitContext, ensemble: Ensemble) -> Ensemble:
    """An ensemble of other rows with as many trees to choose from, which nobody watches and no rule stops."""
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore", DualBoostWarning)  # they speak of an ensemble that is returned
        trace = generate(fit_context, len(ensemble.learners))
    if trace.stop_reason == "interrupted":
        raise KeyboardInterrupt
    baseline = fit_context.target.baseline(fit_context.targets, fit_context.rows)
    weights, intercept = trace.final_weights(), trace.intercept
    return replace(ensemble, learners=trace.learners, weights=weights, baseline=baseline, intercept=intercept)


def _extent(scores: Scores, counts: Vector) -> tuple[float, Any, float]:
    """The limit of the scores, and their mean, by class if there are several, and standard deviation within it."""
    limit = limit_of(np.abs(scores.reshape(len(scores), -1)).max(axis=1), counts)
    scores = np.clip(scores, -limit, limit)
    mean = np.average(scores, axis=0, weights=counts)
    squares = ((scores - mean) ** 2).reshape(len(scores), -1).mean(axis=1)
    return limit, mean, float(np.sqrt(np.average(squares, weights=counts)))


def halves_of(rows: TrainingRows) -> tuple[Integers, Integers]:
    """The positions of the rows of either half, ordered by target, so that a regular sample of them is stratified.

    Rows with equal features are in the same half: a twin that knows one of them from training has seen the other.
    """
    group = equal_rows(rows.X)
    totals = np.bincount(group, weights=rows.counts)
    targets = np.round(np.bincount(group, weights=rows.counts * rows.targets) / totals, DIGITS)
    order = np.lexsort((np.random.default_rng(SEED).permutation(len(totals)), targets))
    place = np.argsort(order)[group]
    positions = np.argsort(place, kind="stable")
    is_second = place[positions] % 2 == 1
    return positions[~is_second], positions[is_second]


def _sample(positions: Integers, most: int) -> Integers:
    """At most so many of the positions, at regular distances."""
    if len(positions) > most:
        positions = positions[np.linspace(0, len(positions) - 1, most).astype(np.intp)]
    return np.sort(positions)


def _can_train(targets: Vector) -> bool:
    """Whether there are two classes with enough rows."""
    sizes = np.unique(targets, return_counts=True)[1]
    return len(sizes) > 1 and bool(sizes.min() >= FEWEST_ROWS)


# Some rows are set aside before the fit. How far y is outside the interval of such a row, negative if it is inside,
# is a number s; for rows like these, all orders of the s of the n rows set aside and that of a new row are equally
# likely. So intervals that are made wider, on both sides, by the k-th smallest s cover a new row with a probability
# of at least k/(n+1), whatever the model is. That is a mean over all rows and all choices of rows: not a promise for
# every x.
#
# Romano, Patterson & Candès, "Conformalized quantile regression", NeurIPS 2019.

SHARE = 0.25
"""The share of the rows that is set aside."""


def rows_aside(weights: Vector, random_state: Any) -> Integers:
    """The rows to set aside."""
    return hold_out(None, weights, SHARE, check_random_state(random_state))


def widening_of(fitted: FittedModel, data: TrainingSet) -> Widening:
    """By how much the interval of each pair of levels is to be made wider, by the rows that were set aside."""
    target, aside = fitted.target, data.aside
    assert isinstance(target, QuantileTarget)
    assert aside is not None, "no rows were set aside"
    scores = np.sort(fitted.scores(some_rows(data.features, aside.rows)), axis=1)
    targets = data.targets[aside.rows]
    shifts = []
    for pair in range(target.n_intervals):
        outside = _outside(scores[:, [pair, -1 - pair]], targets)
        shifts.append(_widened(outside, aside.counts, target.coverage(pair)))
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
            f"interval_calibration='conformal' sets a quarter of the rows aside, {total:g} here, and intervals that "
            f"cover {coverage:.0%} of new rows need {needed}: give {needed / SHARE:.0f} rows or more, or quantiles "
            "closer to each other."
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
