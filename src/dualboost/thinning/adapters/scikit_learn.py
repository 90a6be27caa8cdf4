"""What adapters to scikit-learn's ensembles share."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._typing import Integers, Scores, Vector
from ..base import Adapter, ClassWeights, TwoClassAdapter
from ..checks import names_of, pickled_bytes, require_fitted, two_classes
from ..kinds import NewLeaves
from ..links import Average
from ..tree_model import ThinnedTreesClassifier
from .converted_trees import converted, difference
from .members import class_weights_of


class ScikitLearnModel(Adapter):
    """A fitted estimator with a decision function, which is saved by pickle."""

    def __init__(self, model: Any) -> None:
        require_fitted(model)
        self._model = model

    @property
    def class_weights(self) -> ClassWeights:
        return class_weights_of([self._model])

    @property
    def feature_names(self) -> list[str] | None:
        return names_of(self._model)

    @property
    def n_features(self) -> int | None:
        return int(self._model.n_features_in_)

    def fresh(self) -> Any | None:
        return clone(self._model)

    def raw_scores(self, model: Any, X: Any) -> Scores:
        return np.asarray(model.decision_function(X))

    def saved_bytes(self, model: Any) -> int:
        return pickled_bytes(model)


class ScikitLearnAdapter(ScikitLearnModel, TwoClassAdapter):
    """Two classes."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.classes = two_classes(model)
        self.intercept = 0.0


class AverageAdapter(ScikitLearnAdapter):
    """An ensemble whose probabilities are the mean of its members' probabilities."""

    link = Average()

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        n = len(model.estimators_)
        self.weights = np.full(n, 1.0 / n)
        self.refits = are_trees(model.estimators_)
        self.n_nodes, self.n_leaves = node_counts(model.estimators_)

    def rewrite(self, kept: Integers, leaves: Sequence[NewLeaves], intercept: float) -> Any:
        values = [new(difference(self._model.estimators_[j].tree_)) for j, new in zip(kept, leaves, strict=True)]
        return of_own_trees(self._model, kept, values, intercept)

    def raw_scores(self, model: Any, X: Any) -> Vector:
        return 2.0 * np.asarray(model.predict_proba(X))[:, 1] - 1.0


def are_trees(members: Sequence[Any]) -> bool:
    """Whether all members are scikit-learn's trees for two classes."""
    return all(hasattr(member, "tree_") and member.tree_.value.shape[1:] == (1, 2) for member in members)


def of_own_trees(model: Any, kept: Integers, values: Sequence[Scores], intercept: Any) -> ThinnedTreesClassifier:
    """Some members of an ensemble of trees as trees of ours, since log-odds are no average of probabilities.

    ``values`` are those of all nodes of these trees, of which those of the leaves are used.
    """
    subsets = getattr(model, "estimators_features_", None)
    trees = [
        converted(model.estimators_[j].tree_, own, None if subsets is None else np.asarray(subsets[j]))
        for j, own in zip(kept.tolist(), values, strict=True)
    ]
    thinned = ThinnedTreesClassifier(trees, np.ones(len(trees)), intercept, model.classes_, model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        thinned.feature_names_in_ = model.feature_names_in_
    return thinned


def node_counts(members: list[Any]) -> tuple[Integers, Integers]:
    """The numbers of nodes and of leaves of each member; a member that is not a tree counts as one leaf."""
    trees = [getattr(member, "tree_", None) for member in members]
    nodes = [1 if tree is None else tree.node_count for tree in trees]
    leaves = [1 if tree is None else tree.n_leaves for tree in trees]
    return np.array(nodes, dtype=np.intp), np.array(leaves, dtype=np.intp)


def scaled_tree(tree: Any, scale: float, shift: Any) -> Any:
    """A copy of a fitted tree whose values are scaled and shifted; the shift is one number, or one for each class.

    The values are in ``tree_.value``, which scikit-learn's gradient boosting writes to as well.
    """
    changed = copy.deepcopy(tree)
    changed.tree_.value[:, 0, :] = scale * changed.tree_.value[:, 0, :] + shift
    return changed


def averaged_trees(trees: list[Any], weights: Vector, intercept: float) -> list[Any]:
    """Trees whose mean probability is sum_j weights_j P_j plus ``constants``, which make the probabilities add up."""
    scales = weights * len(trees)
    return [scaled_tree(tree, scale, constants(weights, intercept)) for tree, scale in zip(trees, scales, strict=True)]


def constants(weights: Vector, intercept: float) -> Vector:
    """The constant probability of each class: both add up to one minus the weights, and differ by the intercept."""
    rest = 1.0 - float(weights.sum())
    return np.array([0.5 * (rest - intercept), 0.5 * (rest + intercept)])
