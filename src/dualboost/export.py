"""Exports ensembles to the formats of other libraries."""

from __future__ import annotations

import re
from typing import Any

import lightgbm
import numpy as np
from sklearn.utils.validation import check_is_fitted

from .errors import UnfittedModelError, UnsupportedModelError
from .estimators.classifier import DualBoostClassifier
from .trees.lightgbm_text import format_model
from .trees.tree import Tree, constant_tree

NOT_A_NAME = re.compile(r'[\s"\[\]{}:,]')
"""The characters that LightGBM does not allow in the name of a feature."""


def to_lightgbm(clf: DualBoostClassifier) -> lightgbm.Booster:
    """A fitted ensemble of trees as a LightGBM model: ``predict`` gives what ``clf.decision_function`` gives.

    Tools that read LightGBM models can read the result: SHAP's ``TreeExplainer``, converters to ONNX, treelite. The
    objective is "regression", as the predictions are normalised margins, not probabilities; the sign of a margin is the
    class. The model takes data frames with categorical columns as ``clf`` does. Learners that are not trees cannot be
    exported.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from dualboost import DualBoostClassifier, to_lightgbm
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DualBoostClassifier(max_trees=10).fit(X, y)
    >>> bool(abs(to_lightgbm(clf).predict(X) - clf.decision_function(X)).max() < 1e-9)
    True
    """
    if not isinstance(clf, DualBoostClassifier):
        raise UnsupportedModelError(f"clf of type {type(clf).__name__} must be a fitted DualBoostClassifier.")
    try:
        check_is_fitted(clf)
    except Exception as error:
        raise UnfittedModelError("clf is not fitted; call its fit before exporting it.") from error
    used = np.flatnonzero(clf.weights_)
    trees = [learner for learner in (clf.estimators_[j] for j in used) if isinstance(learner, Tree)]
    if len(trees) < len(used):
        raise UnsupportedModelError("clf has learners that are not trees; only trees make a LightGBM model.")
    weights = clf.weights_[used]
    scales = weights / weights.sum() if len(used) else np.array([clf.fitted_.ensemble.baseline])
    trees = trees or [constant_tree(1.0)]
    categories = [known.tolist() for _, known in sorted(clf.fitted_.encoder.categories.items())]
    text = format_model(trees, scales, clf.n_features_in_, _names(clf), categories or None)
    return lightgbm.Booster(model_str=text)


def _names(clf: Any) -> list[str] | None:
    """The names of the columns, if LightGBM allows them."""
    names = [str(name) for name in getattr(clf, "feature_names_in_", [])]
    return names if names and len(set(names)) == len(names) and not any(map(NOT_A_NAME.search, names)) else None
