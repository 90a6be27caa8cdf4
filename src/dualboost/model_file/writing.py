"""Writes a fitted estimator to a model file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..errors import ModelFormatError, UnsupportedModelError
from ..models.fitted import FitFigures, FittedModel, Tuning
from ..targets import CLASSIFICATION, NumericTarget, require_task
from ..trees.tree import Tree
from .checks import BODY, FORMAT, LARGEST_TEXT, TIMINGS, VERSION, render, write_file
from .objects import describe_formulation, describe_parameters
from .outputs import describe_calibration, describe_numbers, describe_outputs, describe_widening
from .reading import read_document
from .trees import describe_categories, describe_classes, describe_tree


def save_model(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a model file; if anything fails, an existing file at ``path`` stays unchanged."""
    content = model_text(estimator)
    try:
        read_document(content)
    except ModelFormatError as error:
        raise ModelFormatError(f"The model cannot be saved, as it could not be loaded again: {error}") from error
    if len(content.encode()) > LARGEST_TEXT:
        raise UnsupportedModelError(f"The model takes more than {LARGEST_TEXT} bytes as a file; pickle it instead.")
    write_file(path, content)


def model_text(estimator: Any) -> str:
    """The content of a model file."""
    from .._version import __version__

    kind = type(estimator).__name__
    if kind not in BODY:
        raise UnsupportedModelError(f"A model of type {kind} cannot be saved; choose one of {', '.join(BODY)}.")
    parts = DESCRIBERS[kind](estimator)
    header = {"format": FORMAT, "format_version": VERSION, "dualboost_version": __version__, "model": kind}
    return render(header | {key: parts[key] for key in BODY[kind]}) + "\n"


def _describe_classifier(clf: Any) -> dict[str, Any]:
    check_is_fitted(clf)
    fitted: FittedModel = clf.fitted_
    require_task(fitted.target, CLASSIFICATION, "saved; pickle it instead")
    return _describe_estimator(clf) | {
        "formulation": describe_formulation(fitted.formulation),
        "classes": describe_classes(clf.classes_),
        "calibration": describe_calibration(fitted),
        "balance": describe_outputs(fitted.ensemble.baseline),
        "normalised": bool(fitted.ensemble.is_normalised),
    }


def _describe_regressor(reg: Any) -> dict[str, Any]:
    check_is_fitted(reg)
    fitted: FittedModel = reg.fitted_
    assert isinstance(fitted.target, NumericTarget)
    return _describe_estimator(reg) | {
        "formulation": describe_formulation(fitted.formulation),
        "task": describe_numbers(fitted.target),
        "calibration": describe_widening(fitted.calibration),
    }


def _describe_estimator(estimator: Any) -> dict[str, Any]:
    fitted: FittedModel = estimator.fitted_
    categories, ensemble = fitted.encoder.categories, fitted.ensemble
    used = np.flatnonzero(ensemble.weights).tolist()
    described = [describe_categories(k, categories[k]) for k in sorted(categories)]
    parts = {
        "parameters": describe_parameters(estimator),
        "features": _describe_features(
            fitted.n_features, fitted.feature_names, described, fitted.has_missing, fitted.encoder.truths
        ),
        "fit": _describe_fit(fitted.figures),
        "intercept": describe_outputs(ensemble.intercept),
        "trees": [describe_tree(_require_tree(ensemble.learners[j]), ensemble.weights[j]) for j in used],
        "history": {name: _plain(column) for name, column in fitted.history.items() if name not in TIMINGS},
    }
    return parts | ({} if fitted.tuning is None else {"tuning": _describe_tuning(fitted.tuning)})


def _describe_fit(figures: FitFigures) -> dict[str, Any]:
    return {
        "objective": _plain(figures.objective),
        "gap": _plain(figures.gap),
        "bound": figures.bound,
        "certified": None if figures.certified is None else bool(figures.certified),
        "stop_reason": figures.stop_reason,
        "n_trees": int(figures.n_trees),
        "n_generated": int(figures.n_generated),
        "n_iterations": int(figures.n_iterations),
    }


def _describe_tuning(tuning: Tuning) -> dict[str, Any]:
    path = {name: _plain(column) for name, column in tuning.path.items() if name != "C"}
    return {
        "C": tuning.C,
        "max_trees": tuning.max_trees,
        "Cs": tuning.Cs.tolist(),
        "scores": _plain(tuning.scores),
        "path": path,
    }


def _describe_thinned(model: Any) -> dict[str, Any]:
    check_is_fitted(model)
    if model.encoder is not None:
        raise UnsupportedModelError(
            "A ThinnedTreesClassifier with categorical features cannot be saved: it holds scikit-learn's encoder; "
            "pickle it."
        )
    return {
        "classes": describe_classes(model.classes_),
        "features": _describe_features(
            model.n_features_in_, getattr(model, "feature_names_in_", None), [], np.zeros(0), model.truths
        ),
        "intercept": describe_outputs(model.intercept),
        "trees": [describe_tree(*pair) for pair in zip(model.trees, model.weights, strict=True) if pair[1]],
    }


def _describe_features(
    count: int,
    names: NDArray[Any] | None,
    categories: list[dict[str, Any]],
    has_missing: NDArray[Any],
    truths: frozenset[int],
) -> dict[str, Any]:
    return {
        "count": int(count),
        "names": None if names is None else [str(name) for name in names],
        "categories": categories,
        "with_missing": np.flatnonzero(has_missing).tolist(),
        "truth_values": sorted(truths),
    }


def _require_tree(learner: Any) -> Tree:
    if not isinstance(learner, Tree):
        raise UnsupportedModelError(
            "learner: the ensemble has learners that are not trees of dualboost, and a model file holds no others; fit "
            "with learner='cart', 'optimal' or 'xgboost', or pickle the model."
        )
    return learner


def _plain(figures: Any) -> Any:
    """A number or array for JSON, with null for numbers that are not finite."""
    if np.ndim(figures):
        return [_plain(figure) for figure in figures]
    return np.asarray(figures).item() if np.isfinite(figures) else None


DESCRIBERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "DualBoostClassifier": _describe_classifier,
    "DualBoostClassifierCV": _describe_classifier,
    "ThinnedTreesClassifier": _describe_thinned,
    "DualBoostRegressor": _describe_regressor,
    "DualBoostRegressorCV": _describe_regressor,
}
"""The function that describes each kind of model."""
