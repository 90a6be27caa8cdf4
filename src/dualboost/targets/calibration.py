"""Probabilities from scores, for two classes and for several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import entr, expit, log_softmax, logit, softmax

from .._typing import Matrix, Scores, Vector
from .base import Scored


class Calibration(ABC):
    """From scores to the probabilities of the classes.

    Numbers of rows (``Rows.rows_in_unit``) count, so that smoothing does not depend on a unit of weights.
    """

    @abstractmethod
    def probabilities(self, scores: Scores) -> Matrix:
        """The probabilities, one column for each class."""

    @classmethod
    @abstractmethod
    def identity(cls, n_classes: int) -> Calibration:
        """The calibration of scores that are log-odds, or logarithms of probabilities."""

    @classmethod
    @abstractmethod
    def fitted(cls, scores: Scores, targets: Vector, counts: Vector) -> Calibration:
        """The calibration of least log loss on these rows."""

    @classmethod
    @abstractmethod
    def fitted_by_twins(cls, training: Scored, unseen: Scored) -> Calibration:
        """The calibration of an ensemble: its scores of the training rows, and its twins' scores of unseen rows."""


# The curve increases up to a limit on either side, and is flat beyond it. Its intercept makes the mean probability
# the share of the class, so that it need not pass through one half at margin zero: formulations treat the two classes
# alike, whatever their shares are.

SMALLEST_SLOPE = 1e-3
"""The smallest slope, which is positive so that probabilities increase with the margin."""
LARGEST_SLOPE = 1e4
"""The largest slope."""
DIGITS = 5
"""Margins are rounded to this many decimal places, so that few distinct ones remain."""
LIMIT = 2.0
"""Margins are limited to this multiple of their median size: a programme on noisy rows has an optimum with tiny margins
but for a few rows, on which a curve would depend more than on all others."""
HALF = 0.5 * (1.0 - 1e-9)
"""One half, but for rounding errors of sums of weights, which must not decide which of two values is the median."""
RIDGE = 1e-8
"""The strength of a ridge penalty that keeps coefficients finite where the log loss alone does not."""


@dataclass(frozen=True)
class MarginCalibration(Calibration):
    """P(second class | margin) = 1/(1 + exp(-intercept - slope*margin)); a slope for each sign of the margin.

    Margins beyond ``limit`` count as ``limit``. ``MarginCalibration(1, 1)`` takes the margin itself as the log odds.
    """

    negative_slope: float
    positive_slope: float
    intercept: float = 0.0
    limit: float = np.inf

    @property
    def is_identity(self) -> bool:
        """Whether margins are log-odds as they are."""
        return self == MarginCalibration(1.0, 1.0)

    def probabilities(self, scores: Vector) -> Matrix:
        positive = expit(self.log_odds(scores))
        return np.column_stack([1.0 - positive, positive])

    def log_odds(self, margins: Vector) -> Vector:
        """The logarithm of the odds of the second class."""
        slopes = np.where(margins < 0, self.negative_slope, self.positive_slope)
        return self.intercept + slopes * np.clip(margins, -self.limit, self.limit)

    @classmethod
    def identity(cls, n_classes: int) -> MarginCalibration:
        return cls(1.0, 1.0)

    @classmethod
    def fitted(cls, scores: Vector, targets: Vector, counts: Vector) -> MarginCalibration:
        """The curve of least log loss, with one slope for both signs."""
        limit = limit_of(scores, counts)
        return replace(_curve(np.clip(scores, -limit, limit), targets, counts), limit=limit)

    @classmethod
    def fitted_by_twins(cls, training: Scored, unseen: Scored) -> MarginCalibration:
        """The curve of an ensemble, from the scores of its twins on rows that these have not seen.

        It is no steeper than the curve of the training rows. An ensemble that does worse on its training rows than the
        twins do on unseen rows gets a flatter curve: the slope is multiplied by the ratio of their gains over the class
        balance. The mean probability, over the training rows and the unseen ones, is the share of the second class.
        """
        limit = limit_of(training.scores, training.counts)
        training, unseen = (one._replace(scores=np.clip(one.scores, -limit, limit)) for one in (training, unseen))
        curves = [_curve(*training), _curve(*unseen)]
        own, others = (_gain(curve, scored) for curve, scored in zip(curves, (training, unseen), strict=True))
        slope = min(curve.positive_slope for curve in curves) * (min(own / others, 1.0) if others > 0 else 1.0)
        slope = max(slope, SMALLEST_SLOPE)
        margins = np.concatenate([training.scores, unseen.scores])
        shares = np.concatenate([counts / (2.0 * counts.sum()) for counts in (training.counts, unseen.counts)])
        share = np.average(training.targets > 0, weights=training.counts)

        def excess(intercept: float) -> float:
            return float(shares @ expit(intercept + slope * margins) - share)

        reach = slope * float(np.abs(margins).max()) + 1e-6
        intercept = brentq(excess, logit(share) - reach, logit(share) + reach)
        return cls(slope, slope, float(intercept), limit)


def limit_of(margins: Vector, counts: Vector) -> float:
    """The limit of margins; infinite if most margins are zero."""
    sizes = np.abs(margins)
    order = np.argsort(sizes, kind="stable")
    below = np.cumsum(counts[order])
    median = float(sizes[order][np.searchsorted(below, HALF * below[-1])])
    return LIMIT * median if median > 10.0**-DIGITS else np.inf


def _curve(margins: Vector, labels: Vector, counts: Vector) -> MarginCalibration:
    """The curve of least log loss without a limit.

    Platt's smoothed targets, which count rows, keep it finite where margins separate the classes.
    """
    margins, labels, counts = _binned(margins, labels, counts)
    totals = {sign: counts[labels == sign].sum() for sign in (-1.0, 1.0)}
    targets = np.where(labels > 0, (totals[1.0] + 1) / (totals[1.0] + 2), 1 / (totals[-1.0] + 2))
    centre = float(np.average(margins, weights=counts))
    width = float(np.sqrt(np.average((margins - centre) ** 2, weights=counts)))
    slope, height = 0.0, 0.0
    if width > 10.0**-DIGITS:
        design = np.column_stack([(margins - centre) / width, np.ones(len(margins))])
        steepness, height = logistic_fit(design, targets, counts)
        slope = min(steepness / width, LARGEST_SLOPE)
    if slope < SMALLEST_SLOPE:  # margins without information: every row gets nearly the same probability
        slope, height = SMALLEST_SLOPE, logit(np.average(targets, weights=counts))
    return MarginCalibration(float(slope), float(slope), float(height - slope * centre))


def _gain(curve: MarginCalibration, scored: Scored) -> float:
    """One minus the ratio of the log loss to that of the class balance, or zero."""
    is_second, shares = scored.targets > 0, scored.counts / scored.counts.sum()
    share = shares @ is_second
    logits = curve.log_odds(scored.scores)
    loss = shares @ np.logaddexp(0.0, np.where(is_second, -logits, logits))
    return max(1.0 - float(loss / (entr(share) + entr(1.0 - share))), 0.0)


def _binned(margins: Vector, labels: Vector, counts: Vector) -> tuple[Vector, Vector, Vector]:
    values, group = np.unique(np.round(margins, DIGITS), return_inverse=True)
    by_label = [np.bincount(group, weights=np.where(labels == sign, counts, 0.0)) for sign in (-1.0, 1.0)]
    return np.tile(values, 2), np.repeat([-1.0, 1.0], len(values)), np.concatenate(by_label)


def logistic_fit(design: Matrix, targets: Vector, counts: Vector) -> Vector:
    """The coefficients of least log loss for targets that are probabilities, which scikit-learn does not accept."""
    shares = counts / counts.sum()

    def loss(theta: Vector) -> float:
        logits = design @ theta
        return float(shares @ (np.logaddexp(0.0, logits) - targets * logits)) + 0.5 * RIDGE * float(theta @ theta)

    def gradient(theta: Vector) -> Vector:
        return design.T @ (shares * (expit(design @ theta) - targets)) + RIDGE * theta

    def hessian(theta: Vector) -> Matrix:
        p = expit(design @ theta)
        return (design.T * (shares * p * (1.0 - p))) @ design + RIDGE * np.eye(len(theta))

    start = np.zeros(design.shape[1])
    found = minimize(loss, start, method="trust-exact", jac=gradient, hess=hessian, options={"gtol": 1e-9})
    return np.asarray(found.x)


# The intercepts make up for the shares of the classes, on which formulations do not depend. The predicted class, with
# the largest score, is then made the most probable one, as scikit-learn requires.

CLASS_RIDGE = 1e-6
"""The strength of a ridge penalty that keeps the intercepts finite."""
AHEAD = 1e-6
"""By how much the logit of the class predicted is above the others, where these would be more probable."""


@dataclass(frozen=True, eq=False)
class ClassCalibration(Calibration):
    """P(class k | scores) is in proportion to exp(slope * score_k + intercept_k), the predicted class being lifted."""

    slope: float
    intercepts: Vector

    def probabilities(self, scores: Matrix) -> Matrix:
        logits = self.slope * scores + self.intercepts
        rows, best = np.arange(len(scores)), scores.argmax(axis=1)
        others = logits.copy()
        others[rows, best] = -np.inf
        own, highest = logits[rows, best], others.max(axis=1)
        logits[rows, best] = np.where(highest > own, highest + AHEAD, own)
        found: Matrix = softmax(logits, axis=1)
        return found

    @classmethod
    def identity(cls, n_classes: int) -> ClassCalibration:
        return cls(1.0, np.zeros(n_classes))

    @classmethod
    def fitted(cls, scores: Matrix, targets: Vector, counts: Vector) -> ClassCalibration:
        """The curve of least log loss; one more row of each class for every class keeps it finite (Platt's targets)."""
        codes, n_classes = targets.astype(np.intp), scores.shape[1]
        totals = np.bincount(codes, weights=counts, minlength=n_classes)[codes, None]
        goals = (totals * np.eye(n_classes)[codes] + 1.0) / (totals + n_classes)
        shares = (counts / counts.sum())[:, None]

        def penalised(theta: Vector) -> tuple[float, Vector]:
            slope = np.exp(theta[0])
            logits = slope * scores + theta[1:]
            off = shares * (softmax(logits, axis=1) - goals)
            loss = -float((shares * goals * log_softmax(logits, axis=1)).sum())
            value = loss + 0.5 * CLASS_RIDGE * float(theta @ theta)
            return value, np.append(slope * float((off * scores).sum()), off.sum(axis=0)) + CLASS_RIDGE * theta

        width = float(np.sqrt(np.average(scores.var(axis=1), weights=counts)))
        limits = [(np.log(SMALLEST_SLOPE), np.log(LARGEST_SLOPE)), *[(None, None)] * n_classes]
        start = np.append(np.clip(-np.log(max(width, SMALLEST_SLOPE)), *limits[0]), np.zeros(n_classes))
        found = minimize(penalised, start, jac=True, bounds=limits).x
        return cls(float(np.exp(found[0])), found[1:] - found[1:].mean())

    @classmethod
    def fitted_by_twins(cls, training: Scored, unseen: Scored) -> ClassCalibration:
        """The flatter one of two curves, of the training rows and of the unseen ones."""
        return min([cls.fitted(*training), cls.fitted(*unseen)], key=lambda curve: curve.slope)
