"""A classifier made of dualboost's own trees, for models whose library does not allow trees to be removed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from .._typing import Features, Matrix, Scores
from ..errors import UnsupportedModelError
from ..model_file.writing import save_model
from ..models.ensemble import Ensemble
from ..models.tree_sum import Inputs, TreeSum, tree_sum
from ..targets.base import Target
from ..targets.classes import BinaryTarget, MulticlassTarget
from ..trees.lightgbm_text import format_model, require_readable_cuts
from ..trees.tree import Tree


class ThinnedTreesClassifier(ClassifierMixin, BaseEstimator):
    """The weighted sum of trees and an intercept, as log-odds of the second class.

    With more than two classes, leaves and intercept hold a number for each class, and scores are log-probabilities up
    to a number for each row.

    It can predict, be pickled and be saved, but not be trained: ``fit`` raises an error. ``booster_`` is the same sum,
    for two classes without the intercept, as a LightGBM model of the encoded features.
    """

    truths: frozenset[int] = frozenset()
    """The columns that were truth values when the model was thinned."""

    def __init__(
        self,
        trees: Sequence[Tree] = (),
        weights: Any = (),
        intercept: Any = 0.0,
        classes: Any = (0, 1),
        n_features: int = 0,
        encoder: Any = None,
    ) -> None:
        self.trees = trees
        self.weights = weights
        self.intercept = intercept
        self.classes = classes
        self.n_features = n_features
        self.encoder = encoder

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"ThinnedTreesClassifier({len(self.trees)} trees)"

    @property
    def classes_(self) -> NDArray[Any]:
        return np.asarray(self.classes)

    @property
    def n_features_in_(self) -> int:
        return self.n_features

    @property
    def n_leaves_(self) -> int:
        return sum(tree.n_leaves for tree in self.trees)

    def __sklearn_is_fitted__(self) -> bool:
        return len(self.trees) > 0

    def fit(self, X: Any, y: Any) -> ThinnedTreesClassifier:
        """Not possible: train the original model again and thin it."""
        raise NotImplementedError("A thinned model cannot be trained; train the model it comes from, and thin that.")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, compressed if its name ends with ".gz"; ``dualboost.load_model`` reads it."""
        save_model(self, path)

    def tree_sum(self) -> TreeSum:
        """What the model computes, as data: for those who write it in another language."""
        if self.encoder is not None:
            raise UnsupportedModelError(
                "A ThinnedTreesClassifier with categorical features cannot be exported: it holds scikit-learn's "
                "encoder. Fit a DualBoostClassifier, or encode the categories before the model that is thinned."
            )
        target: Target = (BinaryTarget if np.ndim(self.intercept) == 0 else MulticlassTarget)(self.classes_)
        inputs = Inputs.of(self.n_features, getattr(self, "feature_names_in_", None), {}, self.truths)
        output_transform = target.output_transform(target.identity_calibration(), is_normalised=False)
        return tree_sum(self._sum, output_transform, inputs)

    @property
    def booster_(self) -> lightgbm.Booster:
        if not hasattr(self, "_booster"):
            if np.ndim(self.intercept) == 0:
                trees, scales, n_classes = list(self.trees), np.asarray(self.weights), 1
            else:
                trees, n_classes = self._sum.single_output_trees(), len(self.intercept)
                scales = np.ones(len(trees))
            require_readable_cuts(trees, lambda feature: f"feature {feature}")
            self._booster = lightgbm.Booster(
                model_str=format_model(trees, scales, self.n_features, n_classes=n_classes)
            )
        return self._booster

    @property
    def _sum(self) -> Ensemble:
        if not hasattr(self, "_ensemble"):
            weights, baseline = np.asarray(self.weights), np.zeros_like(self.intercept, dtype=float)
            self._ensemble = Ensemble(
                self.trees, weights, baseline, self.n_features, intercept=self.intercept, is_normalised=False
            )
        return self._ensemble

    def decision_function(self, X: Any) -> Scores:
        """The log-odds of the second class; with more than two, a score for each class."""
        return self._sum.decide(self._features(X))

    def predict_proba(self, X: Any) -> Matrix:
        scores = self.decision_function(X)
        if scores.ndim > 1:
            found: Matrix = softmax(scores, axis=1)
            return found
        positive = expit(scores)
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        scores = self.decision_function(X)
        codes = scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0).astype(np.intp)
        classes: NDArray[Any] = self.classes_[codes]
        return classes

    def _features(self, X: Any) -> Features:
        if self.encoder is not None:
            return self.encoder.transform(X)
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")
