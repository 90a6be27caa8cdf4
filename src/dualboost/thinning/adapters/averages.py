"""scikit-learn's forests and bagging: the mean of the members' predictions."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from ..._typing import Integers, Matrix, Scores, Vector
from ...errors import UnsupportedModelError
from ..base import ClassAdapter, ClassWeights, looked_up
from ..links import MEAN, MEDIAN, ClassLink, Shares, predicts_by
from ..members import ClassMembers, Outputs, require_one_output
from .scikit_learn import (
    AverageAdapter,
    ScaledMember,
    ScikitLearnModel,
    ScikitLearnNumbersAdapter,
    averaged_trees,
    class_weights_of,
    constants,
    difference,
    has_several_classes,
    node_counts,
    of_own_trees,
    probabilities,
)


class ForestAdapter(AverageAdapter):
    """The weights are written into the leaves, so that the mean over the trees kept is the weighted mean."""

    describes: ClassVar[str] = "RandomForestClassifier, ExtraTreesClassifier"

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, (RandomForestClassifier, ExtraTreesClassifier))

    def outputs(self, X: Any) -> Outputs:
        values = [difference(tree.tree_) for tree in self._model.estimators_]
        return looked_up(values, self._model.apply(X))

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        thinned = copy.copy(self._model)
        thinned.estimators_ = averaged_trees([self._model.estimators_[j] for j in kept], weights, intercept)
        return thinned.set_params(n_estimators=len(kept))


class BaggingModel(ScikitLearnModel):
    """Members that each see some of the features."""

    describes: ClassVar[str] = "BaggingClassifier"
    estimator: ClassVar[type] = BaggingClassifier

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, cls.estimator)

    @property
    def class_weights(self) -> ClassWeights:
        """Members are trained on the positions of the classes."""
        found = class_weights_of(self._model.estimators_[:1])
        names = dict(enumerate(self.classes.tolist())) if self.target.has_classes else {}
        given = [
            {names[k]: own for k, own in one.items() if k in names} if isinstance(one, dict) else one
            for one in found.given
        ]
        return found._replace(given=tuple(given))

    def _members_with(self, X: Any) -> Iterator[tuple[Any, Any]]:
        """Each member with its own features."""
        X = np.asarray(X) if hasattr(X, "columns") else X  # members are fitted without the names of columns
        X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        members = zip(self._model.estimators_, self._model.estimators_features_, strict=True)
        return ((member, X[:, features]) for member, features in members)

    def _of_members(self, kept: Integers, members: list[Any]) -> Any:
        """A model of copies of the members kept, which may be changed."""
        thinned = copy.copy(self._model)
        thinned.estimators_ = members
        thinned.estimators_features_ = [self._model.estimators_features_[j] for j in kept]
        thinned._seeds = np.asarray(self._model._seeds)[kept]  # estimators_samples_ is computed from the seeds
        return thinned.set_params(n_estimators=len(kept))


class BaggingAdapter(BaggingModel, AverageAdapter):
    """The weights are written into the leaves of trees; other members are wrapped in ``ScaledMember``."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._codes = np.arange(2)  # members are trained on the positions of the classes
        if any(len(getattr(member, "classes_", self._codes)) < 2 for member in model.estimators_):
            raise UnsupportedModelError(
                "model BaggingClassifier has a member that was trained on one class only; train it on more rows."
            )

    def outputs(self, X: Any) -> Outputs:
        positive = [probabilities(member, part, self._codes) for member, part in self._members_with(X)]
        return np.asarray(2.0 * np.array(positive) - 1.0, dtype=np.float32)

    def leaf_outputs(self, X: Any) -> Outputs | None:
        """The shares of the classes in a leaf, as the tree itself holds them."""
        if not self.refits:
            return None
        leaves = np.column_stack([member.apply(part) for member, part in self._members_with(X)])
        return looked_up([difference(member.tree_) for member in self._model.estimators_], leaves)

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        members = [self._model.estimators_[j] for j in kept]
        return self._of_members(kept, self._weighted(members, weights, intercept))

    def _weighted(self, members: list[Any], weights: Vector, intercept: float) -> list[Any]:
        if all(hasattr(member, "tree_") for member in members):
            return averaged_trees(members, weights, intercept)
        constant = tuple(constants(weights, intercept).tolist())
        scaled = zip(members, (weights * len(members)).tolist(), strict=True)
        return [ScaledMember(member, scale, constant, self._codes) for member, scale in scaled]


class AverageClassesAdapter(ScikitLearnModel, ClassAdapter):
    """Refitted leaves are trees of ours, as log-probabilities are no average; the first trees are a smaller mean."""

    link: ClassLink = Shares()

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.classes = np.asarray(model.classes_)
        self._require_trees()
        self.members = ClassMembers.of_vectors([tree.tree_.value[:, 0, :] for tree in model.estimators_])
        self.weights = np.full(self.members.n_members, 1.0 / self.members.n_members)
        self.intercept = np.zeros(len(self.classes))
        self.n_nodes, self.n_leaves = node_counts(model.estimators_)

    def _require_trees(self) -> None:
        expected = (1, len(self.classes))
        if not all(hasattr(own, "tree_") and own.tree_.value.shape[1:] == expected for own in self._model.estimators_):
            raise UnsupportedModelError(
                f"model {type(self._model).__name__} of {len(self.classes)} classes can be thinned if its members are "
                "decision trees that have seen every class."
            )

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        return of_own_trees(self._model, kept, values, intercept)

    def raw_scores(self, model: Any, X: Any) -> Scores:
        return np.asarray(model.predict_proba(X))


class ForestClassesAdapter(AverageClassesAdapter):
    """``RandomForestClassifier`` and ``ExtraTreesClassifier``."""

    describes: ClassVar[str] = "RandomForestClassifier, ExtraTreesClassifier"

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, (RandomForestClassifier, ExtraTreesClassifier)) and has_several_classes(model)

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._model.apply(X).T)

    def rebuild(self, kept: Integers, weights: Vector, intercept: Vector) -> Any:
        """The plain mean: weights are equal and add up to one, as ``Shares`` makes them."""
        thinned = copy.copy(self._model)
        thinned.estimators_ = [self._model.estimators_[j] for j in kept]
        return thinned.set_params(n_estimators=len(kept))


class BaggingClassesAdapter(BaggingModel, AverageClassesAdapter):
    """``BaggingClassifier`` of trees, each on its own features."""

    @classmethod
    def handles(cls, model: Any) -> bool:
        return super().handles(model) and has_several_classes(model)

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return [member.apply(part) for member, part in self._members_with(X)]

    def rebuild(self, kept: Integers, weights: Vector, intercept: Vector) -> Any:
        """The plain mean, as for forests."""
        return self._of_members(kept, [self._model.estimators_[j] for j in kept])


CRITERIA = {"squared_error": MEAN, "friedman_mse": MEAN, "poisson": MEAN, "absolute_error": MEDIAN}
"""What a leaf predicts, by the criterion of its tree."""


class AverageNumbersAdapter(ScikitLearnNumbersAdapter):
    """New leaves are multiplied by the number of trees kept, and all of them get the intercept."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        members = model.estimators_
        if not all(hasattr(member, "tree_") for member in members):
            raise UnsupportedModelError(
                f"model {type(model).__name__} can be thinned if its members are decision trees; one is a "
                f"{type(next(member for member in members if not hasattr(member, 'tree_'))).__name__}."
            )
        require_one_output(model, members[0].tree_.n_outputs)
        self.predicts = predicts_by("criterion", members[0].criterion, CRITERIA)
        self.leaf_values = [tree.tree_.value[:, 0, 0].copy() for tree in members]
        self.weights, self.intercept = np.full(len(members), 1.0 / len(members)), 0.0
        self.n_nodes, self.n_leaves = node_counts(members)

    def _with_values(self, kept: Integers, values: list[Vector], intercept: float) -> list[Any]:
        """Copies of the trees kept, whose mean is the sum of the values and the intercept."""
        changed = [copy.deepcopy(self._model.estimators_[j]) for j in kept]
        for tree, own in zip(changed, values, strict=True):
            tree.tree_.value[:, 0, 0] = len(kept) * own + intercept
        return changed


class ForestNumbersAdapter(AverageNumbersAdapter):
    """``RandomForestRegressor`` and ``ExtraTreesRegressor``."""

    describes: ClassVar[str] = "RandomForestRegressor, ExtraTreesRegressor"

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, (RandomForestRegressor, ExtraTreesRegressor))

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._model.apply(X).T)

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        thinned = copy.copy(self._model)
        thinned.estimators_ = self._with_values(kept, values, intercept)
        return thinned.set_params(n_estimators=len(kept))


class BaggingNumbersAdapter(BaggingModel, AverageNumbersAdapter):
    """``BaggingRegressor`` of trees, each on its own features."""

    describes: ClassVar[str] = "BaggingRegressor of trees"
    estimator: ClassVar[type] = BaggingRegressor

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return [member.apply(part) for member, part in self._members_with(X)]

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        return self._of_members(kept, self._with_values(kept, values, intercept))
