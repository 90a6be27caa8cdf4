"""dualboost's own ensembles for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...._typing import Integers, Scores, Vector
from ....errors import UnsupportedModelError
from ....estimators.regressor import DualBoostRegressor
from ....trees.pruning import pruned
from ....trees.tree import Tree
from ...number_links import LOG_MEAN, MEAN, MEDIAN, predicts_by
from .scikit_learn import ScikitLearnNumbersAdapter

LOSSES = {
    "squared": MEAN,
    "huber": MEDIAN,
    "absolute": MEDIAN,
    "epsilon_insensitive": MEDIAN,
    "poisson": LOG_MEAN,
}


class OwnNumbersAdapter(ScikitLearnNumbersAdapter):
    """Votes are at most 1 in size and weights those of the standardised y, as ``fitted_`` has them.

    ``objective_`` and ``gap_`` of the result are nan, as for classifiers: its leaves are optimal for the C and the y of
    the thinning, not for its own. ``ThinResult.gap`` is their gap.
    """

    describes: ClassVar[str] = "DualBoostRegressor"

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, DualBoostRegressor)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        fitted = model.fitted_
        self.predicts = predicts_by("loss", fitted.formulation.name, LOSSES)
        self._units = fitted.task.units
        ensemble = fitted.in_units
        self._trees = [tree for tree in ensemble.learners if isinstance(tree, Tree)]
        if not ensemble.learners:
            raise UnsupportedModelError("model DualBoostRegressor has no tree to remove: every row gets the same.")
        if len(self._trees) < len(ensemble.learners):
            raise UnsupportedModelError(
                "model DualBoostRegressor can be thinned if it has learners that are all trees."
            )
        self.leaf_values = [tree.votes for tree in self._trees]
        self.weights, self.intercept = np.asarray(ensemble.weights, dtype=float), float(ensemble.intercept)
        self.n_leaves = np.array([tree.n_leaves for tree in self._trees], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        features = self._model._features(X)
        return [tree.leaves(features) for tree in self._trees]

    def raw_scores(self, model: Any, X: Any) -> Scores:
        return self._units.origin + self._units.unit * model.fitted_.scores(model._features(X))

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        standard = [own / self._units.unit for own in values]
        sizes = np.array([max(float(np.abs(own).max()), np.finfo(float).tiny) for own in standard])
        trees = [
            pruned(self._trees[j].with_votes(own / size))
            for j, own, size in zip(kept.tolist(), standard, sizes.tolist(), strict=True)
        ]
        fitted = self._model.fitted_
        moved = replace(fitted.ensemble, intercept=(intercept - self._units.origin) / self._units.unit)
        return self._model.with_fitted(replace(fitted, ensemble=moved).with_learners(trees, sizes))
