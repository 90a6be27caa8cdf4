"""From the raw scores of several classes to probabilities, and what recalibrates the first members of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from .._typing import Matrix, Vector


class ClassLink(ABC):
    """How raw scores, one for each class, become probabilities."""

    @abstractmethod
    def expected(self, raw: Matrix) -> Matrix: ...

    @abstractmethod
    def recalibration(self, scores: Matrix, goals: Matrix, counts: Vector, size: float) -> tuple[float, Vector]:
        """The factor, and the shift of each class, with which the scores fit the goals best.

        ``size`` is the sum of the weights and of the largest absolute intercept.
        """


class LogProbabilities(ClassLink):
    """Softmax: factor and shifts are free, and minimise the log loss."""

    def expected(self, raw: Matrix) -> Matrix:
        found: Matrix = softmax(raw, axis=1)
        return found

    def recalibration(self, scores: Matrix, goals: Matrix, counts: Vector, size: float) -> tuple[float, Vector]:
        n_classes = scores.shape[1]
        spread = float(np.ptp(scores, axis=1).max(initial=0.0))
        if spread == 0.0:
            return 1.0, np.zeros(n_classes)
        scaled, shares = scores / spread, counts / counts.sum()

        def loss(theta: Vector) -> tuple[float, Vector]:
            raw = theta[0] * scaled + theta[1:]
            largest = logsumexp(raw, axis=1)
            residual = shares[:, None] * (np.exp(raw - largest[:, None]) - goals)
            value = float(shares @ (largest - (goals * raw).sum(axis=1)))
            return value, np.append((residual * scaled).sum(), residual.sum(axis=0))

        found = minimize(loss, np.append(spread, np.zeros(n_classes)), jac=True, method="L-BFGS-B").x
        if not np.isfinite(found).all() or found[0] <= 0:
            return 1.0, np.zeros(n_classes)
        return float(found[0] / spread), np.asarray(found[1:])


class Shares(ClassLink):
    """An average of probabilities, which stays one if the weights of the members left add up to one."""

    def expected(self, raw: Matrix) -> Matrix:
        return np.clip(raw, 0.0, 1.0)

    def recalibration(self, scores: Matrix, goals: Matrix, counts: Vector, size: float) -> tuple[float, Vector]:
        return 1.0 / size, np.zeros(scores.shape[1])
