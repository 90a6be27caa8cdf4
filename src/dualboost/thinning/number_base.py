"""The interface to regressors: trees whose values add up to one raw score, which is the prediction or its logarithm."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Scores, Vector
from ..errors import InvalidDataError
from ..tasks import Numbers
from ..tasks.numbers import LARGEST_USUAL
from .base import Adapter
from .figures import number_figures
from .number_links import MEAN, NumberLink, Predicts
from .number_path import NumberLeafPath
from .number_rows import NumberLeaves, NumberRows
from .prices import Prices, prices_for


class NumberAdapter(Adapter):
    """A regressor, whose raw scores are the intercept plus the weighted values of a row's leaves."""

    refits = True
    intercept: float
    predicts: Predicts = MEAN
    leaf_values: Sequence[Vector]
    """The values of each tree's leaves."""

    @abstractmethod
    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        """For each tree the leaf of each row of X: its place in the tree's values."""

    @abstractmethod
    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        """A model of these trees, given the values of all their leaves."""

    @property
    def link(self) -> NumberLink:
        return self.predicts.link

    @property
    def refitted_link(self) -> NumberLink:
        return self.predicts.link

    @property
    def task(self) -> Numbers:
        """Scores are in the units of y, or of its logarithm."""
        return self.link.task(0.0, 1.0)

    def prices(self, knows_others: bool) -> Prices:
        return prices_for(int(self.n_leaves.sum()), knows_others and self.predicts.is_mean)

    def rows(self, X: Any, labels: Vector, counts: Vector) -> NumberRows:
        _require_usual_size(labels)
        leaves = [
            np.asarray(own).astype(np.min_scalar_type(len(values) - 1))
            for own, values in zip(self.leaf_numbers(X), self.leaf_values, strict=True)
        ]
        rows = NumberRows(self.leaf_values, leaves, labels, counts, np.zeros(len(labels)), self.link)
        return replace(rows, full_scores=rows.scores(np.arange(self.n_members), self.weights, self.intercept))

    def leaf_path(self, rows: NumberRows) -> NumberLeafPath:
        return NumberLeafPath(rows)

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        values = [weight * self.leaf_values[j] for j, weight in zip(kept.tolist(), weights.tolist(), strict=True)]
        return self.written(kept, values, intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[NumberLeaves], intercept: float) -> Any:
        return self.written(kept, [own.values for own in leaves], intercept)

    def figures(self, model: Any, X: Any, y: NDArray[Any], scores: Scores) -> dict[str, float]:
        return number_figures(y, self.task.decode(scores))


def _require_usual_size(y: Vector) -> None:
    """Refuse a y whose squares are no numbers."""
    largest = float(np.abs(y).max(initial=0.0))
    if largest and not 1.0 / LARGEST_USUAL < largest < LARGEST_USUAL:
        raise InvalidDataError(
            f"y has numbers of size {largest:.1e}, and thinning needs their squares, which double precision does not "
            f"have: train the model on y in a unit that keeps it between {1.0 / LARGEST_USUAL:g} and {LARGEST_USUAL:g}."
        )
