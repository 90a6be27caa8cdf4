"""Rows that an ensemble has not seen, for probabilities and for intervals."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
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
from .reading import FitContextMaker, Problem, TrainingSet

# Margins of training rows are too large: deep trees separate these rows perfectly. Without held-out rows, the training
# rows are divided into two halves. A twin of the ensemble is trained on each half and scores the other half, and the
# calibration is fitted to the scores of both.

FEWEST_ROWS = 10
"""The fewest rows of each class that a twin is trained on."""
MOST_TRAINED = 10_000
"""The most rows that a twin is trained on: a curve of two parameters needs no better twin."""
MOST_SCORED = 25_000
"""The most rows that a twin scores."""
MOST_GATHERED = 2 * (MOST_TRAINED + MOST_SCORED)
"""The most rows that workers gather for the calibration."""
SHARES_OF_TWINS = (0.45, 0.8)
"""The share of the time that is left for each twin."""
DIGITS = 9
"""Means of targets are compared to this many decimal places; sums of weights have rounding errors."""
SEED = 0
"""The halves do not depend on ``random_state``, so that a fit without random choices stays deterministic."""


def calibration_of(problem: Problem, trace: Trace, ensemble: Ensemble) -> Any:
    """The calibration: of the held-out rows, else of the scores of twins, else of the training rows."""
    target, held_out = problem.training_set.target, problem.held_out
    if problem.fit_context.formulation.has_final_scores:
        return target.identity_calibration()
    if held_out is not None:
        return target.calibrate(ensemble.decide(held_out.X), held_out.targets, held_out.counts_in_rows())
    rows, rows_in_unit = _rows_of_all(problem), problem.fit_context.rows.rows_in_unit
    training = Scored(ensemble.decide(rows.X), rows.targets, rows.counts * rows_in_unit)
    unseen = None
    if problem.has_twins and problem.make_fit_context is not None and trace.stop_reason != "interrupted":
        try:
            # Workers fit the same twins; clocks that differ between them must not end these fits.
            with nullcontext() if problem.training_set.workers.size == 1 else time_limit(None):
                unseen = _scored_by_twins(rows, rows_in_unit, problem.make_fit_context, training, ensemble)
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


def _rows_of_all(problem: Problem) -> TrainingRows:
    """The training rows; with several workers, a sample that all workers have."""
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
    rows: TrainingRows, rows_in_unit: float, make_fit_context: FitContextMaker, training: Scored, ensemble: Ensemble
) -> Scored | None:
    """Each half of the rows with the scores of the twin of the other half; None if rows or time do not suffice.

    The size of scores may differ much between ensembles of the same programme. So the scores of each twin are limited,
    shifted and scaled: on its training rows they get the mean and deviation of the ensemble's scores on all rows.
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
            twin = _twin(make_fit_context(part), ensemble)
        limit, its_centre, its_width = _extent(twin.decide(part.X), part.counts)
        offsets = np.clip(twin.decide(rows.X[tested]), -limit, limit) - its_centre
        scores = centre + offsets * (width / its_width if its_width > 0 else 0.0)
        found.append(Scored(scores, rows.targets[tested], rows.counts[tested] * rows_in_unit))
    return Scored(*(np.concatenate(both) for both in zip(*found, strict=True)))


def _twin(fit_context: FitContext | LeafFitContext, ensemble: Ensemble) -> Ensemble:
    """An ensemble of other rows, with as many trees at most, without callbacks and early stopping."""
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore", DualBoostWarning)  # they are about the ensemble that is returned
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
    """The positions of the rows of each half, ordered by target, so that a regular sample of them is stratified.

    Rows with equal features are in the same half, so that no twin scores features of its training rows.
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
    if len(positions) > most:
        positions = positions[np.linspace(0, len(positions) - 1, most).astype(np.intp)]
    return np.sort(positions)


def _can_train(targets: Vector) -> bool:
    sizes = np.unique(targets, return_counts=True)[1]
    return len(sizes) > 1 and bool(sizes.min() >= FEWEST_ROWS)


# Conformal intervals (Romano, Patterson & Candès, "Conformalized quantile regression", NeurIPS 2019). n rows are set
# aside before the fit. Let s be the distance of y from the interval of a row, negative inside. If rows are
# exchangeable, all orders of the s of these rows and of a new row are equally likely. Intervals that are wider on both
# sides by the k-th smallest s cover a new row with a probability of at least k/(n+1), for any model: on average, not
# for every x.

SHARE = 0.25
"""The share of the rows that is set aside."""


def rows_aside(weights: Vector, random_state: Any) -> Integers:
    return hold_out(None, weights, SHARE, check_random_state(random_state))


def widening_of(fitted: FittedModel, data: TrainingSet) -> Widening:
    """The shifts of the ends of the intervals, computed from the rows set aside."""
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
    """The smallest number that is not below the share ``coverage`` of the rows and a new one."""
    total = float(counts.sum())
    needed_rows = coverage * (total + 1.0)
    if needed_rows > total:
        needed = int(np.ceil(coverage / (1.0 - coverage) * (1.0 - 1e-12)))
        raise InvalidDataError(
            f"interval_calibration='conformal' sets a quarter of the rows aside, {total:g} here, and intervals that "
            f"cover {coverage:.0%} of new rows need {needed}: give {needed / SHARE:.0f} rows or more, or quantiles "
            "closer to each other."
        )
    return _smallest_reaching(needed_rows, outside, counts)


def _smallest_reaching(needed: float, numbers: Vector, counts: Vector) -> float:
    order = np.argsort(numbers, kind="stable")
    return float(numbers[order[np.searchsorted(np.cumsum(counts[order]), needed * (1.0 - 1e-12))]])


class CalibratedPinballScorer(PinballScorer):
    """The pinball loss of intervals that are shifted to cover their share of the rows scored.

    Without the shift, quantiles that overfit would have a pinball loss that calibration may remove.
    """

    def quantiles(self, found: Matrix, y: Vector, sample_weight: Vector | None) -> Matrix:
        counts = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        judged = found.copy()
        for pair in range(len(self.levels) // 2):
            both = [pair, -1 - pair]
            covered = (self.levels[-1 - pair] - self.levels[pair]) * float(counts.sum())
            judged[:, both] = moved_apart(
                found[:, both], _smallest_reaching(covered, _outside(found[:, both], y), counts)
            )
        return judged
