"""scikit-learn's GradientBoostingClassifier with several classes: a round is one tree for each class."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...._typing import Integers, Matrix, Vector
from ...class_base import ClassAdapter
from ...class_members import ClassMembers
from ..gradient_boosting import GradientBoostingModel
from .several_classes import has_several_classes


class GradientBoostingClassesAdapter(GradientBoostingModel, ClassAdapter):
    """The learning rate stays, so that values are divided by it."""

    @classmethod
    def handles(cls, model: Any) -> bool:
        return super().handles(model) and has_several_classes(model)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.classes = np.asarray(model.classes_)
        self.members = ClassMembers.of_rounds(self._values, len(self.classes))
        self.intercept = self._constants()
        self.n_nodes = self.members.n_leaves
        self.n_leaves = (self.n_nodes + len(self.classes)) // 2

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaves(X).T)

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        """The first round gets what the intercepts differ by."""
        changed = [copy.deepcopy(self._trees[tree]) for tree in self.trees_kept(kept)]
        for tree, own in zip(changed, values, strict=True):
            tree.tree_.value[:, 0, 0] = own[:, 0] / self._model.learning_rate
        for tree, shift in zip(changed, intercept - self.intercept, strict=False):
            tree.tree_.value[:, 0, 0] += shift / self._model.learning_rate
        return self._of_trees(kept, changed)
