"""scikit-learn's histogram gradient boosting, whose trees are converted."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from ..._typing import Integers, Matrix, Vector
from ...errors import UnsupportedModelError
from ...trees.tree import Tree, constant_tree, pruned
from ..base import ClassAdapter
from ..links import LOG_MEAN, MEAN, MEDIAN, Logit, predicts_by
from ..members import ClassMembers, NewLeaves, Outputs
from ..tree_model import ThinnedTreesClassifier
from .scikit_learn import ScikitLearnAdapter, ScikitLearnModel, ScikitLearnNumbersAdapter, has_several_classes


@dataclass(frozen=True, eq=False)
class CategoryEncoder:
    """The model's own encoder, with one more code for a missing or unknown category."""

    encoder: Any
    missing_codes: dict[int, int]

    def transform(self, X: Any) -> Matrix:
        encoded = np.array(self.encoder.transform(X), dtype=float)
        for feature, code in self.missing_codes.items():
            encoded[np.isnan(encoded[:, feature]), feature] = code
        return encoded


class HistGradientBoostingModel(ScikitLearnModel):
    """The result is a ``ThinnedTreesClassifier``, since scikit-learn has no public way to remove trees.

    The trees are read from ``_predictors``, the encoder of categories from ``_preprocessor``.
    """

    describes: ClassVar[str] = "HistGradientBoostingClassifier (the result is a ThinnedTreesClassifier)"
    estimator: ClassVar[type] = HistGradientBoostingClassifier
    keeps_type: ClassVar[bool] = False

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, cls.estimator)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        try:
            encoder = model._preprocessor
            missing = {} if encoder is None else _missing_codes(model)
            self._encoder = None if encoder is None else CategoryEncoder(encoder, missing)
            self._trees = [_tree(predictor, missing) for predictors in model._predictors for predictor in predictors]
            self._constants = np.array(model._baseline_prediction, dtype=float).ravel()
        except (AttributeError, KeyError, IndexError, ValueError) as error:
            raise UnsupportedModelError(
                f"The trees of {type(model).__name__} cannot be read from this version of scikit-learn: {error}"
            ) from error
        self.weights = np.ones(len(model._predictors))

    def _encoded(self, X: Any) -> Matrix:
        return np.asarray(X, dtype=float) if self._encoder is None else self._encoder.transform(X)

    def _of(self, trees: list[Tree], weights: Vector, intercept: Any) -> Any:
        trees = [pruned(tree) for tree in trees]
        thinned = ThinnedTreesClassifier(trees, weights, intercept, self.classes, self.n_features or 0, self._encoder)
        names = getattr(self._model, "feature_names_in_", None)
        if names is not None:
            thinned.feature_names_in_ = names
        return thinned


class HistGradientBoostingAdapter(HistGradientBoostingModel, ScikitLearnAdapter):
    """Two classes."""

    link = Logit()
    refits = True

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.intercept = float(self._constants[0])
        self.n_leaves = np.array([tree.n_leaves for tree in self._trees], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    def outputs(self, X: Any) -> Outputs:
        encoded = self._encoded(X)
        return np.array([tree.vote(encoded) for tree in self._trees], dtype=np.float32)

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        return self._of([self._trees[j] for j in kept], weights, intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[NewLeaves], intercept: float) -> Any:
        trees = [self._trees[j].with_votes(new(self._trees[j].votes)) for j, new in zip(kept, leaves, strict=True)]
        return self._of(trees, np.ones(len(trees)), intercept)


def _missing_codes(model: Any) -> dict[int, int]:
    """For each categorical feature, by its position, the code of a missing category: one beyond the known codes."""
    categories = model._preprocessor.named_transformers_["encoder"].categories_
    return {feature: len(known) for feature, known in enumerate(categories)}  # the encoder puts categories first


def _tree(predictor: Any, missing_codes: dict[int, int]) -> Tree:
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"].astype(bool)
    if len(nodes) == 1:
        return constant_tree(float(nodes["value"][0]))
    number = np.where(is_leaf, ~(np.cumsum(is_leaf) - 1), np.cumsum(~is_leaf) - 1)
    inner = nodes[~is_leaf]
    is_categorical = inner["is_categorical"].astype(bool)
    missing_left = inner["missing_go_to_left"].astype(bool)
    categories = {}
    for node in np.flatnonzero(is_categorical).tolist():
        bits = np.ascontiguousarray(predictor.raw_left_cat_bitsets[inner["bitset_idx"][node]])
        codes = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
        extra = [missing_codes[int(inner["feature_idx"][node])]] if missing_left[node] else []
        categories[node] = np.append(codes, extra).astype(np.intp)
    return Tree(
        feature=inner["feature_idx"].astype(np.intp),
        threshold=np.minimum(inner["num_threshold"], np.finfo(float).max),
        left=number[inner["left"]].astype(np.intp),
        right=number[inner["right"]].astype(np.intp),
        missing_left=missing_left & ~is_categorical,
        categories=categories,
        gain=np.maximum(inner["gain"], 0.0),
        votes=nodes["value"][is_leaf],
    )


class HistGradientBoostingClassesAdapter(HistGradientBoostingModel, ClassAdapter):
    """In the result, the trees of a round have zeros for the classes that they do not speak for."""

    @classmethod
    def handles(cls, model: Any) -> bool:
        return super().handles(model) and has_several_classes(model)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.classes = np.asarray(model.classes_)
        self.members = ClassMembers.of_rounds([tree.votes for tree in self._trees], len(self.classes))
        self.intercept = self._constants
        self.n_leaves = self.members.n_leaves
        self.n_nodes = 2 * self.n_leaves - len(self.classes)

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        encoded = self._encoded(X)
        return [tree.leaves(encoded) for tree in self._trees]

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        n_classes = len(self.classes)
        trees = [
            self._trees[tree].with_votes(own * np.eye(n_classes)[tree % n_classes])
            for tree, own in zip(self.trees_kept(kept), values, strict=True)
        ]
        return self._of(trees, np.ones(len(trees)), intercept)


LOSSES = {"squared_error": MEAN, "absolute_error": MEDIAN, "poisson": LOG_MEAN, "gamma": LOG_MEAN}


class HistGradientBoostingNumbersAdapter(HistGradientBoostingModel, ScikitLearnNumbersAdapter):
    """Trees are read from ``_predictors`` and written there: what they predict is all that the model has of them."""

    describes: ClassVar[str] = "HistGradientBoostingRegressor"
    estimator: ClassVar[type] = HistGradientBoostingRegressor
    keeps_type: ClassVar[bool] = True

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.predicts = predicts_by("loss", model.loss, LOSSES)
        self.leaf_values = [tree.votes for tree in self._trees]
        self.intercept = float(self._constants[0])
        self.n_leaves = np.array([tree.n_leaves for tree in self._trees], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        encoded = self._encoded(X)
        return [tree.leaves(encoded) for tree in self._trees]

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        thinned = copy.copy(self._model)
        thinned._predictors = [[self._changed(j, own)] for j, own in zip(kept.tolist(), values, strict=True)]
        thinned._baseline_prediction = np.full_like(self._model._baseline_prediction, intercept, dtype=float)
        return thinned.set_params(max_iter=len(kept))

    def _changed(self, position: int, values: Vector) -> Any:
        """A copy of a tree with other leaves."""
        predictor = copy.copy(self._model._predictors[position][0])
        predictor.nodes = predictor.nodes.copy()
        predictor.nodes["value"][predictor.nodes["is_leaf"].astype(bool)] = values
        return predictor
