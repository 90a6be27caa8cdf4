"""CatBoost with several classes: trees with a value for each class in every leaf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...._typing import Integers, Matrix, Scores, Vector
from ....errors import UnsupportedModelError
from ...class_base import ClassAdapter
from ...class_members import ClassMembers
from ..catboost import CatBoostModel

LOSS = "MultiClass"
"""The loss whose probabilities are the softmax of the scores."""


class CatBoostClassesAdapter(CatBoostModel, ClassAdapter):
    """The intercepts are the model's bias; columns are sorted by class, where CatBoost has another order."""

    @classmethod
    def handles(cls, model: Any) -> bool:
        return super().handles(model) and model.is_fitted() and np.size(model.get_scale_and_bias()[1]) > 1

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        if self._loss != LOSS:
            raise UnsupportedModelError(
                f"model with loss_function={self._loss!r} and {len(model.classes_)} classes cannot be thinned; one "
                f"with {LOSS!r} can."
            )
        self._order = np.argsort(model.classes_)
        self.classes = np.asarray(model.classes_)[self._order]
        self.members = ClassMembers.of_vectors([values[:, self._order] for values in self._values])
        self.intercept = self._bias[self._order]

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaf_indices(X).T)

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        back = np.argsort(self._order)
        return self._of(kept, [own[:, back] for own in values], intercept[back].tolist())

    def raw_scores(self, model: Any, X: Any) -> Scores:
        return super().raw_scores(model, X)[:, self._order]

    def probabilities(self, model: Any, X: Any, scores: Scores) -> Scores:
        return super().probabilities(model, X, scores)[:, self._order]
