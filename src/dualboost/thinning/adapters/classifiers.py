"""AdaBoost, and lists of fitted classifiers."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import AdaBoostClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from ..._typing import Integers, Vector
from ...errors import UnsupportedModelError
from ..base import ClassWeights, TwoClassAdapter, looked_up
from ..links import Average, Normalised
from ..members import NewLeaves, Outputs, names_of, pickled_bytes, require_fitted, two_classes
from .scikit_learn import (
    ScaledMember,
    ScikitLearnAdapter,
    are_trees,
    class_weights_of,
    constants,
    difference,
    node_counts,
    of_own_trees,
    probabilities,
)

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


NEGLIGIBLE = 1e-12
"""A constant member with a smaller share than this is left out."""


class ClassifiersAdapter(TwoClassAdapter):
    """The result is scikit-learn's ``VotingClassifier`` (soft, weighted), with constant members for an intercept."""

    describes: ClassVar[str] = "a list of fitted classifiers"
    keeps_type: ClassVar[bool] = False
    link = Average()

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, (list, tuple))

    def __init__(self, model: Any) -> None:
        if not len(model):
            raise UnsupportedModelError("model is an empty list; pass fitted classifiers.")
        for position, member in enumerate(model):
            if isinstance(member, type) or not hasattr(member, "predict") or not is_classifier(member):
                raise UnsupportedModelError(f"model[{position}] of type {type(member).__name__} is not a classifier.")
            require_fitted(member)
        self._members = list(model)
        self.classes = two_classes(model[0])
        for position, member in enumerate(model):
            if not np.array_equal(two_classes(member), self.classes):
                raise UnsupportedModelError(
                    f"model[{position}] knows the classes {member.classes_.tolist()}, model[0] "
                    f"{self.classes.tolist()}; all must know the same two."
                )
        self.weights, self.intercept = np.full(len(model), 1.0 / len(model)), 0.0
        self.n_nodes, self.n_leaves = node_counts(self._members)

    @property
    def class_weights(self) -> ClassWeights:
        return class_weights_of(self._members)

    @property
    def feature_names(self) -> list[str] | None:
        return names_of(self._members[0])

    @property
    def n_features(self) -> int | None:
        return getattr(self._members[0], "n_features_in_", None)

    def outputs(self, X: Any) -> Outputs:
        positive = [probabilities(member, X, self.classes) for member in self._members]
        return np.asarray(2.0 * np.array(positive) - 1.0, dtype=np.float32)

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        members = [(f"member_{j}", FrozenEstimator(self._with_probabilities(j))) for j in kept]
        shares = weights.tolist()
        X = np.zeros((3, self.n_features or 1))
        for which, share in enumerate(constants(weights, intercept).tolist()):
            if share > NEGLIGIBLE:
                constant = DummyClassifier(strategy="most_frequent").fit(X, self.classes[[which, which, 1 - which]])
                members.append((f"constant_{which}", FrozenEstimator(constant)))
                shares.append(share)
        return VotingClassifier(members, voting="soft", weights=shares).fit(X[:2], self.classes)

    def _with_probabilities(self, position: int) -> Any:
        member = self._members[position]
        return member if hasattr(member, "predict_proba") else ScaledMember(member, 1.0, (0.0, 0.0), self.classes)

    def raw_scores(self, model: Any, X: Any) -> Vector:
        if model is self._members or isinstance(model, (list, tuple)):
            return np.asarray(self.weights @ self.outputs(X), dtype=float)
        return 2.0 * np.asarray(model.predict_proba(X))[:, 1] - 1.0

    def saved_bytes(self, model: Any) -> int:
        return pickled_bytes(model)
