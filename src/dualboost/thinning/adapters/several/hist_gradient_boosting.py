"""scikit-learn's HistGradientBoostingClassifier with several classes: a round is one tree for each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...._typing import Integers, Matrix, Vector
from ...class_base import ClassAdapter
from ...class_members import ClassMembers
from ..hist_gradient_boosting import HistGradientBoostingModel
from .several_classes import has_several_classes


class HistGradientBoostingClassesAdapter(HistGradientBoostingModel, ClassAdapter):
    """In the result, the trees of a round have zeros for the classes that they do not speak for."""

    @classmethod
    def handles(cls, model: Any) -> bool:
        return super().handles(model) and has_several_classes(model)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.classes = np.asarray(model.classes_)
        self.members = ClassMembers.of_rounds([tree.votes for tree in self._trees], len(self.classes))
        self.intercept = self._constants
        self.n_leaves = self.members.n_leaves
        self.n_nodes = 2 * self.n_leaves - len(self.classes)

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        encoded = self._encoded(X)
        return [tree.leaves(encoded) for tree in self._trees]

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        n_classes = len(self.classes)
        trees = [
            self._trees[tree].with_votes(own * np.eye(n_classes)[tree % n_classes])
            for tree, own in zip(self.trees_kept(kept), values, strict=True)
        ]
        return self._of(trees, np.ones(len(trees)), intercept)
