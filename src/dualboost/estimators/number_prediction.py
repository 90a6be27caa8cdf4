"""The predictions of a fitted regressor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.metrics import r2_score

from .._typing import Vector
from .prediction import FeatureReading


class NumberPredictionMixin(FeatureReading):
    """Predictions for rows."""

    def predict(self, X: Any) -> Vector:
        """A number for each row."""
        features = self._features(X)
        return self.fitted_.predict(features)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of the predictions: the share of the variance of y that they explain."""
        return float(r2_score(y, self.predict(X), sample_weight=sample_weight))

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """What ``predict`` would be for the ensemble as it was optimised after each iteration."""
        features = self._features(X)
        return (self.fitted_.task.decode(scores) for scores in self.fitted_.staged_scores(features))
