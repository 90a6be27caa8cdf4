"""Any list of fitted classifiers, which vote with their probabilities."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator

from ..._typing import Integers, Vector
from ...errors import UnsupportedModelError
from ..base import ClassWeights, TwoClassAdapter
from ..checks import names_of, pickled_bytes, require_fitted, two_classes
from ..links import Average
from ..outputs import Outputs
from .members import ScaledMember, class_weights_of, probabilities
from .scikit_learn import constants, node_counts

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
