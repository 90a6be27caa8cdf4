"""LightGBM with several classes: a round is one tree for each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import lightgbm
import numpy as np
from numpy.typing import NDArray

from ...._typing import Integers, Matrix, Vector
from ...class_base import ClassAdapter
from ...class_members import ClassMembers
from ..lightgbm import LightGBMModel


class LightGBMClassesAdapter(LightGBMModel, ClassAdapter):
    """Softmax only: under "multiclassova" every class has a probability of its own, which refitted leaves have not."""

    objectives: ClassVar[tuple[str, ...]] = ("multiclass",)

    @classmethod
    def handles(cls, model: Any) -> bool:
        booster = getattr(model, "_Booster", None) if isinstance(model, lightgbm.LGBMClassifier) else model
        return isinstance(booster, lightgbm.Booster) and booster.num_model_per_iteration() > 1

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        n_classes = self._booster.num_model_per_iteration()
        self.classes = np.asarray(model.classes_) if self._is_estimator else np.arange(n_classes)
        self.members = ClassMembers.of_rounds([tree.votes for tree in self._trees], n_classes)
        self.intercept = np.zeros(n_classes)
        self.n_leaves = self.members.n_leaves
        self.n_nodes = 2 * self.n_leaves - n_classes

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaves(X).T)

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        """The first round gets the intercepts."""
        columns = [own[:, 0] for own in values]
        for k, shift in enumerate(intercept):
            columns[k] = columns[k] + shift
        return self._of_trees(self.trees_kept(kept), columns)
