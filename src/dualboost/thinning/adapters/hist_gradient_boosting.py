"""scikit-learn's HistGradientBoostingClassifier: its trees cannot be removed, so they are converted to ``Tree``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from ..._typing import Integers, Matrix, Vector
from ...errors import UnsupportedModelError
from ...trees.pruning import pruned
from ...trees.tree import Tree, constant_tree
from ..kinds import NewLeaves
from ..links import Logit
from ..outputs import Outputs
from ..tree_model import ThinnedTreesClassifier
from .scikit_learn import ScikitLearnAdapter, ScikitLearnModel


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
