"""From raw scores to predictions, and the recalibration after thinning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, softmax
from sklearn.metrics import balanced_accuracy_score, log_loss, mean_absolute_error

from .._typing import Matrix, Scores, Vector
from ..errors import UnsupportedModelError
from ..formulations.regression import NumberLoss, PoissonLoss, SquaredLoss
from ..targets import CountTarget, NumericTarget
from ..targets.calibration import logistic_fit
from ..targets.standardising import r_squared, root_mean_square


def class_figures(y: NDArray[Any], predicted: NDArray[Any], probabilities: Scores, classes: Any) -> dict[str, float]:
    """For predicted classes; ``probabilities`` are those of all classes, or of the second of two."""
    if probabilities.ndim == 1:
        probabilities = np.column_stack([1.0 - probabilities, probabilities])
    return {
        "accuracy, rows given": float(np.mean(predicted == y)),
        "balanced accuracy": float(balanced_accuracy_score(y, predicted)),
        "log loss": float(log_loss(y, np.clip(probabilities, 0.0, 1.0), labels=classes)),
    }


def number_figures(y: Vector, predicted: Vector) -> dict[str, float]:
    """For predicted numbers."""
    return {
        "R², rows given": r_squared(y, predicted),
        "mean absolute error": float(mean_absolute_error(y, predicted)),
        "root mean squared error": root_mean_square(y, predicted),
    }


# Models differ in the factor and shift that can be written into them: the leaves of a boosted model take any, the
# average of a forest must stay a probability, and AdaBoost divides by the sum of its weights.


class Link(ABC):
    """How raw scores become probabilities of the second class."""

    @abstractmethod
    def expected(self, raw: Vector) -> Vector:
        """P(second class); above one half where the raw score is positive."""

    @abstractmethod
    def recalibration(self, scores: Vector, targets: Vector, counts: Vector, size: float) -> tuple[float, float]:
        """The factor and the shift with which the scores fit the target probabilities best.

        ``size`` is the largest score possible: the sum of the weights and of the absolute intercept.
        """


@dataclass(frozen=True)
class Logit(Link):
    """P = 1/(1 + exp(-slope*raw)): factor and shift are free, and minimise the log loss."""

    slope: float = 1.0

    def expected(self, raw: Vector) -> Vector:
        return expit(self.slope * raw)

    def recalibration(self, scores: Vector, targets: Vector, counts: Vector, size: float) -> tuple[float, float]:
        spread = float(np.abs(scores).max(initial=0.0))
        if spread == 0.0:
            return 1.0, 0.0
        design = np.column_stack([scores / spread, np.ones(len(scores))])
        theta = logistic_fit(design, targets, counts)
        factor = theta[0] / spread
        if not np.isfinite(theta).all() or factor <= 0:
            return 1.0, 0.0
        return float(factor / self.slope), float(theta[1] / self.slope)


@dataclass(frozen=True)
class Average(Link):
    """P = (1 + raw)/2, an average of probabilities: the factor must keep P between 0 and 1."""

    def expected(self, raw: Vector) -> Vector:
        return 0.5 * (1.0 + raw)

    def recalibration(self, scores: Vector, targets: Vector, counts: Vector, size: float) -> tuple[float, float]:
        weighted = counts * scores
        squares = float(weighted @ scores)
        if squares == 0.0 or size == 0.0:
            return 1.0, 0.0
        factor = float(weighted @ (2.0 * targets - 1.0)) / squares
        return float(np.clip(factor, 1e-3 / size, 1.0 / size)), 0.0


@dataclass(frozen=True)
class Normalised(Link):
    """P = 1/(1 + exp(-raw)), with a raw score between -total and total whatever the scale of the weights is."""

    total: float = 1.0

    def expected(self, raw: Vector) -> Vector:
        return expit(raw)

    def recalibration(self, scores: Vector, targets: Vector, counts: Vector, size: float) -> tuple[float, float]:
        return (self.total / size if size > 0 else 1.0), 0.0


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


class NumberLink(ABC):
    """What raw scores are to y."""

    loss: ClassVar[type[NumberLoss]]
    """What leaves are refitted by."""
    target: ClassVar[type[NumericTarget]]

    @abstractmethod
    def expected(self, raw: Vector) -> Vector:
        """The prediction for each raw score."""

    @abstractmethod
    def inverse(self, predictions: Vector) -> Vector:
        """The raw score of each prediction."""

    @abstractmethod
    def row_losses(self, y: Vector, raw: Vector) -> Vector:
        """The loss of each row."""

    def recalibration(self, scores: Vector, goals: Vector, counts: Vector, size: float) -> tuple[float, float]:
        """The factor and the shift with which the scores are nearest to those of the goals."""
        targets = self.inverse(goals)
        mean, wanted = np.average(scores, weights=counts), np.average(targets, weights=counts)
        centred = scores - mean
        spread = float(counts @ centred**2)
        factor = float((counts * centred) @ (targets - wanted)) / spread if spread > 0 else 1.0
        factor = factor if factor > 0 else 1.0
        return factor, float(wanted - factor * mean)


class Plain(NumberLink):
    """The raw score is the prediction."""

    loss = SquaredLoss
    target = NumericTarget

    def expected(self, raw: Vector) -> Vector:
        return raw

    def inverse(self, predictions: Vector) -> Vector:
        return predictions

    def row_losses(self, y: Vector, raw: Vector) -> Vector:
        return np.asarray((y - raw) ** 2)


class Logarithm(NumberLink):
    """The raw score is the logarithm of the prediction."""

    loss = PoissonLoss
    target = CountTarget

    def expected(self, raw: Vector) -> Vector:
        return np.exp(raw)

    def inverse(self, predictions: Vector) -> Vector:
        return np.log(np.maximum(predictions, np.finfo(float).tiny))

    def row_losses(self, y: Vector, raw: Vector) -> Vector:
        return np.asarray(np.exp(raw) - y * raw)


@dataclass(frozen=True)
class Predicts:
    """What a regressor predicts."""

    link: NumberLink
    is_mean: bool
    """Whether it is the mean of y, so that leaves may be fitted to y; those of others imitate the model only."""


MEAN, MEDIAN, LOG_MEAN = Predicts(Plain(), True), Predicts(Plain(), False), Predicts(Logarithm(), True)


def predicts_by(argument: str, value: str, known: Mapping[str, Predicts]) -> Predicts:
    """What a model predicts that was trained with this argument; an error if it cannot be thinned."""
    if value not in known:
        raise UnsupportedModelError(
            f"model with {argument}={value!r} cannot be thinned; with one of these it can: {', '.join(known)}."
        )
    return known[value]
