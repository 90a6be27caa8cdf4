"""Exports ensembles to the formats of other libraries."""

from __future__ import annotations

import re
from typing import Any

import lightgbm
from sklearn.utils.validation import check_is_fitted

from .errors import UnfittedModelError, UnsupportedModelError
from .estimators.classifier import DualBoostClassifier
from .trees.lightgbm_text import format_model

NOT_A_NAME = re.compile(r'[\s"\[\]{}:,]')
"""The characters that LightGBM does not allow in the name of a feature."""


def to_lightgbm(clf: DualBoostClassifier) -> lightgbm.Booster:
    """A fitted ensemble of trees as a LightGBM model, with the intercept as a tree without a split.

    Tools that read LightGBM models can read the result: SHAP's ``TreeExplainer``, converters to ONNX, treelite. Under
    "logistic" the objective is "binary": ``predict`` gives the probability of the second class, and with
    ``raw_score=True`` what ``clf.decision_function`` gives. Under other formulations it is "regression", and
    ``predict`` gives ``clf.decision_function``: a margin, whose sign is the class. For more than two classes it is
    "multiclass": ``predict`` gives ``clf.predict_proba``, and with ``raw_score=True`` what ``clf.decision_function``
    gives; where that is a margin, times the slope that makes it a log-probability. LightGBM's leaves have one value
    each, so that every tree of ours is K trees there, one for each of K classes, and the intercepts are K trees more.
    The model takes data frames with categorical columns as ``clf`` does. Learners that are not trees cannot be
    exported.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from dualboost import DualBoostClassifier, to_lightgbm
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DualBoostClassifier(max_trees=10).fit(X, y)
    >>> bool(abs(to_lightgbm(clf).predict(X) - clf.predict_proba(X)[:, 1]).max() < 1e-9)
    True
    """
    if not isinstance(clf, DualBoostClassifier):
        raise UnsupportedModelError(f"clf of type {type(clf).__name__} must be a fitted DualBoostClassifier.")
    try:
        check_is_fitted(clf)
    except Exception as error:
        raise UnfittedModelError("clf is not fitted; call its fit before exporting it.") from error
    found = clf.fitted_.ensemble.scaled_trees()
    if found is None:
        raise UnsupportedModelError("clf has learners that are not trees; only trees make a LightGBM model.")
    categories = [known.tolist() for _, known in sorted(clf.fitted_.encoder.categories.items())]
    n_outputs = clf.fitted_.task.n_outputs
    trees, scales = found
    if n_outputs > 1:
        scales = scales * clf.fitted_.calibration.slope
    text = format_model(trees, scales, clf.n_features_in_, _names(clf), categories or None, _objective(clf), n_outputs)
    return lightgbm.Booster(model_str=text)


def _objective(clf: DualBoostClassifier) -> str:
    """What LightGBM is to make of the scores."""
    n_outputs = clf.fitted_.task.n_outputs
    if n_outputs > 1:
        return f"multiclass num_class:{n_outputs}"
    return "binary sigmoid:1" if clf.formulation_.has_final_scores else "regression"


def _names(clf: Any) -> list[str] | None:
    """The names of the columns, if LightGBM allows them."""
    names = [str(name) for name in getattr(clf, "feature_names_in_", [])]
    return names if names and len(set(names)) == len(names) and not any(map(NOT_A_NAME.search, names)) else None
