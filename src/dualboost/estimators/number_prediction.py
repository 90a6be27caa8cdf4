"""The predictions of a fitted regressor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._typing import Vector
from .prediction import FeatureReading


class NumberPredictionMixin(FeatureReading):
    """Predictions for rows."""

    def predict(self, X: Any) -> Vector:
        """A number for each row."""
        features = self._features(X)
        return self.fitted_.predict(features)

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """What ``predict`` would be for the ensemble as it was optimised after each iteration."""
        features = self._features(X)
        return (self.fitted_.task.decode(scores) for scores in self.fitted_.staged_scores(features))
