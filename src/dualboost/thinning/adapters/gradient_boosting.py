"""scikit-learn's gradient boosting: a constant, and trees times the learning rate."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from ..._typing import Integers, Matrix
from ...errors import UnsupportedModelError
from ..base import two_classes, with_shift
from ..links import MEAN, MEDIAN, Link, Logit, LogProbabilities, link_for
from ..rows import LeafIds, Members
from .scikit_learn import ScikitLearnAdapter, node_counts

TIE = 1e-9
"""Scores of zero, up to rounding, are the second class; all other models take the first one."""
NUMBERS: dict[str, Link] = {"squared_error": MEAN, "absolute_error": MEDIAN, "huber": MEDIAN}


class GradientBoostingAdapter(ScikitLearnAdapter):
    """Leaves are scaled; the first trees kept also get the difference of the intercept from the model's constant."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        constant = DummyClassifier if self._is_classifier else DummyRegressor
        if not (model.init is None or isinstance(model.init, (str, constant))):
            raise UnsupportedModelError(
                f"model {type(model).__name__} begins with init={model.init!r}, which need not be a constant; only "
                f"init=None, 'zero' or a {constant.__name__} can be thinned."
            )
        self.link = self._read_task()
        self._trees = list(model.estimators_.ravel())
        n_scores = len(self.classes) if len(self.classes) > 2 else 1
        values = [model.learning_rate * tree.tree_.value[:, :, 0] for tree in self._trees]
        self.members = Members(values, n_scores, n_scores)
        self.weights = np.ones(len(self.members))
        self.intercept = self._constants()
        self.n_nodes, self.n_leaves = node_counts(self._trees, n_scores)

    def _read_task(self) -> Link:
        if not self._is_classifier:
            return link_for("loss", self._model.loss, NUMBERS)
        if self._has_several_classes:
            self.classes = np.asarray(self._model.classes_)
            return LogProbabilities()
        self.classes, self.cut = two_classes(self._model), -TIE
        return Logit(2.0 if self._model.loss == "exponential" else 1.0)

    def _constants(self) -> Any:
        origin = np.zeros((1, self._model.n_features_in_), dtype=np.float32)
        of_trees = np.array([self._model.learning_rate * tree.predict(origin)[0] for tree in self._trees])
        raw = np.ravel(self.raw_scores(_without_names(self._model), origin))
        found = raw - of_trees.reshape(-1, len(raw)).sum(axis=0)
        return found if len(found) > 1 else float(found[0])

    def leaf_ids(self, X: Any) -> Sequence[LeafIds]:
        X = np.asarray(X) if hasattr(X, "columns") else X  # the trees are fitted without the names of columns
        return list(self._model.apply(X).reshape(-1, len(self._trees)).astype(np.intp).T)

    def written(self, kept: Integers, leaves: list[Matrix], intercept: Any) -> Any:
        changed = [copy.deepcopy(self._trees[tree]) for tree in self.members.trees_of(kept)]
        for tree, own in zip(changed, with_shift(leaves, intercept - self.intercept), strict=True):
            tree.tree_.value[:, :, 0] = own / self._model.learning_rate
        thinned = copy.copy(self._model)
        thinned.estimators_ = np.array(changed, dtype=object).reshape(len(kept), -1)
        thinned.n_estimators_ = len(kept)
        thinned.train_score_ = self._model.train_score_[kept]
        return thinned.set_params(n_estimators=len(kept))


def _without_names(model: Any) -> Any:
    """The model without feature names, so that it predicts on an array without a warning."""
    nameless = copy.copy(model)
    if hasattr(nameless, "feature_names_in_"):
        del nameless.feature_names_in_
    return nameless
