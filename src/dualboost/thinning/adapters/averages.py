"""scikit-learn's forests and bagging: the mean of the predictions of the members."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..._typing import Integers, Matrix, Scores, Vector
from ...errors import UnsupportedModelError
from ..base import ClassWeights, require_one_output, two_classes
from ..links import MEAN, MEDIAN, Average, Link, Shares, link_for
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

CRITERIA: dict[str, Link] = {
    "squared_error": MEAN,
    "friedman_mse": MEAN,
    "poisson": MEAN,
    "absolute_error": MEDIAN,
}
"""What a leaf predicts, by the criterion of its tree."""


class AverageAdapter(ScikitLearnAdapter):
    """Weights and intercept are written into the leaves, so that the mean over the trees kept is the weighted mean.

    Refitted leaves of classifiers are trees of ours, as log-odds are no average of probabilities.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        n, trees = len(model.estimators_), model.estimators_
        self.weights, self.intercept = np.full(n, 1.0 / n), 0.0
        self.n_nodes, self.n_leaves = node_counts(trees)
        if not self._is_classifier:
            self._require_regression_trees()
            self.link = link_for("criterion", trees[0].criterion, CRITERIA)
            self.members = Members([tree.tree_.value[:, 0, :].copy() for tree in trees])
        elif self._has_several_classes:
            self.classes, self.link = np.asarray(model.classes_), Shares()
            self._require_trees_of_all_classes()
            self.members = Members([tree.tree_.value[:, 0, :] for tree in trees], len(self.classes))
            self.intercept = np.zeros(len(self.classes))
        else:
            self.classes, self.link = two_classes(model), Average()
            self.refits = are_trees(trees)
            if self.refits:
                self.members = Members([difference(tree.tree_)[:, None] for tree in trees])

    def _require_trees_of_all_classes(self) -> None:
        expected = (1, len(self.classes))
        if not all(hasattr(own, "tree_") and own.tree_.value.shape[1:] == expected for own in self._model.estimators_):
            raise UnsupportedModelError(
                f"model {type(self._model).__name__} of {len(self.classes)} classes can be thinned if its members are "
                "decision trees that have seen every class."
            )

    def _require_regression_trees(self) -> None:
        members = self._model.estimators_
        other = next((member for member in members if not hasattr(member, "tree_")), None)
        if other is not None:
            raise UnsupportedModelError(
                f"model {type(self._model).__name__} can be thinned if its members are decision trees; one is a "
                f"{type(other).__name__}."
            )
        require_one_output(self._model, members[0].tree_.n_outputs)

    def leaf_ids(self, X: Any) -> Sequence[LeafIds]:
        return list(self._model.apply(X).T)

    def rebuild(self, kept: Integers, weights: Vector, intercept: Any) -> Any:
        shift = constants(weights, intercept) if self.link.takes_weights else intercept
        return self._of_members(kept, self._changed(kept, (len(kept) * weights).tolist(), shift))

    def rewrite(self, kept: Integers, leaves: Sequence[Matrix], intercept: Any) -> Any:
        if self._is_classifier:
            return of_own_trees(self._model, kept, leaves, intercept)
        return self.written(kept, list(leaves), intercept)

    def written(self, kept: Integers, leaves: list[Matrix], intercept: Any) -> Any:
        changed = self._changed(kept, [0.0] * len(kept), intercept)
        for tree, own in zip(changed, leaves, strict=True):
            tree.tree_.value[:, 0, :] += len(kept) * own
        return self._of_members(kept, changed)

    def _changed(self, kept: Integers, scales: list[float], shift: Any) -> list[Any]:
        """Copies of trees whose values are scaled and shifted; the shift is one number, or one for each class.

        The values are in ``tree_.value``, which scikit-learn's gradient boosting writes to as well.
        """
        changed = [copy.deepcopy(self._model.estimators_[j]) for j in kept]
        for tree, scale in zip(changed, scales, strict=True):
            tree.tree_.value[:, 0, :] = scale * tree.tree_.value[:, 0, :] + shift
        return changed

    def _of_members(self, kept: Integers, members: list[Any]) -> Any:
        thinned = copy.copy(self._model)
        thinned.estimators_ = members
        return thinned.set_params(n_estimators=len(kept))

    def raw_scores(self, model: Any, X: Any) -> Scores:
        if not self._is_classifier:
            return super().raw_scores(model, X)
        found = np.asarray(model.predict_proba(X))
        return found if self._has_several_classes else 2.0 * found[:, 1] - 1.0


class BaggingAdapter(AverageAdapter):
    """Each member has its own features. Members of two classes that are no trees are wrapped in ``ScaledMember``."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._codes = np.arange(2)  # members are trained on the positions of the classes
        if self.link.takes_weights and any(
            len(getattr(member, "classes_", self._codes)) < 2 for member in model.estimators_
        ):
            raise UnsupportedModelError(
                "model BaggingClassifier has a member that was trained on one class only; train it on more rows."
            )

    @property
    def class_weights(self) -> ClassWeights:
        """Members are trained on the positions of the classes."""
        found = class_weights_of(self._model.estimators_[:1])
        names = dict(enumerate(self.classes.tolist())) if self._is_classifier else {}
        given = [
            {names[k]: own for k, own in one.items() if k in names} if isinstance(one, dict) else one
            for one in found.given
        ]
        return found._replace(given=tuple(given))

    def _members_with(self, X: Any) -> Iterator[tuple[Any, Any]]:
        X = np.asarray(X) if hasattr(X, "columns") else X  # members are fitted without the names of columns
        X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        members = zip(self._model.estimators_, self._model.estimators_features_, strict=True)
        return ((member, X[:, features]) for member, features in members)

    def leaf_ids(self, X: Any) -> Sequence[LeafIds]:
        return [member.apply(part) for member, part in self._members_with(X)]

    def members_on(self, X: Any) -> tuple[Members, Sequence[LeafIds]]:
        if self.refits:
            return super().members_on(X)
        positive = [probabilities(member, part, self._codes) for member, part in self._members_with(X)]
        return Members.of_outputs(2.0 * np.array(positive) - 1.0)

    def rebuild(self, kept: Integers, weights: Vector, intercept: Any) -> Any:
        if self.refits:
            return super().rebuild(kept, weights, intercept)
        constant, scales = tuple(constants(weights, intercept).tolist()), (len(kept) * weights).tolist()
        members = [
            ScaledMember(self._model.estimators_[j], scale, constant, self._codes)
            for j, scale in zip(kept, scales, strict=True)
        ]
        return self._of_members(kept, members)

    def _of_members(self, kept: Integers, members: list[Any]) -> Any:
        thinned = super()._of_members(kept, members)
        thinned.estimators_features_ = [self._model.estimators_features_[j] for j in kept]
        thinned._seeds = np.asarray(self._model._seeds)[kept]  # estimators_samples_ is computed from the seeds
        return thinned
