"""dualboost's own ensembles of several classes: trees with a vote for each class in every leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...._typing import Integers, Matrix, Vector
from ....estimators.classifier import DualBoostClassifier
from ....trees.pruning import pruned
from ...class_base import ClassAdapter
from ...class_members import ClassMembers
from ..scikit_learn import ScikitLearnModel
from .several_classes import has_several_classes


class OwnClassesAdapter(ScikitLearnModel, ClassAdapter):
    """Votes are at most 1 in size, the weights in ``weights_`` do the rest."""

    describes: ClassVar[str] = "DualBoostClassifier"
    balances_weights: ClassVar[bool] = True

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, DualBoostClassifier) and hasattr(model, "fitted_") and has_several_classes(model)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        ensemble = model.fitted_.ensemble
        self.classes = np.asarray(model.classes_)
        self.members = ClassMembers.of_vectors([tree.votes for tree in ensemble.learners])
        self.weights = np.asarray(ensemble.weights, dtype=float)
        self.intercept = np.asarray(ensemble.intercept, dtype=float)
        self.n_leaves = self.members.n_leaves
        self.n_nodes = 2 * self.n_leaves - 1

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        features = self._model._features(X)
        return [tree.leaves(features) for tree in self._model.estimators_]

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        sizes = np.array([max(float(np.abs(own).max()), np.finfo(float).tiny) for own in values])
        trees = [
            pruned(self._model.estimators_[j].with_votes(own / size))
            for j, own, size in zip(kept, values, sizes.tolist(), strict=True)
        ]
        fitted = self._model.fitted_
        moved = replace(fitted, ensemble=replace(fitted.ensemble, intercept=intercept))
        return self._model.with_fitted(moved.with_learners(trees, sizes))
