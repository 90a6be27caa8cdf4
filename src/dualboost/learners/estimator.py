"""Any scikit-learn classifier as a base learner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._typing import Features, Integers, Matrix, Vector
from ..arguments import ParameterObject
from ..errors import InvalidDataError, InvalidParameterError
from ..trees.growing import leaf_votes
from .base import PricedColumn, Pricer, PricingContext, TrainingData, require_voting
from .vector_trees import exact_shares


@contextmanager
def _errors_of(classifier: Any, what: str) -> Iterator[None]:
    """Turn the error of a classifier on these rows into an error of ours."""
    try:
        yield
    except ValueError as error:
        raise InvalidDataError(
            f"learner={classifier!r} cannot {what} these rows: {str(error).splitlines()[0]} Make a pipeline of it with "
            "what it needs, such as an imputer, or use learner='cart'."
        ) from error


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """A fitted classifier, or None for a constant vote."""

    classifier: Any
    constant: float
    voting: str

    def vote(self, X: Features) -> Vector:
        if self.classifier is None:
            return np.full(X.shape[0], self.constant)
        if self.voting == "hard":
            return np.where(self._predicted(X) > 0, 1.0, -1.0)
        positive = self._predicted(X)[:, 1]
        return leaf_votes(2.0 * positive - 1.0, np.ones_like(positive), self.voting)

    def _predicted(self, X: Features) -> Any:
        """The classes that the classifier predicts under hard votes, else their probabilities."""
        X = X.tocsr() if sparse.issparse(X) else X
        with _errors_of(self.classifier, "predict"):
            return self.classifier.predict(X) if self.voting == "hard" else self.classifier.predict_proba(X)

    def feature_gains(self, n_features: int) -> Vector:
        """The classifier's own importances or absolute coefficients; zeros if it has neither."""
        gains = getattr(self.classifier, "feature_importances_", getattr(self.classifier, "coef_", None))
        if gains is None:
            return np.zeros(n_features)
        gains = np.abs(np.asarray(gains, dtype=float)).reshape(-1, n_features).sum(axis=0)
        return gains / gains.sum() if gains.sum() > 0 else gains


@dataclass(frozen=True, eq=False)
class ClassVotes(FittedClassifier):
    """A classifier fitted to the numbers of the classes; without one, ``constant`` is the class it votes for."""

    n_classes: int = 2

    def vote(self, X: Features) -> Matrix:
        n_rows = X.shape[0]
        if self.classifier is None:
            return self._one_hot(np.full(n_rows, int(self.constant)))
        if self.voting == "hard":
            return self._one_hot(np.asarray(self._predicted(X)).astype(np.intp))
        votes = np.zeros((n_rows, self.n_classes))
        votes[:, self.classifier.classes_.astype(np.intp)] = self._predicted(X)
        return exact_shares(votes)

    def _one_hot(self, codes: Integers) -> Matrix:
        return np.asarray(np.eye(self.n_classes)[codes])


@dataclass
class ClassifierLearner(ParameterObject):
    """Any scikit-learn classifier whose ``fit`` takes ``sample_weight``; given by itself it has hard votes.

    Parameters
    ----------
    classifier : scikit-learn classifier
        The classifier to clone and fit for every column.
    voting : {"hard", "confidence"}, default="hard"
        The classifier votes with its predicted class, -1 or +1, or with 2 * predict_proba - 1; of several classes, with
        a one for the class predicted, or with predict_proba.
    """

    classifier: Any
    voting: str = "hard"

    def __post_init__(self) -> None:
        require_voting(self.voting)
        _require_classifier(self.classifier, self.voting)

    def pricer(self, data: TrainingData, context: PricingContext) -> EstimatorPricer:
        kind = EstimatorPricer if context.n_outputs == 1 else ClassEstimatorPricer
        return kind(self, data, context)


class EstimatorPricer(Pricer):
    """Fits a clone of the classifier to the sign of each residual, with the size of the residual as its weight."""

    is_exact = False
    n_learners = float("inf")

    def __init__(self, learner: ClassifierLearner, data: TrainingData, context: PricingContext) -> None:
        self._classifier = clone(learner.classifier)
        seeds = [name for name in self._classifier.get_params() if name.endswith("random_state")]
        self._classifier.set_params(**dict.fromkeys(seeds, context.seed))
        self._weights_name = _weights_name(learner.classifier)
        self._data, self._voting = data, learner.voting
        self._X = data.X.tocsr() if sparse.issparse(data.X) else data.X

    def price(self, residual: Vector, feature_multiplier: Vector | None) -> PricedColumn:
        rows = np.flatnonzero(residual)
        targets = np.where(residual[rows] > 0, 1.0, -1.0)
        if not len(rows) or (targets == targets[0]).all():
            learner = FittedClassifier(None, float(targets[0]) if len(rows) else -1.0, self._voting)
        else:
            learner = FittedClassifier(self._fitted(rows, targets, np.abs(residual[rows])), 0.0, self._voting)
        return PricedColumn(learner, learner.vote(self._data.X))

    def _fitted(self, rows: Integers, targets: Vector, weights: Vector) -> Any:
        fitted = clone(self._classifier)
        with _errors_of(self._classifier, "be fitted to"):
            fitted.fit(self._X[rows], targets, **{self._weights_name: weights * (len(rows) / weights.sum())})
        return fitted


class ClassEstimatorPricer(EstimatorPricer):
    """Fits a clone of the classifier to the class of each row, weighted by its residual."""

    def price(self, residual: Matrix, feature_multiplier: Any) -> PricedColumn:
        weights, codes, n_classes = residual.max(axis=1), residual.argmax(axis=1), residual.shape[1]
        rows = np.flatnonzero(weights > 0)
        present = np.unique(codes[rows])
        if len(present) < 2:
            only = int(present[0]) if len(present) else 0
            learner = ClassVotes(None, only, self._voting, n_classes)
        else:
            learner = ClassVotes(self._fitted(rows, codes[rows], weights[rows]), 0, self._voting, n_classes)
        return PricedColumn(learner, learner.vote(self._data.X))


def _weights_name(classifier: Any) -> str:
    """The argument of ``fit`` that takes the weights of the rows; in a pipeline that of the last step."""
    return f"{classifier.steps[-1][0]}__sample_weight" if isinstance(classifier, Pipeline) else "sample_weight"


def _require_classifier(learner: Any, voting: str) -> None:
    """Raise an error for anything that cannot be a base learner."""
    if isinstance(learner, type) or not hasattr(learner, "get_params") or not is_classifier(learner):
        hint = f" (did you mean {learner.__name__}()?)" if isinstance(learner, type) else ""
        if not hint and hasattr(learner, "get_params") and is_regressor(learner):
            hint = ": it is a regressor, and also for numbers learners vote -1 or +1, as a classifier does"
        raise InvalidParameterError(
            f"learner={learner!r} is no learner{hint}. Choose 'cart', 'optimal', 'xgboost', a CartLearner, "
            "OptimalLearner, XGBoostLearner or ClassifierLearner, a scikit-learn classifier, or a list of these."
        )
    last = learner.steps[-1][1] if isinstance(learner, Pipeline) else learner
    if not has_fit_parameter(last, "sample_weight"):
        raise InvalidParameterError(
            f"learner={type(last).__name__}: its fit takes no sample_weight, which boosting needs."
        )
    if voting == "confidence" and not hasattr(learner, "predict_proba"):
        raise InvalidParameterError(
            f"learner={type(last).__name__} has no predict_proba, which voting='confidence' needs."
        )
