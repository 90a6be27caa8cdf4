"""XGBoost with several classes: a round is one tree for each class."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...._typing import Integers, Matrix, Vector
from ....errors import UnsupportedModelError
from ...class_base import ClassAdapter
from ...class_members import ClassMembers
from ..xgboost import XGBoostModel, tree_model


class XGBoostClassesAdapter(XGBoostModel, ClassAdapter):
    """Trees that a round grows in parallel for the same class are members of their own."""

    objectives: ClassVar[tuple[str, ...]] = ("multi:softprob", "multi:softmax")

    @classmethod
    def handles(cls, model: Any) -> bool:
        return super().handles(model) and _n_classes(model) > 2

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        n_classes = int(self._json["learner"]["learner_model_param"]["num_class"])
        self.classes = np.arange(n_classes)
        self._order = self._by_members(n_classes)
        self.members = ClassMembers.of_rounds([self._values[j] for j in self._order], n_classes)
        self.weights = np.ones(self.members.n_members)
        self.n_nodes = self.members.n_leaves
        self.n_leaves = (self.n_nodes + n_classes) // 2
        self.intercept = self._base_scores()

    def _require_objective(self) -> None:
        super()._require_objective()
        if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in tree_model(self._json)["trees"][:1]):
            raise UnsupportedModelError(
                "model with multi_strategy='multi_output_tree' cannot be thinned; train it with "
                "multi_strategy='one_output_per_tree'."
            )

    def _by_members(self, n_classes: int) -> list[int]:
        """The trees, those of one round next to each other and in the order of their classes."""
        info = np.array(tree_model(self._json)["tree_info"][: len(self._trees)])
        of_class = [np.flatnonzero(info == k) for k in range(n_classes)]
        return [int(j) for j in np.column_stack(of_class).ravel()]

    def _base_scores(self) -> Vector:
        raw, leaves = self._on_missing()
        said = np.array([self._values[j][leaves[j]] for j in self._order])
        return np.asarray(raw - said.reshape(self.n_members, -1).sum(axis=0))

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        leaves = self._leaves(X)
        return [leaves[:, j] for j in self._order]

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        """The first round gets what the intercepts differ by: the base score stays as it is."""
        columns = [own[:, 0] for own in values]
        for k, shift in enumerate(intercept - self.intercept):
            columns[k] = columns[k] + shift
        trees = [self._order[tree] for tree in self.trees_kept(kept)]
        return self._of_trees(trees, columns, len(self.classes))


def _n_classes(model: Any) -> int:
    """How many classes a model has; 0 if it is not fitted."""
    if hasattr(model, "get_booster"):
        return int(model.n_classes_) if model.__sklearn_is_fitted__() else 0
    return int(json.loads(model.save_config())["learner"]["learner_model_param"]["num_class"])
