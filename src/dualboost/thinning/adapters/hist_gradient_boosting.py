"""scikit-learn's histogram gradient boosting, whose trees are converted."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Integers, Matrix
from ...errors import UnsupportedModelError
from ...trees.tree import Tree, constant_tree, pruned
from ..base import two_classes
from ..links import LOG_MEAN, MEAN, MEDIAN, Link, Logit, LogProbabilities, link_for
from ..rows import LeafIds, Members
from ..tree_model import ThinnedTreesClassifier
from .scikit_learn import ScikitLearnAdapter, as_votes

NUMBERS: dict[str, Link] = {"squared_error": MEAN, "absolute_error": MEDIAN, "poisson": LOG_MEAN, "gamma": LOG_MEAN}


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


class HistGradientBoostingAdapter(ScikitLearnAdapter):
    """Trees are read from ``_predictors``, the encoder of categories from ``_preprocessor``.

    A thinned classifier is a ``ThinnedTreesClassifier``, since scikit-learn has no public way to remove trees. In it,
    the trees of a round have zeros for the classes of the other trees. A regressor needs its ``_predictors`` only.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        try:
            encoder = model._preprocessor
            missing = {} if encoder is None else _missing_codes(model)
            self._encoder = None if encoder is None else CategoryEncoder(encoder, missing)
            self._trees = [_tree(predictor, missing) for predictors in model._predictors for predictor in predictors]
            constants = np.array(model._baseline_prediction, dtype=float).ravel()
        except (AttributeError, KeyError, IndexError, ValueError) as error:
            raise UnsupportedModelError(
                f"The trees of {type(model).__name__} cannot be read from this version of scikit-learn: {error}"
            ) from error
        self.link, self.keeps_type = self._read_task(), not self._is_classifier
        n_scores = len(constants)
        self.members = Members([tree.votes[:, None] for tree in self._trees], n_scores, n_scores)
        self.weights, self.intercept = np.ones(len(self.members)), constants if n_scores > 1 else float(constants[0])
        self.n_leaves = self.members.sizes()
        self.n_nodes = 2 * self.n_leaves - n_scores

    def _read_task(self) -> Link:
        if not self._is_classifier:
            return link_for("loss", self._model.loss, NUMBERS)
        self.classes = np.asarray(self._model.classes_) if self._has_several_classes else two_classes(self._model)
        return LogProbabilities() if self._has_several_classes else Logit()

    def leaf_ids(self, X: Any) -> Sequence[LeafIds]:
        encoded = np.asarray(X, dtype=float) if self._encoder is None else self._encoder.transform(X)
        return [tree.leaves(encoded) for tree in self._trees]

    def written(self, kept: Integers, leaves: list[Matrix], intercept: Any) -> Any:
        if not self._is_classifier:
            return self._with_predictors(kept, leaves, intercept)
        n_scores = self.members.n_outputs
        trees = [
            pruned(self._trees[tree].with_votes(as_votes(own * np.eye(n_scores)[tree % n_scores])))
            for tree, own in zip(self.members.trees_of(kept), leaves, strict=True)
        ]
        thinned = ThinnedTreesClassifier(
            trees, np.ones(len(trees)), intercept, self.classes, self.n_features or 0, self._encoder
        )
        names = getattr(self._model, "feature_names_in_", None)
        if names is not None:
            thinned.feature_names_in_ = names
        return thinned

    def _with_predictors(self, kept: Integers, leaves: list[Matrix], intercept: Any) -> Any:
        thinned, predictors = copy.copy(self._model), []
        for position, own in zip(kept.tolist(), leaves, strict=True):
            predictor = copy.copy(self._model._predictors[position][0])
            predictor.nodes = predictor.nodes.copy()
            predictor.nodes["value"][predictor.nodes["is_leaf"].astype(bool)] = own[:, 0]
            predictors.append([predictor])
        thinned._predictors = predictors
        thinned._baseline_prediction = np.full_like(self._model._baseline_prediction, intercept, dtype=float)
        return thinned.set_params(max_iter=len(kept))


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
