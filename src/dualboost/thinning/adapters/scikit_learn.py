"""Parts that adapters to scikit-learn's ensembles share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier

from ..._typing import Integers, Matrix, Scores, Vector
from ...estimators.parameters import BALANCED
from ...trees.tree import Tree, constant_tree, pruned
from ..base import Adapter, ClassWeights, names_of, pickled_bytes, require_fitted
from ..links import Plain
from ..tree_model import ThinnedTreesClassifier

# scikit-learn rounds features to single precision before it compares them with a threshold. Ours compare in double
# precision, so that each threshold is moved to the largest number that single precision rounds to the left side.


def difference(tree: Any) -> Vector:
    """P(second class) - P(first class) in each node of a ``tree_`` of a classifier."""
    return np.asarray(tree.value[:, 0, 1] - tree.value[:, 0, 0])


def converted(tree: Any, values: Scores, features: Integers | None = None) -> Tree:
    """A fitted ``tree_`` with other values, of which there is one, or one for each class, for every node.

    ``features`` are the places of its features in the data, if it has a part of them.
    """
    is_leaf = tree.children_left < 0
    if is_leaf[0]:
        return constant_tree(0.0).with_votes(values[:1])
    number = np.where(is_leaf, ~(np.cumsum(is_leaf) - 1), np.cumsum(~is_leaf) - 1)
    inner = ~is_leaf
    feature = tree.feature[inner].astype(np.intp)
    gains = tree.weighted_n_node_samples * tree.impurity
    gain = gains[inner] - gains[tree.children_left[inner]] - gains[tree.children_right[inner]]
    return pruned(
        Tree(
            feature=feature if features is None else features[feature].astype(np.intp),
            threshold=_in_double_precision(tree.threshold[inner]),
            left=number[tree.children_left[inner]].astype(np.intp),
            right=number[tree.children_right[inner]].astype(np.intp),
            missing_left=tree.missing_go_to_left[inner].astype(bool),
            categories={},
            gain=np.maximum(gain, 0.0),
            votes=values[is_leaf],
        )
    )


def _in_double_precision(thresholds: Vector) -> Vector:
    """For each threshold t the largest x in double precision that is at most t after rounding to single precision."""
    nearest = thresholds.astype(np.float32)
    below = np.where(nearest <= thresholds, nearest, np.nextafter(nearest, np.float32(-np.inf)))
    above = np.nextafter(below, np.float32(np.inf))
    middle = 0.5 * (below.astype(float) + above.astype(float))
    with np.errstate(over="ignore"):
        rounds_down = middle.astype(np.float32) <= below
    moved = np.where(rounds_down, middle, np.nextafter(middle, -np.inf))
    return np.asarray(np.minimum(moved, np.finfo(float).max))


CLASS_WEIGHT = "class_weight"
OTHERS = (
    *("scale_pos_weight", "is_unbalance", "unbalance", "unbalanced_sets"),
    *("class_weights", "auto_class_weights"),
)
"""Arguments of boosting libraries that weigh classes."""


def class_weights_of(models: Sequence[Any]) -> ClassWeights:
    """The ``class_weight`` that all of these estimators were trained with; unread if they differ or have others."""
    found = [_weights_of(model) for model in models]
    odd = next((own for own in found if own != found[0] or own.keys() - {CLASS_WEIGHT}), None)
    if odd is None:
        return ClassWeights((found[0].get(CLASS_WEIGHT),))
    what = ", ".join(f"{name}={value!r}" for name, value in (odd or found[0]).items())
    return ClassWeights(unread=f"{what} weighs classes in a part of the model")


def _weights_of(model: Any) -> dict[str, Any]:
    arguments = model.get_params() if hasattr(model, "get_params") else {}
    named = {name: own for name, own in arguments.items() if name.rpartition("__")[2] in (CLASS_WEIGHT, *OTHERS)}
    return {name: _as_balanced(own) for name, own in named.items() if _weighs(own)}


def _weighs(value: Any) -> bool:
    return value is True or not (value is None or value == 1 or value is False)


def _as_balanced(class_weight: Any) -> Any:
    """Forests have a word for balancing each tree's own rows."""
    return BALANCED if isinstance(class_weight, str) and class_weight == "balanced_subsample" else class_weight


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


class ScikitLearnAdapter(Adapter):
    """A fitted estimator, which is saved by pickle."""

    def __init__(self, model: Any) -> None:
        require_fitted(model)
        self._model, self._is_classifier = model, is_classifier(model)

    @property
    def _has_several_classes(self) -> bool:
        classes = getattr(self._model, "classes_", ())
        return not isinstance(classes, list) and len(classes) > 2

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
        if isinstance(self.link, Plain):
            return self.link.inverse(np.asarray(model.predict(X), dtype=float))
        return np.asarray(model.decision_function(X))

    def saved_bytes(self, model: Any) -> int:
        return pickled_bytes(model)


def are_trees(members: Sequence[Any]) -> bool:
    """Whether all members are scikit-learn's trees for two classes."""
    return all(hasattr(member, "tree_") and member.tree_.value.shape[1:] == (1, 2) for member in members)


def of_own_trees(model: Any, kept: Integers, values: Sequence[Matrix], intercept: Any) -> ThinnedTreesClassifier:
    """Some members of an ensemble of trees as trees of ours, since log-odds are no average of probabilities.

    ``values`` has a row for each node of these trees; the rows of leaves are used.
    """
    subsets = getattr(model, "estimators_features_", None)
    trees = [
        converted(model.estimators_[j].tree_, as_votes(own), None if subsets is None else np.asarray(subsets[j]))
        for j, own in zip(kept.tolist(), values, strict=True)
    ]
    thinned = ThinnedTreesClassifier(trees, np.ones(len(trees)), intercept, model.classes_, model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        thinned.feature_names_in_ = model.feature_names_in_
    return thinned


def as_votes(values: Matrix) -> Scores:
    """The values of the leaves of a tree as our trees hold them: a vector where a row has one score."""
    return values[:, 0] if values.shape[1] == 1 else values


def node_counts(members: list[Any], n_together: int = 1) -> tuple[Integers, Integers]:
    """The numbers of nodes and leaves of each ``n_together`` members; a member without a tree counts as one leaf."""
    trees = [getattr(member, "tree_", None) for member in members]
    nodes = np.array([1 if tree is None else tree.node_count for tree in trees], dtype=np.intp)
    leaves = np.array([1 if tree is None else tree.n_leaves for tree in trees], dtype=np.intp)
    return nodes.reshape(-1, n_together).sum(axis=1), leaves.reshape(-1, n_together).sum(axis=1)


def constants(weights: Vector, intercept: float) -> Vector:
    """The constant probability of each class: both add up to one minus the weights, and differ by the intercept."""
    rest = 1.0 - float(weights.sum())
    return np.array([0.5 * (rest - intercept), 0.5 * (rest + intercept)])
