"""The interface to other libraries: a fitted model as members whose values add up to its raw score."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._typing import Integers, Matrix, Scores, Vector
from ..errors import UnfittedModelError, UnsupportedModelError
from ..targets import Target
from .links import Link
from .rows import LeafIds, Members, ModelRows, Probability


class ClassWeights(NamedTuple):
    """The weights of classes that a model was trained with, each as scikit-learn writes it; they multiply."""

    given: tuple[Any, ...] = ()
    unread: str = ""
    """Why there may be others, which cannot be read."""


class Adapter(ABC):
    """A fitted model of one library.

    The scores of a row are the intercept plus the weighted values of its leaves. ``__init__`` reads the model, and
    refuses a model that is not fitted or cannot be thinned. It sets the attributes below. No method changes the model.
    """

    keeps_type: bool = True
    """Whether ``rebuild`` returns a model of the same type."""
    refits: bool = True
    """Whether all members are trees, whose leaves can get new values."""
    balances_weights: ClassVar[bool] = False
    """Whether "balanced" counts rows by their sample weights; other libraries count rows."""
    cut: float = 0.0
    """The raw score of two classes above which ``predict`` of the model decides for the second class."""
    classes: NDArray[Any] = np.zeros(0)
    """Those of a classifier, sorted."""

    link: Link
    members: Members = Members([])
    """The trees; a model whose members are no trees overrides ``members_on`` and ``rebuild`` instead."""
    weights: Vector
    """The weight of each member in the model before thinning."""
    intercept: Any
    """A number; for several classes one for each class."""
    n_nodes: Integers
    """The nodes of each member."""
    n_leaves: Integers

    @abstractmethod
    def __init__(self, model: Any) -> None: ...

    @abstractmethod
    def raw_scores(self, model: Any, X: Any) -> Scores:
        """The raw scores of the model, or of a model rebuilt from it."""

    @abstractmethod
    def saved_bytes(self, model: Any) -> int:
        """The size of the model as its own library saves it."""

    def leaf_ids(self, X: Any) -> Sequence[LeafIds]:
        """For each tree the leaf of each row of X: its row in the values of the tree."""
        raise NotImplementedError

    def written(self, kept: Integers, leaves: list[Matrix], intercept: Any) -> Any:
        """A model of these members, given the values of all leaves of their trees, which add up to its raw score."""
        raise NotImplementedError

    def rebuild(self, kept: Integers, weights: Vector, intercept: Any) -> Any:
        """A model of these members, with these weights and this intercept."""
        return self.written(kept, self.members.weighted(kept, weights), intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[Matrix], intercept: Any) -> Any:
        """A model of these members with new leaves, in the units of ``link.refitted``."""
        slope = self.link.slope
        return self.written(kept, [own / slope for own in leaves], intercept / slope)

    def members_on(self, X: Any) -> tuple[Members, Sequence[LeafIds]]:
        """The members, and the leaf of each row of X."""
        return self.members.merged() if self.link.merges_equal_leaves else self.members, self.leaf_ids(X)

    def rows(self, X: Any, labels: Vector, counts: Vector) -> ModelRows:
        """The rows of X for the model."""
        self.link.require_targets(labels)
        members, found = self.members_on(X)
        leaf_ids = [
            np.asarray(own).astype(np.min_scalar_type(len(values) - 1), copy=False)
            for own, values in zip(found, members.values, strict=True)
        ]
        rows = ModelRows(members, leaf_ids, labels, counts, self.target, self.link, np.zeros(0))
        if self.link.takes_weights:  # one product, whose rounding errors at ties of the members are reproducible
            outputs = np.array([rows.outputs(j) for j in range(self.n_members)])
            return replace(rows, full_scores=self.intercept + self.weights @ outputs)
        everything = np.arange(self.n_members), self.weights, self.intercept
        return replace(rows, full_scores=rows.weighted_scores(*everything))

    @property
    def n_members(self) -> int:
        return len(self.weights)

    @property
    def trees_per_member(self) -> int:
        """How many trees are kept or dropped together: a round, where each class has a tree of its own."""
        return self.members.trees_per_member

    @property
    def target(self) -> Target:
        """The target of the model."""
        return self.link.target(self.classes, self.cut)

    @property
    def class_weights(self) -> ClassWeights:
        """The weights of classes in the training."""
        return ClassWeights()

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the columns that the model was trained on, if it has them."""
        return None

    @property
    def n_features(self) -> int | None:
        """The number of columns that the model was trained on, if it has it."""
        return None

    def fresh(self) -> Any | None:
        """An unfitted model that trains as many members in the same way; None if the model cannot be trained again."""
        return None

    def probabilities(self, model: Any, X: Any, scores: Scores) -> Scores:
        """The probabilities, or predictions, of the model, or of one rebuilt from it, which has these raw scores."""
        return self.link.expected(scores)

    def expected(self, raw: Scores) -> Scores:
        """The probabilities, or predictions, of the model before thinning, for its raw scores."""
        return self.link.expected(raw)

    def recalibrated(self, scores: Scores, labels: Vector, counts: Vector) -> Probability:
        """From the raw scores of a rebuilt model to probabilities, if it was fitted to these rows."""
        return self.link.expected

    def with_probabilities(self, model: Any, scores: Scores, labels: Vector, counts: Vector) -> Any:
        """The rebuilt model, with recalibrated probabilities if these are not a fixed function of the raw score."""
        return model


def with_shift(leaves: list[Matrix], shift: Any) -> list[Matrix]:
    """The leaves, where the first tree of each score has the shift of that score added."""
    shifts = np.ravel(shift)
    return [*(own + one for own, one in zip(leaves, shifts, strict=False)), *leaves[len(shifts) :]]


def require_fitted(model: Any) -> None:
    """Raise an error for a scikit-learn estimator that has not been fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise unfitted(model) from error


def unfitted(model: Any) -> UnfittedModelError:
    return UnfittedModelError(f"model {type(model).__name__} is not fitted; call its fit before thinning it.")


def two_classes(model: Any) -> NDArray[Any]:
    """The classes of a fitted classifier, which must be two."""
    classes = model.classes_
    if isinstance(classes, list) or len(classes) != 2:
        n = f"{len(classes)} outputs" if isinstance(classes, list) else f"{len(classes)} classes"
        raise UnsupportedModelError(
            f"model {type(model).__name__} has {n}; models of this kind can be thinned if they have two classes. With "
            "more classes these can: XGBoost, LightGBM, CatBoost, scikit-learn's forests, bagging and gradient "
            "boosting, DualBoostClassifier."
        )
    return np.asarray(classes)


def pickled_bytes(model: Any) -> int:
    """The size of a model that is saved by pickle (or joblib)."""
    return len(pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))


def names_of(model: Any) -> list[str] | None:
    """The column names that a scikit-learn estimator was fitted with, if any."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def require_one_output(model: Any, n_outputs: int) -> None:
    """Raise an error for a regressor of several numbers a row."""
    if n_outputs != 1:
        raise UnsupportedModelError(
            f"model {type(model).__name__} predicts {n_outputs} numbers for each row; regressors of one number can be "
            "thinned: train one for each."
        )
