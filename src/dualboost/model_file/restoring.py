"""The parts of a checked document as a fitted estimator."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from ..data.features import FeatureEncoder
from ..errors import InvalidParameterError
from ..estimators.classifier import DualBoostClassifier
from ..estimators.classifier_cv import DualBoostClassifierCV
from ..loop.history import Iteration
from ..models.ensemble import Ensemble
from ..tasks.calibration import LARGEST_SLOPE, SMALLEST_SLOPE, MarginCalibration
from ..thinning.tree_model import ThinnedTreesClassifier
from .checks import (
    choice,
    fail,
    fields,
    flag,
    inside,
    integer,
    integers,
    items,
    number,
    number_or_nan,
    numbers,
    text,
)
from .layout import COUNTS, MOST_FEATURES, STOP_REASONS
from .parameters import read_formulation, read_parameters
from .trees import LARGEST_FIGURE, TreeReader
from .values import read_categories, read_classes

FIT = ("objective", "gap", "bound", "certified", "stop_reason", "n_trees", "n_generated", "n_iterations")


def restore_classifier(document: dict[str, Any]) -> DualBoostClassifier:
    """A ``DualBoostClassifier`` or ``DualBoostClassifierCV`` with every attribute that is stored."""
    clf = _unfitted(document)
    clf.classes_ = read_classes(document["classes"], "classes")
    clf.formulation_ = read_formulation(document["formulation"], "formulation")
    if clf.formulation_.C is None:
        fail("formulation.C", "is null; it must be the number that was used")
    asked = clf.formulation if isinstance(clf.formulation, str) else clf.formulation.name
    if asked != clf.formulation_.name:
        fail("formulation.name", f"is {clf.formulation_.name!r}, but parameters.formulation is {asked!r}")
    if not clf.formulation_.C > 0:
        fail("formulation.C", f"is {clf.formulation_.C}; it must be above 0")
    clf._encoder = FeatureEncoder(_restore_features(clf, document["features"]))
    n_categories = {feature: len(known) for feature, known in clf._encoder.categories.items()}
    weights, trees = _restore_trees(document["trees"], TreeReader(clf.n_features_in_, n_categories))
    clf.weights_, clf.estimators_, clf._stages = weights, trees, None
    _restore_fit(clf, document["fit"])
    clf.history_ = _read_history(document["history"], "history", clf.n_iter_)
    if isinstance(clf, DualBoostClassifierCV):
        _restore_tuning(clf, document["tuning"])
    clf._calibration = _read_calibration(document["calibration"], "calibration")
    balance = number(document["balance"], "balance", -1.0, 1.0)
    n_jobs = min(effective_n_jobs(clf.n_jobs), effective_n_jobs(-1))  # a file may ask for any number of threads
    clf._ensemble = Ensemble(trees, weights, balance, clf.n_features_in_, n_jobs)
    clf.feature_importances_ = clf._ensemble.feature_importances()
    return clf


def restore_thinned(document: dict[str, Any]) -> ThinnedTreesClassifier:
    model = ThinnedTreesClassifier()
    model.classes = read_classes(document["classes"], "classes")
    model.intercept = number(document["intercept"], "intercept", -LARGEST_FIGURE, LARGEST_FIGURE)
    if _restore_features(model, document["features"]):
        fail("features.categories", "must be empty in a ThinnedTreesClassifier")
    model.weights, model.trees = _restore_trees(
        document["trees"], TreeReader(model.n_features, {}, largest_vote=LARGEST_FIGURE)
    )
    if not model.trees:
        fail("trees", "is empty; a ThinnedTreesClassifier has at least one")
    return model


def _unfitted(document: dict[str, Any]) -> DualBoostClassifier:
    kind = DualBoostClassifierCV if document["model"] == "DualBoostClassifierCV" else DualBoostClassifier
    known = list(kind().get_params(deep=False))
    clf = kind(**read_parameters(document["parameters"], "parameters", known))
    try:
        clf._check_parameters()
    except InvalidParameterError as error:
        fail("parameters", f"are refused: {error}")
    return clf


def _restore_features(model: Any, value: Any) -> dict[int, Any]:
    """Sets the number and the names of the features; returns the categories of those that have any."""
    entry = fields(value, "features", ("count", "names", "categories", "with_missing"))
    count = integer(entry["count"], "features.count", 1, MOST_FEATURES)
    if isinstance(model, ThinnedTreesClassifier):
        model.n_features = count
    else:
        model.n_features_in_ = count
    if entry["names"] is not None:
        names = items(entry["names"], "features.names", count)
        checked = [text(name, inside("features.names", k)) for k, name in enumerate(names)]
        if len(set(checked)) < count:
            fail("features.names", "holds a name twice")
        model.feature_names_in_ = np.array(checked, dtype=object)
    model._has_missing = _read_missing(entry["with_missing"], "features.with_missing", count)
    categories: dict[int, Any] = {}
    for k, described in enumerate(items(entry["categories"], "features.categories")):
        place = inside("features.categories", k)
        feature, known = read_categories(described, place, count)
        if feature <= max(categories, default=-1):
            fail(inside(place, "feature"), f"is {feature}; features must be in increasing order")
        categories[feature] = known
    return categories


def _read_missing(value: Any, where: str, count: int) -> NDArray[np.bool_]:
    """Which features had missing values in training."""
    positions = [integer(entry, inside(where, k), 0, count - 1) for k, entry in enumerate(items(value, where))]
    if positions != sorted(set(positions)):
        fail(where, "must be in increasing order")
    has_missing = np.zeros(count, dtype=bool)
    has_missing[positions] = True
    return has_missing


def _restore_trees(value: Any, reader: TreeReader) -> tuple[NDArray[np.float64], list[Any]]:
    pairs = [reader.read(entry, inside("trees", k)) for k, entry in enumerate(items(value, "trees"))]
    return np.array([weight for weight, _ in pairs], dtype=float), [tree for _, tree in pairs]


def _restore_fit(clf: Any, value: Any) -> None:
    entry = fields(value, "fit", FIT)
    clf.objective_ = number_or_nan(entry["objective"], "fit.objective")
    clf.gap_ = number_or_nan(entry["gap"], "fit.gap", 0.0)
    clf.bound_ = None if entry["bound"] is None else number(entry["bound"], "fit.bound")
    clf.certified_ = None if entry["certified"] is None else flag(entry["certified"], "fit.certified")
    clf.stop_reason_ = choice(entry["stop_reason"], "fit.stop_reason", STOP_REASONS)
    clf.n_generated_ = integer(entry["n_generated"], "fit.n_generated", len(clf.weights_))
    clf.n_trees_ = integer(entry["n_trees"], "fit.n_trees", 0, len(clf.weights_))
    clf.n_iter_ = integer(entry["n_iterations"], "fit.n_iterations", 1)


def _read_history(value: Any, where: str, length: int) -> dict[str, NDArray[Any]]:
    names = [attribute.name for attribute in dataclass_fields(Iteration)]
    columns = fields(value, where, names)
    return {
        name: integers(columns[name], inside(where, name), length)
        if name in COUNTS
        else numbers(columns[name], inside(where, name), length, null=np.nan)
        for name in names
    }


def _restore_tuning(clf: DualBoostClassifierCV, value: Any) -> None:
    entry = fields(value, "tuning", ("C", "Cs", "scores", "path"))
    clf.C_ = number(entry["C"], "tuning.C")
    clf.Cs_ = numbers(entry["Cs"], "tuning.Cs", None)
    n = len(clf.Cs_)
    folds = items(entry["scores"], "tuning.scores")
    scores = [numbers(fold, inside("tuning.scores", k), n, 0.0, 1.0) for k, fold in enumerate(folds)]
    clf.scores_ = np.array(scores, dtype=float).reshape(len(folds), n)
    names = ("score", "standard_error", "n_trees")
    path = fields(entry["path"], "tuning.path", names)
    clf.path_ = {"C": clf.Cs_} | {name: numbers(path[name], f"tuning.path.{name}", n, 0.0) for name in names}


def _read_calibration(value: Any, where: str) -> MarginCalibration:
    names = ("negative_slope", "positive_slope")
    entry = fields(value, where, names)
    return MarginCalibration(
        *(number(entry[name], inside(where, name), SMALLEST_SLOPE, LARGEST_SLOPE) for name in names)
    )
