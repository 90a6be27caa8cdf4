"""The predictions of a fitted regressor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._typing import Matrix, Vector
from ..algebra.devices import in_memory
from ..arguments import require_fraction
from ..errors import InvalidParameterError
from ..tasks.errors_of_numbers import r_squared
from ..tasks.quantiles import QuantileNumbers
from .prediction import FeatureReading

CLOSE = 1e-9
"""Two coverages that differ by less are the same."""


class NumberPredictionMixin(FeatureReading):
    """Predictions for rows."""

    def predict(self, X: Any) -> Vector:
        """A number for each row; of several quantiles the median, interpolated between the levels around one half."""
        features = self._features(X)
        return self.fitted_.predict(features)

    def predict_quantiles(self, X: Any) -> Matrix:
        """A column for each level of ``quantiles``, in increasing order in every row."""
        features = self._features(X)
        return self._quantile_task().quantiles(self.fitted_.scores(features))

    def predict_interval(self, X: Any, coverage: float | None = None) -> Matrix:
        """The lower and the upper end of an interval for each row.

        The ends are the outermost quantiles, or those whose levels differ by ``coverage``. With
        ``calibrate="conformal"`` they are moved such that the interval covers that share of new rows on average. Ends
        are rounded outwards by a millionth of the scale of y.
        """
        if coverage is not None:
            require_fraction("coverage", coverage)
        features, task = self._features(X), self._quantile_task()
        shares = [task.coverage(pair) for pair in range(task.n_intervals)]
        if coverage is None:
            pair = 0
        else:
            pair = next((k for k, share in enumerate(shares) if abs(share - coverage) < CLOSE), -1)
        if pair < 0:
            known = ", ".join(f"{share:g}" for share in shares)
            raise InvalidParameterError(f"coverage={coverage!r} is none of the model's: {known}.")
        return task.interval(self.fitted_.scores(features), pair, self.fitted_.calibration)

    def _quantile_task(self) -> QuantileNumbers:
        task = self.fitted_.task
        if not isinstance(task, QuantileNumbers):
            raise InvalidParameterError(
                "The model has no quantiles: fit with loss='quantile' and quantiles=[0.05, 0.5, 0.95], for example."
            )
        return task

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of the predictions: the share of the variance of y that they explain."""
        y, sample_weight = map(in_memory, (y, sample_weight))
        return r_squared(y, self.predict(X), sample_weight)

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """What ``predict`` would be for the ensemble as it was optimised after each iteration."""
        features = self._features(X)
        return (np.asarray(self.fitted_.task.decode(scores)) for scores in self.fitted_.staged_scores(features))
