"""Members that are classifiers of any kind: their probabilities, and a wrapper that scales these."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ..._typing import Matrix, Vector


def probabilities(member: Any, X: Any, classes: Any) -> Vector:
    """P(second class) by ``predict_proba``, or 0 and 1 by ``predict``."""
    known = list(getattr(member, "classes_", classes))
    if not hasattr(member, "predict_proba"):
        return (np.asarray(member.predict(X)) == classes[1]).astype(float)
    if classes[1] not in known:
        return np.zeros(X.shape[0])
    return np.asarray(member.predict_proba(X))[:, known.index(classes[1])]


class ScaledMember(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose probabilities are scaled and shifted, so that a plain average becomes a weighted one.

    It is needed only for members that are not trees: the leaves of trees are rewritten instead. Loading a model that
    contains a ``ScaledMember`` requires dualboost.
    """

    def __init__(self, member: Any, scale: float, constant: tuple[float, ...], classes: Any) -> None:
        self.member = member
        self.scale = scale
        self.constant = constant
        self.classes = classes

    @property
    def classes_(self) -> Any:
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> ScaledMember:
        """Does nothing, since the member is fitted already."""
        return self

    def predict_proba(self, X: Any) -> Matrix:
        positive = probabilities(self.member, X, self.classes)
        both = np.column_stack([1.0 - positive, positive])
        return self.scale * both + np.asarray(self.constant)

    def predict(self, X: Any) -> Any:
        return self.classes[(self.predict_proba(X)[:, 1] > 0.5).astype(np.intp)]
