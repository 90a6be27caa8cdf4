"""From a fitted estimator to a model file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import ModelFormatError, UnsupportedModelError
from ..trees.tree import Tree
from .files import write_file
from .layout import BODY, FORMAT, LARGEST_TEXT, VERSION
from .parameters import describe_formulation, describe_parameters
from .reading import read_model
from .text import render
from .trees import describe_tree
from .values import describe_categories, describe_classes


def save_model(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a model file; whatever goes wrong, a file that was there stays as it was."""
    content = model_text(estimator)
    try:
        read_model(content)
    except ModelFormatError as error:
        raise ModelFormatError(f"The model cannot be saved, as it could not be loaded again: {error}") from error
    if len(content.encode()) > LARGEST_TEXT:
        raise UnsupportedModelError(f"The model takes more than {LARGEST_TEXT} bytes as a file; pickle it instead.")
    write_file(path, content)


def model_text(estimator: Any) -> str:
    """The content of a model file."""
    from .. import __version__

    kind = type(estimator).__name__
    if kind not in BODY:
        raise UnsupportedModelError(f"A model of type {kind} cannot be saved; choose one of {', '.join(BODY)}.")
    parts = _describe_thinned(estimator) if kind == "ThinnedTreesClassifier" else _describe_classifier(estimator)
    header = {"format": FORMAT, "format_version": VERSION, "dualboost_version": __version__, "model": kind}
    return render(header | {key: parts[key] for key in BODY[kind]}) + "\n"


def _describe_classifier(clf: Any) -> dict[str, Any]:
    check_is_fitted(clf, "weights_")
    clf._check_parameters()
    used = np.flatnonzero(clf.weights_).tolist()
    categories = clf._encoder.categories
    parts = {
        "parameters": describe_parameters(clf),
        "formulation": describe_formulation(clf.formulation_),
        "classes": describe_classes(clf.classes_),
        "features": _describe_features(clf, [describe_categories(k, categories[k]) for k in sorted(categories)]),
        "fit": _describe_fit(clf),
        "calibration": {
            "negative_slope": clf._calibration.negative_slope,
            "positive_slope": clf._calibration.positive_slope,
        },
        "balance": clf._ensemble.balance,
        "trees": [describe_tree(_require_tree(clf.estimators_[j]), clf.weights_[j]) for j in used],
        "history": {name: _plain(column) for name, column in clf.history_.items()},
    }
    return parts | ({"tuning": _describe_tuning(clf)} if hasattr(clf, "C_") else {})


def _describe_fit(clf: Any) -> dict[str, Any]:
    return {
        "objective": _plain(clf.objective_),
        "gap": _plain(clf.gap_),
        "bound": clf.bound_,
        "certified": None if clf.certified_ is None else bool(clf.certified_),
        "stop_reason": clf.stop_reason_,
        "n_trees": int(clf.n_trees_),
        "n_generated": int(clf.n_generated_),
        "n_iterations": int(clf.n_iter_),
    }


def _describe_tuning(clf: Any) -> dict[str, Any]:
    path = {name: column.tolist() for name, column in clf.path_.items() if name != "C"}
    return {"C": clf.C_, "Cs": clf.Cs_.tolist(), "scores": clf.scores_.tolist(), "path": path}


def _describe_thinned(model: Any) -> dict[str, Any]:
    check_is_fitted(model)
    if model.encoder is not None:
        raise UnsupportedModelError(
            "A ThinnedTreesClassifier with categorical features cannot be saved: it holds scikit-learn's encoder; "
            "pickle it."
        )
    return {
        "classes": describe_classes(model.classes_),
        "features": _describe_features(model, []),
        "intercept": float(model.intercept),
        "trees": [describe_tree(*pair) for pair in zip(model.trees, model.weights, strict=True) if pair[1]],
    }


def _describe_features(model: Any, categories: list[dict[str, Any]]) -> dict[str, Any]:
    names = getattr(model, "feature_names_in_", None)
    return {
        "count": int(model.n_features_in_),
        "names": None if names is None else [str(name) for name in names],
        "categories": categories,
        "with_missing": np.flatnonzero(getattr(model, "_has_missing", False)).tolist(),
    }


def _require_tree(learner: Any) -> Tree:
    if not isinstance(learner, Tree):
        raise UnsupportedModelError(
            "learner: the ensemble has learners that are not trees of dualboost, and a model file holds no others; fit "
            "with learner='cart' or 'optimal', or pickle the model."
        )
    return learner


def _plain(figures: Any) -> Any:
    """Numbers for JSON, null where one is not finite."""
    if np.ndim(figures):
        return [_plain(figure) for figure in figures]
    return np.asarray(figures).item() if np.isfinite(figures) else None
