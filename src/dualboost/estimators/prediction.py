"""What a fitted ensemble answers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import Features, Matrix, Vector
from ..data.features import FeatureEncoder, as_features
from ..errors import InvalidDataError, UnsupportedModelError
from ..models.ensemble import Ensemble
from ..tasks.calibration import MarginCalibration

CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": "allow-nan"}
"""How features are validated, in training and after."""


class PredictionMixin:
    """Votes, margins, probabilities and classes of a fitted estimator."""

    classes_: NDArray[Any]
    _encoder: FeatureEncoder
    _ensemble: Ensemble
    _calibration: MarginCalibration
    _stages: list[Vector] | None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, compressed if its name ends with ".gz"; ``dualboost.load_model`` reads it."""
        from ..model_file.writing import save_model

        save_model(self, path)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row; a tie goes to the first class."""
        return self._to_classes(self.decision_function(X))

    def decision_function(self, X: Any) -> Vector:
        """The normalised margin of the second class, in [-1, 1]."""
        features = self._features(X)
        return self._ensemble.decide(features)

    def predict_proba(self, X: Any) -> Matrix:
        """Class probabilities: a logistic curve of the margin, fitted on the held-out rows or else the training rows.

        Trees deep enough to fit the training rows perfectly make the latter overconfident; hold rows out then.
        """
        decisions = self.decision_function(X)
        positive = self._calibration.probability(decisions)
        return np.column_stack([1.0 - positive, positive])

    def votes(self, X: Any) -> Matrix:
        """Every generated learner's votes in [-1, 1]: ``votes(X) @ weights_`` is the unnormalised score.

        An ensemble without a single weight scores zero and answers with the class balance instead.
        """
        features = self._features(X)
        return self._ensemble.votes(features)

    def margins(self, X: Any, y: Any) -> Vector:
        """The normalised margin of each row's own class y, in [-1, 1]; negative where the row is misclassified."""
        decisions = self.decision_function(X)
        y = np.asarray(y)
        unknown = ~np.isin(y, self.classes_)
        if y.shape != decisions.shape or unknown.any():
            what = f"unknown label {y[unknown].tolist()[0]!r}" if y.shape == decisions.shape else f"shape {y.shape}"
            raise InvalidDataError(f"y has {what}; it must hold one of {self.classes_.tolist()} for each row of X.")
        return np.where(y == self.classes_[1], decisions, -decisions)

    def staged_decision_function(self, X: Any) -> Iterator[Vector]:
        """The normalised margins of the ensemble as it was optimised after each iteration."""
        features = self._features(X)
        if self._stages is None:
            raise UnsupportedModelError(
                "The model was loaded from a file, which holds no stages; only the estimator that was fitted has them."
            )
        return self._ensemble.staged(features, self._stages)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The classes predicted by the ensemble as it was optimised after each iteration."""
        return (self._to_classes(decisions) for decisions in self.staged_decision_function(X))

    def _to_classes(self, decisions: Vector) -> NDArray[Any]:
        classes: NDArray[Any] = self.classes_[(decisions > 0).astype(np.intp)]
        return classes

    def _features(self, X: Any) -> Features:
        check_is_fitted(self, "weights_")
        X = validate_data(self, self._encoder.transform(X), reset=False, **CHECKS)
        return as_features(X) if sparse.issparse(X) else X
