"""scikit-learn's gradient boosting: a constant, and trees times the learning rate."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from ..._typing import Integers, Matrix, Vector
from ...errors import UnsupportedModelError
from ..base import ClassAdapter, looked_up
from ..links import MEAN, MEDIAN, Logit, predicts_by
from ..members import ClassMembers, NewLeaves, Outputs
from .scikit_learn import (
    ScikitLearnAdapter,
    ScikitLearnModel,
    ScikitLearnNumbersAdapter,
    has_several_classes,
    node_counts,
    scaled_tree,
)

TIE = 1e-9
"""Scores of zero, up to rounding, are the second class; all other models take the first one."""


class GradientBoostingModel(ScikitLearnModel):
    """Leaves are scaled; the first trees kept also get the difference of the intercept from the model's constant."""

    describes: ClassVar[str] = "GradientBoostingClassifier"
    estimator: ClassVar[type] = GradientBoostingClassifier
    constant: ClassVar[type] = DummyClassifier
    """What the model may begin with."""

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, cls.estimator)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        if not (model.init is None or isinstance(model.init, (str, self.constant))):
            raise UnsupportedModelError(
                f"model {type(model).__name__} begins with init={model.init!r}, which need not be a constant; only "
                f"init=None, 'zero' or a {self.constant.__name__} can be thinned."
            )
        self._trees = list(model.estimators_.ravel())
        self._values = [model.learning_rate * tree.tree_.value[:, 0, 0] for tree in self._trees]
        self.weights = np.ones(len(model.estimators_))

    def _constants(self) -> Vector:
        """What the model adds to its trees: one number, or one for each class."""
        origin = np.zeros((1, self._model.n_features_in_), dtype=np.float32)
        said = np.array([self._model.learning_rate * tree.predict(origin)[0] for tree in self._trees])
        raw = np.ravel(self.raw_scores(_without_names(self._model), origin))
        return np.asarray(raw - said.reshape(-1, len(raw)).sum(axis=0))

    def _leaves(self, X: Any) -> Integers:
        """The leaf of each row, in one column for each tree."""
        X = np.asarray(X) if hasattr(X, "columns") else X  # the trees are fitted without the names of columns
        return self._model.apply(X).reshape(-1, len(self._trees)).astype(np.intp)

    def _of_trees(self, kept: Integers, changed: list[Any]) -> Any:
        """A model of copies of the trees of these rounds."""
        thinned = copy.copy(self._model)
        thinned.estimators_ = np.array(changed, dtype=object).reshape(len(kept), -1)
        thinned.n_estimators_ = len(kept)
        thinned.train_score_ = self._model.train_score_[kept]
        return thinned.set_params(n_estimators=len(kept))


class GradientBoostingAdapter(GradientBoostingModel, ScikitLearnAdapter):
    """Two classes."""

    refits = True
    link: Logit

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.link = Logit(2.0 if model.loss == "exponential" else 1.0)
        self.cut = -TIE
        self.intercept = float(self._constants()[0])
        self.n_nodes, self.n_leaves = node_counts(self._trees)

    def outputs(self, X: Any) -> Outputs:
        return looked_up(self._values, self._leaves(X))

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        changed = [scaled_tree(self._trees[j], weight, 0.0) for j, weight in zip(kept, weights, strict=True)]
        return self._of(kept, changed, intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[NewLeaves], intercept: float) -> Any:
        rate, slope = self._model.learning_rate, self.link.slope
        changed = [copy.deepcopy(self._trees[j]) for j in kept]
        for tree, new in zip(changed, leaves, strict=True):
            tree.tree_.value[:, 0, 0] = new(rate * tree.tree_.value[:, 0, 0]) / (rate * slope)
        return self._of(kept, changed, intercept / slope)

    def _of(self, kept: Integers, changed: list[Any], intercept: float) -> Any:
        """A model of copies of some trees, the first of which gets what the intercept differs by."""
        shift = (intercept - self.intercept) / self._model.learning_rate
        changed[0].tree_.value[:, 0, 0] += shift
        return self._of_trees(kept, changed)


def _without_names(model: Any) -> Any:
    """The model without feature names, so that it predicts on an array without a warning."""
    nameless = copy.copy(model)
    if hasattr(nameless, "feature_names_in_"):
        del nameless.feature_names_in_
    return nameless


class GradientBoostingClassesAdapter(GradientBoostingModel, ClassAdapter):
    """The learning rate stays, so that values are divided by it."""

    @classmethod
    def handles(cls, model: Any) -> bool:
        return super().handles(model) and has_several_classes(model)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.classes = np.asarray(model.classes_)
        self.members = ClassMembers.of_rounds(self._values, len(self.classes))
        self.intercept = self._constants()
        self.n_nodes = self.members.n_leaves
        self.n_leaves = (self.n_nodes + len(self.classes)) // 2

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaves(X).T)

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        """The first round gets what the intercepts differ by."""
        changed = [copy.deepcopy(self._trees[tree]) for tree in self.trees_kept(kept)]
        for tree, own in zip(changed, values, strict=True):
            tree.tree_.value[:, 0, 0] = own[:, 0] / self._model.learning_rate
        for tree, shift in zip(changed, intercept - self.intercept, strict=False):
            tree.tree_.value[:, 0, 0] += shift / self._model.learning_rate
        return self._of_trees(kept, changed)


LOSSES = {"squared_error": MEAN, "absolute_error": MEDIAN, "huber": MEDIAN}


class GradientBoostingNumbersAdapter(GradientBoostingModel, ScikitLearnNumbersAdapter):
    """The learning rate stays, so that values are divided by it."""

    describes: ClassVar[str] = "GradientBoostingRegressor"
    estimator: ClassVar[type] = GradientBoostingRegressor
    constant: ClassVar[type] = DummyRegressor

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.predicts = predicts_by("loss", model.loss, LOSSES)
        self.leaf_values = self._values
        self.intercept = float(self._constants()[0])
        self.n_nodes, self.n_leaves = node_counts(self._trees)

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaves(X).T)

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        """The first tree gets what the intercept differs by."""
        rate, changed = self._model.learning_rate, [copy.deepcopy(self._trees[j]) for j in kept]
        for tree, own in zip(changed, values, strict=True):
            tree.tree_.value[:, 0, 0] = own / rate
        changed[0].tree_.value[:, 0, 0] += (intercept - self.intercept) / rate
        return self._of_trees(kept, changed)
