"""scikit-learn's bagging: the mean of the members' class probabilities, each on its own features."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import BaggingClassifier

from ..._typing import Integers, Vector
from ...errors import UnsupportedModelError
from ..base import ClassWeights, looked_up
from ..outputs import Outputs
from .converted_trees import difference
from .members import ScaledMember, class_weights_of, probabilities
from .scikit_learn import AverageAdapter, ScikitLearnModel, averaged_trees, constants


class BaggingModel(ScikitLearnModel):
    """Members that each see some of the features."""

    describes: ClassVar[str] = "BaggingClassifier"
    estimator: ClassVar[type] = BaggingClassifier

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, cls.estimator)

    @property
    def class_weights(self) -> ClassWeights:
        """Members are trained on the positions of the classes."""
        found = class_weights_of(self._model.estimators_[:1])
        names = dict(enumerate(self.classes.tolist())) if self.task.has_classes else {}
        given = [
            {names[k]: own for k, own in one.items() if k in names} if isinstance(one, dict) else one
            for one in found.given
        ]
        return found._replace(given=tuple(given))

    def _members_with(self, X: Any) -> Iterator[tuple[Any, Any]]:
        """Each member with its own features."""
        X = np.asarray(X) if hasattr(X, "columns") else X  # members are fitted without the names of columns
        X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        members = zip(self._model.estimators_, self._model.estimators_features_, strict=True)
        return ((member, X[:, features]) for member, features in members)

    def _of_members(self, kept: Integers, members: list[Any]) -> Any:
        """A model of copies of the members kept, which may be changed."""
        thinned = copy.copy(self._model)
        thinned.estimators_ = members
        thinned.estimators_features_ = [self._model.estimators_features_[j] for j in kept]
        thinned._seeds = np.asarray(self._model._seeds)[kept]  # estimators_samples_ is computed from the seeds
        return thinned.set_params(n_estimators=len(kept))


class BaggingAdapter(BaggingModel, AverageAdapter):
    """The weights are written into the leaves of trees; other members are wrapped in ``ScaledMember``."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._codes = np.arange(2)  # members are trained on the positions of the classes
        if any(len(getattr(member, "classes_", self._codes)) < 2 for member in model.estimators_):
            raise UnsupportedModelError(
                "model BaggingClassifier has a member that was trained on one class only; train it on more rows."
            )

    def outputs(self, X: Any) -> Outputs:
        positive = [probabilities(member, part, self._codes) for member, part in self._members_with(X)]
        return np.asarray(2.0 * np.array(positive) - 1.0, dtype=np.float32)

    def leaf_outputs(self, X: Any) -> Outputs | None:
        """The shares of the classes in a leaf, as the tree itself holds them."""
        if not self.refits:
            return None
        leaves = np.column_stack([member.apply(part) for member, part in self._members_with(X)])
        return looked_up([difference(member.tree_) for member in self._model.estimators_], leaves)

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        members = [self._model.estimators_[j] for j in kept]
        return self._of_members(kept, self._weighted(members, weights, intercept))

    def _weighted(self, members: list[Any], weights: Vector, intercept: float) -> list[Any]:
        if all(hasattr(member, "tree_") for member in members):
            return averaged_trees(members, weights, intercept)
        constant = tuple(constants(weights, intercept).tolist())
        scaled = zip(members, (weights * len(members)).tolist(), strict=True)
        return [ScaledMember(member, scale, constant, self._codes) for member, scale in scaled]
