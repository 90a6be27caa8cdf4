"""The link of a model: from raw scores to predictions, and the requirements of its target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, softmax
from sklearn.metrics import balanced_accuracy_score, log_loss, mean_absolute_error

from .._typing import Matrix, Scores, Vector
from ..errors import InvalidDataError, UnsupportedModelError
from ..formulations.convex import LogisticBoost
from ..formulations.regression import NumberLoss, PoissonLoss, SquaredLoss
from ..matrix.rows import Rows
from ..targets import BinaryTarget, CountTarget, MulticlassTarget, NumericTarget, Target
from ..targets.base import Units
from ..targets.calibration import logistic_fit
from ..targets.classes import BinaryOperator
from ..targets.numbers import LARGEST_USUAL
from ..targets.standardising import r_squared, root_mean_square
from .paths import LeafProblem, scalar_problem, shuffled, softmax_problem

if TYPE_CHECKING:
    from .rows import ModelRows

NEGLIGIBLE = 1e-9
"""A class with a smaller probability than this is left out of a row."""


class Link(ABC):
    """How raw scores become probabilities or predictions, with the loss of leaves, the target and its figures."""

    slope: float = 1.0
    """The scores of refitted leaves are this multiple of raw scores."""
    fits_y: bool = True
    """Whether leaves may be fitted to y; otherwise they imitate the model only."""
    takes_weights: ClassVar[bool] = False
    """Whether members can get new weights in place of new leaves."""
    merges_equal_leaves: ClassVar[bool] = False
    """Whether leaves of a tree with equal values in single precision are one leaf to fits."""

    @property
    def refitted(self) -> Link:
        """The link of refitted leaves."""
        return self

    @abstractmethod
    def target(self, classes: NDArray[Any], cut: float) -> Target:
        """The target of the model."""

    @abstractmethod
    def expected(self, raw: Scores) -> Scores:
        """P(second class), the probabilities of all classes, or the predictions."""

    @abstractmethod
    def recalibration(self, scores: Scores, goals: Scores, counts: Vector, size: float) -> tuple[float, Any]:
        """The factor and the shift with which the scores fit the goals best.

        ``size`` is the largest score possible: the sum of the weights and of the largest absolute intercept.
        """

    @abstractmethod
    def losses(self, labels: Vector, scores: Scores) -> Vector:
        """The loss of each row under the scores of refitted leaves."""

    @abstractmethod
    def quality_in_words(self, quality: float) -> str:
        """A clause about the model on the rows of X."""

    @abstractmethod
    def figures(self, y: NDArray[Any], predicted: NDArray[Any], expected: Scores, classes: Any) -> dict[str, float]:
        """The figures of a summary."""

    @abstractmethod
    def leaf_problem(self, rows: ModelRows) -> LeafProblem:
        """The fit of leaves to y, or to the goals of the rows."""

    def columns(self, expected: Scores) -> Scores:
        """A column of probabilities for each class; predictions are returned unchanged."""
        return expected

    def require_targets(self, labels: Vector) -> None:
        """Raise an error for targets that leaves cannot be fitted to."""
        return


class ClassLink(Link):
    """Figures of classifiers."""

    def quality_in_words(self, quality: float) -> str:
        return f"is right on {quality:.1%} of the rows of X"

    def figures(self, y: NDArray[Any], predicted: NDArray[Any], expected: Scores, classes: Any) -> dict[str, float]:
        probabilities = expected if expected.ndim > 1 else np.column_stack([1.0 - expected, expected])
        return {
            "accuracy, rows given": float(np.mean(predicted == y)),
            "balanced accuracy": float(balanced_accuracy_score(y, predicted)),
            "log loss": float(log_loss(y, np.clip(probabilities, 0.0, 1.0), labels=classes)),
        }


@dataclass(frozen=True, eq=False)
class CutClasses(BinaryTarget):
    """Two classes of which the second one has the scores above a cut."""

    cut: float

    def decode(self, scores: Vector) -> NDArray[Any]:
        return super().decode(scores - self.cut)

    def labels(self, targets: Vector) -> NDArray[Any]:
        return super().decode(targets)

    def quality(self, scores: Vector, targets: Vector, rows: Rows) -> float:
        return super().quality(scores - self.cut, targets, rows)


# Models of two classes differ in the factor and shift that can be written into them: the leaves of a boosted model
# take any, the average of a forest must stay a probability, and AdaBoost divides by the sum of its weights.


class BinaryLink(ClassLink):
    """Two classes; refitted leaves have log-odds."""

    takes_weights: ClassVar[bool] = True
    merges_equal_leaves: ClassVar[bool] = True

    @property
    def refitted(self) -> Link:
        return Logit()

    def target(self, classes: NDArray[Any], cut: float) -> CutClasses:
        return CutClasses(classes, cut)

    def losses(self, labels: Vector, scores: Vector) -> Vector:
        return np.asarray(np.logaddexp(0.0, -labels * scores))

    def columns(self, expected: Vector) -> Matrix:
        positive = np.clip(expected, 0.0, 1.0)  # an average may leave this range by rounding
        return np.column_stack([1.0 - positive, positive])

    def leaf_problem(self, rows: ModelRows) -> LeafProblem:
        """Goals divide a row into one row of each class, with their probabilities as shares of its count."""
        which, labels, counts = np.arange(len(rows.labels)), rows.labels, rows.counts
        if rows.goals is not None:
            p = np.clip(rows.goals, 0.0, 1.0)
            which, labels = np.tile(which, 2), np.repeat([1.0, -1.0], len(p))
            counts = np.concatenate([p, 1.0 - p]) * rows.counts[which]
            matters = np.flatnonzero(counts > NEGLIGIBLE * rows.counts[which])
            which, labels, counts = which[matters], labels[matters], counts[matters]
        order = shuffled(len(which))
        return scalar_problem(which[order], Rows(counts[order]), BinaryOperator(labels[order]), LogisticBoost, Units())


@dataclass(frozen=True)
class Logit(BinaryLink):
    """P = 1/(1 + exp(-slope*raw)): factor and shift are free, and minimise the log loss."""

    slope: float = 1.0

    def expected(self, raw: Vector) -> Vector:
        return expit(self.slope * raw)

    def recalibration(self, scores: Vector, goals: Vector, counts: Vector, size: float) -> tuple[float, float]:
        spread = float(np.abs(scores).max(initial=0.0))
        if spread == 0.0:
            return 1.0, 0.0
        theta = logistic_fit(np.column_stack([scores / spread, np.ones(len(scores))]), goals, counts)
        factor = theta[0] / spread
        if not np.isfinite(theta).all() or factor <= 0:
            return 1.0, 0.0
        return float(factor / self.slope), float(theta[1] / self.slope)


@dataclass(frozen=True)
class Average(BinaryLink):
    """P = (1 + raw)/2, an average of probabilities: the factor must keep P between 0 and 1."""

    def expected(self, raw: Vector) -> Vector:
        return 0.5 * (1.0 + raw)

    def recalibration(self, scores: Vector, goals: Vector, counts: Vector, size: float) -> tuple[float, float]:
        weighted = counts * scores
        squares = float(weighted @ scores)
        if squares == 0.0 or size == 0.0:
            return 1.0, 0.0
        factor = float(weighted @ (2.0 * goals - 1.0)) / squares
        return float(np.clip(factor, 1e-3 / size, 1.0 / size)), 0.0


@dataclass(frozen=True)
class Normalised(BinaryLink):
    """P = 1/(1 + exp(-raw)), with a raw score between -total and total whatever the scale of the weights is."""

    total: float = 1.0

    def expected(self, raw: Vector) -> Vector:
        return expit(raw)

    def recalibration(self, scores: Vector, goals: Vector, counts: Vector, size: float) -> tuple[float, float]:
        return (self.total / size if size > 0 else 1.0), 0.0


class LogProbabilities(ClassLink):
    """Several classes. Softmax: factor and shifts are free, and minimise the log loss."""

    @property
    def refitted(self) -> Link:
        return LogProbabilities()

    def target(self, classes: NDArray[Any], cut: float) -> MulticlassTarget:
        return MulticlassTarget(classes)

    def expected(self, raw: Matrix) -> Matrix:
        return np.asarray(softmax(raw, axis=1))

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

    def losses(self, labels: Vector, scores: Matrix) -> Vector:
        own = np.take_along_axis(scores, labels.astype(np.intp)[:, None], axis=1)[:, 0]
        return np.asarray(logsumexp(scores, axis=1) - own)

    def leaf_problem(self, rows: ModelRows) -> LeafProblem:
        codes = rows.labels.astype(np.intp)
        if rows.goals is None:
            shares = np.eye(rows.members.n_outputs)[codes]
        else:
            p = np.clip(rows.goals, 0.0, 1.0)
            shares = p / p.sum(axis=1, keepdims=True)
        order = shuffled(len(codes))
        fitted = Rows(rows.counts[order], codes[order])
        return softmax_problem(order, fitted, shares[order], rows.members.trees_per_member > 1)


class Shares(LogProbabilities):
    """An average of probabilities, which stays one if the weights of the members left add up to one."""

    def expected(self, raw: Matrix) -> Matrix:
        return np.clip(raw, 0.0, 1.0)

    def recalibration(self, scores: Matrix, goals: Matrix, counts: Vector, size: float) -> tuple[float, Vector]:
        return 1.0 / size, np.zeros(scores.shape[1])


@dataclass(frozen=True)
class Plain(Link):
    """A regressor whose raw score is the prediction."""

    fits_y: bool = True
    """Whether the model predicts the mean of y."""
    loss: ClassVar[type[NumberLoss]] = SquaredLoss
    """What leaves are refitted by."""
    target_type: ClassVar[type[NumericTarget]] = NumericTarget

    def target(self, classes: NDArray[Any], cut: float) -> NumericTarget:
        """Scores are in the units of y, or of its logarithm."""
        return self.target_type(0.0, 1.0)

    def expected(self, raw: Vector) -> Vector:
        return raw

    def inverse(self, predictions: Vector) -> Vector:
        """The raw score of each prediction."""
        return predictions

    def recalibration(self, scores: Vector, goals: Vector, counts: Vector, size: float) -> tuple[float, float]:
        """The factor and the shift with which the scores are nearest to the raw scores of the goals."""
        targets = self.inverse(goals)
        mean, mean_target = np.average(scores, weights=counts), np.average(targets, weights=counts)
        centred = scores - mean
        spread = float(counts @ centred**2)
        factor = float((counts * centred) @ (targets - mean_target)) / spread if spread > 0 else 1.0
        factor = factor if factor > 0 else 1.0
        return factor, float(mean_target - factor * mean)

    def losses(self, labels: Vector, scores: Vector) -> Vector:
        return np.asarray((labels - scores) ** 2)

    def quality_in_words(self, quality: float) -> str:
        return f"has R² {quality:.4f} on the rows of X"

    def figures(self, y: NDArray[Any], predicted: NDArray[Any], expected: Scores, classes: Any) -> dict[str, float]:
        return {
            "R², rows given": r_squared(y, predicted),
            "mean absolute error": float(mean_absolute_error(y, predicted)),
            "root mean squared error": root_mean_square(y, predicted),
        }

    def leaf_problem(self, rows: ModelRows) -> LeafProblem:
        """Targets are standardised before, so that C means the same for every unit of y."""
        order = shuffled(len(rows.labels))
        y, counts = (rows.labels if rows.goals is None else rows.goals)[order], rows.counts[order]
        target, targets = self.target_type.read(y, counts)
        fitted = target.rows(targets, counts)
        return scalar_problem(order, fitted, target.operator(targets), self.loss, target.units)

    def require_targets(self, labels: Vector) -> None:
        """Refuse a y whose squares are no numbers."""
        largest = float(np.abs(labels).max(initial=0.0))
        if largest and not 1.0 / LARGEST_USUAL < largest < LARGEST_USUAL:
            raise InvalidDataError(
                f"y has numbers of size {largest:.1e}, and thinning needs their squares, which double precision does "
                f"not have: train the model on y in a unit that keeps it between {1.0 / LARGEST_USUAL:g} and "
                f"{LARGEST_USUAL:g}."
            )


@dataclass(frozen=True)
class Logarithm(Plain):
    """A regressor whose raw score is the logarithm of the prediction."""

    loss = PoissonLoss
    target_type = CountTarget

    def expected(self, raw: Vector) -> Vector:
        return np.exp(raw)

    def inverse(self, predictions: Vector) -> Vector:
        return np.log(np.maximum(predictions, np.finfo(float).tiny))

    def losses(self, labels: Vector, scores: Vector) -> Vector:
        return np.asarray(np.exp(scores) - labels * scores)


MEAN, MEDIAN, LOG_MEAN = Plain(), Plain(fits_y=False), Logarithm()


def link_for(argument: str, value: str, known: Mapping[str, Link]) -> Link:
    """The link of a model that was trained with this argument; an error if it cannot be thinned."""
    if value not in known:
        raise UnsupportedModelError(
            f"model with {argument}={value!r} cannot be thinned; with one of these it can: {', '.join(known)}."
        )
    return known[value]
