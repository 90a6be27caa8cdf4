"""The predictions of fitted estimators."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from .._typing import Features, Matrix, Vector
from ..arguments import require_fraction
from ..errors import InvalidParameterError
from ..matrix.rows import in_memory
from ..model_file.writing import save_model
from ..models.tree_sum import TreeSum
from ..targets.base import plain_labels
from ..targets.quantiles import QuantileTarget
from ..targets.standardising import r_squared
from .attributes import FittedAttributes
from .reading import read_features


class Predicting(FittedAttributes):
    """Predictions of classes and of numbers, and ``save``."""

    def _features(self, X: Any) -> Features:
        check_is_fitted(self)
        return read_features(self, self.fitted_.encoder, X)

    def _staged_predictions(self, X: Any) -> Iterator[NDArray[Any]]:
        features, decode = self._features(X), self.fitted_.target.decode
        return (np.asarray(decode(scores)) for scores in self.fitted_.staged_scores(features))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, compressed if its name ends with ".gz"; ``dualboost.load_model`` reads it."""
        check_is_fitted(self)
        self._check_parameters()
        save_model(self, path)

    def tree_sum(self) -> TreeSum:
        """The computation of the model as data, for exports to other languages."""
        check_is_fitted(self)
        return self.fitted_.tree_sum()


class PredictionMixin(Predicting):
    """Votes, margins, probabilities and classes for rows."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row; a tie goes to the first class."""
        features = self._features(X)
        return self.fitted_.predict(features)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy, for labels of any type that ``fit`` takes."""
        y, sample_weight = map(in_memory, (y, sample_weight))
        return float(accuracy_score(plain_labels(y), self.predict(X), sample_weight=sample_weight))

    def decision_function(self, X: Any) -> Vector:
        """The score of the second class; with more than two classes, a score for each.

        Under "logistic" it is the log-odds of the second class; where the leaves of another loss are corrected, the
        sum of their values and the intercept; elsewhere the normalised margin, in [-1, 1]. With more than two classes,
        under "logistic" the softmax of the scores are the probabilities; elsewhere a score is the share of the weights
        that vote for the class.
        """
        features = self._features(X)
        return self.fitted_.scores(features)

    def predict_proba(self, X: Any) -> Matrix:
        """Class probabilities: under "logistic" the loss itself gives them, since scores are log-odds.

        Elsewhere they are a logistic curve of the score, fitted to rows that the trees were not grown on: the held-out
        rows, or both halves of the training rows, each scored by trees of the other half; see ``calibration``.
        ``predict`` then goes by the sign of the score, as the papers do, not by the probability: if one class is rare,
        the class predicted may have a probability below one half, as with scikit-learn's ``SVC``. With more than two
        classes the curve is the softmax of the scores times a slope.
        """
        features = self._features(X)
        return self.fitted_.probabilities(features)

    def votes(self, X: Any) -> Matrix:
        """The votes of every learner of ``estimators_``, in [-1, 1]; with more than two classes, a last axis for them.

        ``votes(X) @ weights_ + intercept_`` is the score before it is normalised, and the score itself where it is not.
        If all weights are zero, predictions are by the class balance of the training rows instead.
        """
        features = self._features(X)
        return self.fitted_.votes(features)

    def margins(self, X: Any, y: Any) -> Vector:
        """The score of each row's own class y: negative where the row is misclassified.

        With more than two classes, it is the score of the own class minus the largest score of another class.
        Where ``decision_function`` is normalised, it is in [-1, 1].
        """
        features = self._features(X)
        return self.fitted_.margins(features, y)

    def staged_decision_function(self, X: Any) -> Iterator[Vector]:
        """``decision_function`` of the ensemble after each iteration."""
        features = self._features(X)
        return self.fitted_.staged_scores(features)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """``predict`` of the ensemble after each iteration."""
        return self._staged_predictions(X)


CLOSE = 1e-9
"""Coverages that differ by less are equal."""


class NumberPredictionMixin(Predicting):
    """Predictions of numbers."""

    def predict(self, X: Any) -> Vector:
        """A number for each row; of several quantiles the median, interpolated between the levels around one half."""
        features = self._features(X)
        return self.fitted_.predict(features)

    def predict_quantiles(self, X: Any) -> Matrix:
        """A column for each level of ``quantiles``, in increasing order in every row."""
        features = self._features(X)
        return self._quantile_target().quantiles(self.fitted_.scores(features))

    def predict_interval(self, X: Any, coverage: float | None = None) -> Matrix:
        """The lower and the upper end of an interval for each row.

        The ends are the outermost quantiles, or those whose levels differ by ``coverage``. With
        ``interval_calibration="conformal"`` they are moved such that the interval covers that share of new rows on
        average. Ends are rounded outwards by a millionth of the scale of y.
        """
        if coverage is not None:
            require_fraction("coverage", coverage)
        features, target = self._features(X), self._quantile_target()
        shares = [target.coverage(pair) for pair in range(target.n_intervals)]
        if coverage is None:
            pair = 0
        else:
            pair = next((k for k, share in enumerate(shares) if abs(share - coverage) < CLOSE), -1)
        if pair < 0:
            known = ", ".join(f"{share:g}" for share in shares)
            raise InvalidParameterError(f"coverage={coverage!r} is none of the model's: {known}.")
        return target.interval(self.fitted_.scores(features), pair, self.fitted_.calibration)

    def _quantile_target(self) -> QuantileTarget:
        target = self.fitted_.target
        if not isinstance(target, QuantileTarget):
            raise InvalidParameterError(
                "The model has no quantiles: fit with loss='quantile' and quantiles=[0.05, 0.5, 0.95], for example."
            )
        return target

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of the predictions."""
        y, sample_weight = map(in_memory, (y, sample_weight))
        return r_squared(y, self.predict(X), sample_weight)

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """``predict`` of the ensemble after each iteration."""
        return self._staged_predictions(X)
