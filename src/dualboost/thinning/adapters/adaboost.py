"""scikit-learn's AdaBoost: members vote -1 or +1, and the score is divided by the sum of the weights."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from ..._typing import Integers, Vector
from ..base import ClassWeights, looked_up
from ..kinds import NewLeaves
from ..links import Normalised
from ..outputs import Outputs
from .converted_trees import difference
from .members import class_weights_of
from .scikit_learn import ScikitLearnAdapter, are_trees, node_counts, of_own_trees

FULL = 2.0
"""The largest value of the decision function, which is between -2 and 2."""


class AdaBoostAdapter(ScikitLearnAdapter):
    """The weights go into ``estimator_weights_``; an intercept is one more member, a tree without a split."""

    describes: ClassVar[str] = "AdaBoostClassifier"
    link = Normalised(FULL)

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, AdaBoostClassifier)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        used = model.estimator_weights_[: len(model.estimators_)]
        self.weights = FULL * used / used.sum()
        self.refits = are_trees(model.estimators_)
        self.n_nodes, self.n_leaves = node_counts(model.estimators_)

    @property
    def class_weights(self) -> ClassWeights:
        return class_weights_of(self._model.estimators_[:1])

    def outputs(self, X: Any) -> Outputs:
        X = np.asarray(X) if hasattr(X, "columns") else X  # members are fitted without the names of columns
        votes = [member.predict(X) == self.classes[1] for member in self._model.estimators_]
        return np.where(np.array(votes), np.float32(1.0), np.float32(-1.0))

    def leaf_outputs(self, X: Any) -> Outputs | None:
        """The shares of the classes in a leaf: votes alone do not tell leaves apart."""
        if not self.refits:
            return None
        X = np.asarray(X) if hasattr(X, "columns") else X
        leaves = np.column_stack([member.apply(X) for member in self._model.estimators_])
        return looked_up([difference(member.tree_) for member in self._model.estimators_], leaves)

    def rewrite(self, kept: Integers, leaves: Sequence[NewLeaves], intercept: float) -> Any:
        values = [new(difference(self._model.estimators_[j].tree_)) for j, new in zip(kept, leaves, strict=True)]
        return of_own_trees(self._model, kept, values, intercept)

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        thinned = copy.copy(self._model)
        thinned.estimators_ = [self._model.estimators_[j] for j in kept]
        thinned.estimator_errors_ = self._model.estimator_errors_[kept]
        thinned.estimator_weights_ = weights / FULL
        if intercept:
            votes = self.classes[[int(intercept > 0)] * 2 + [int(intercept <= 0)]]
            constant = DecisionTreeClassifier().fit(np.zeros((3, self._model.n_features_in_)), votes)
            thinned.estimators_.append(constant)
            thinned.estimator_errors_ = np.append(thinned.estimator_errors_, np.nan)
            thinned.estimator_weights_ = np.append(thinned.estimator_weights_, abs(intercept) / FULL)
        return thinned.set_params(n_estimators=len(thinned.estimators_))
