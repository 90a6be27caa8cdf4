"""scikit-learn's forests and bagging with several classes: the mean of the trees' class probabilities."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from ...._typing import Integers, Matrix, Scores, Vector
from ....errors import UnsupportedModelError
from ...class_base import ClassAdapter
from ...class_links import ClassLink, Shares
from ...class_members import ClassMembers
from ..bagging import BaggingModel
from ..scikit_learn import ScikitLearnModel, node_counts, of_own_trees
from .several_classes import has_several_classes


class AverageClassesAdapter(ScikitLearnModel, ClassAdapter):
    """Refitted leaves are trees of ours, as log-probabilities are no average; the first trees are a smaller mean."""

    link: ClassLink = Shares()

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.classes = np.asarray(model.classes_)
        self._require_trees()
        self.members = ClassMembers.of_vectors([tree.tree_.value[:, 0, :] for tree in model.estimators_])
        self.weights = np.full(self.members.n_members, 1.0 / self.members.n_members)
        self.intercept = np.zeros(len(self.classes))
        self.n_nodes, self.n_leaves = node_counts(model.estimators_)

    def _require_trees(self) -> None:
        expected = (1, len(self.classes))
        if not all(hasattr(own, "tree_") and own.tree_.value.shape[1:] == expected for own in self._model.estimators_):
            raise UnsupportedModelError(
                f"model {type(self._model).__name__} of {len(self.classes)} classes can be thinned if its members are "
                "decision trees that have seen every class."
            )

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        return of_own_trees(self._model, kept, values, intercept)

    def raw_scores(self, model: Any, X: Any) -> Scores:
        return np.asarray(model.predict_proba(X))


class ForestClassesAdapter(AverageClassesAdapter):
    """``RandomForestClassifier`` and ``ExtraTreesClassifier``."""

    describes: ClassVar[str] = "RandomForestClassifier, ExtraTreesClassifier"

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, (RandomForestClassifier, ExtraTreesClassifier)) and has_several_classes(model)

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._model.apply(X).T)

    def rebuild(self, kept: Integers, weights: Vector, intercept: Vector) -> Any:
        """The plain mean: weights are equal and add up to one, as ``Shares`` makes them."""
        thinned = copy.copy(self._model)
        thinned.estimators_ = [self._model.estimators_[j] for j in kept]
        return thinned.set_params(n_estimators=len(kept))


class BaggingClassesAdapter(BaggingModel, AverageClassesAdapter):
    """``BaggingClassifier`` of trees, each on its own features."""

    @classmethod
    def handles(cls, model: Any) -> bool:
        return super().handles(model) and has_several_classes(model)

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return [member.apply(part) for member, part in self._members_with(X)]

    def rebuild(self, kept: Integers, weights: Vector, intercept: Vector) -> Any:
        """The plain mean, as for forests."""
        return self._of_members(kept, [self._model.estimators_[j] for j in kept])
