"""AdaBoost, and lists of fitted classifiers."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from ..._typing import Integers, Matrix, Vector
from ...errors import UnsupportedModelError
from ..base import Adapter, ClassWeights, names_of, pickled_bytes, require_fitted, two_classes
from ..links import Average, Normalised
from ..rows import LeafIds, Members
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
    """The weights go into ``estimator_weights_``; an intercept is one more member, a tree without a split.

    The outputs of members are votes. Leaves with equal shares of the classes are one leaf to fits.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.classes, self.link, self.intercept = two_classes(model), Normalised(FULL), 0.0
        used = model.estimator_weights_[: len(model.estimators_)]
        self.weights = FULL * used / used.sum()
        self.refits = are_trees(model.estimators_)
        self.n_nodes, self.n_leaves = node_counts(model.estimators_)
        if self.refits:
            shares = [difference(member.tree_).astype(np.float32) for member in model.estimators_]
            groups = [np.unique(own, return_inverse=True)[1] for own in shares]
            self.members = Members([np.where(own > 0, 1.0, -1.0)[:, None] for own in shares], groups=groups)

    @property
    def class_weights(self) -> ClassWeights:
        return class_weights_of(self._model.estimators_[:1])

    def leaf_ids(self, X: Any) -> Sequence[LeafIds]:
        X = np.asarray(X) if hasattr(X, "columns") else X  # members are fitted without the names of columns
        return [member.apply(X) for member in self._model.estimators_]

    def members_on(self, X: Any) -> tuple[Members, Sequence[LeafIds]]:
        if self.refits:
            return super().members_on(X)
        X = np.asarray(X) if hasattr(X, "columns") else X
        votes = [member.predict(X) == self.classes[1] for member in self._model.estimators_]
        return Members.of_outputs(np.where(np.array(votes), 1.0, -1.0))

    def rewrite(self, kept: Integers, leaves: Sequence[Matrix], intercept: float) -> Any:
        return of_own_trees(self._model, kept, leaves, intercept)

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


class ClassifiersAdapter(Adapter):
    """The result is scikit-learn's ``VotingClassifier`` (soft, weighted), with constant members for an intercept."""

    keeps_type, refits = False, False
    link = Average()

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
                    f"model[{position}] has the classes {member.classes_.tolist()}, model[0] "
                    f"{self.classes.tolist()}; all must have the same two."
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

    def members_on(self, X: Any) -> tuple[Members, Sequence[LeafIds]]:
        positive = [probabilities(member, X, self.classes) for member in self._members]
        return Members.of_outputs(2.0 * np.array(positive) - 1.0)

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
            return np.asarray(self.weights @ np.hstack(self.members_on(X)[0].values).T, dtype=float)
        return 2.0 * np.asarray(model.predict_proba(X))[:, 1] - 1.0

    def saved_bytes(self, model: Any) -> int:
        return pickled_bytes(model)
