"""From a model file to the arguments of an estimator and its fitted value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Vector
from ..boosting.history import Iteration
from ..data.features import FeatureEncoder
from ..formulations import Formulation
from ..matrix.rows import available_threads
from ..models.ensemble import Ensemble
from ..models.fitted import FitFigures, FittedModel, Tuning
from ..targets import BinaryTarget, MulticlassTarget, Target
from ..trees.tree import Tree
from .checks import (
    BODY,
    COUNTS,
    FORMAT,
    HEADER,
    MOST_FEATURES,
    SMALLEST,
    STOP_REASONS,
    TIMINGS,
    VERSION,
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
    number_or_none,
    numbers,
    parse,
    text,
)
from .objects import read_formulation, read_loss, read_parameters
from .outputs import (
    loss_of_parameters,
    require_finite_predictions,
    restore_calibration,
    restore_numbers,
    restore_outputs,
    restore_task,
    restore_widening,
)
from .trees import LARGEST_FIGURE, TreeReader, read_categories, read_classes

FIT = ("objective", "gap", "bound", "certified", "stop_reason", "n_trees", "n_generated", "n_iterations")


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """The features in a file."""

    count: int
    names: NDArray[Any] | None
    categories: dict[int, Any]
    has_missing: NDArray[np.bool_]
    truths: frozenset[int]


@dataclass(frozen=True, eq=False)
class StoredEstimator:
    """An estimator: its class, its parameters and its fitted model."""

    kind: str
    parameters: dict[str, Any]
    fitted: FittedModel


@dataclass(frozen=True, eq=False)
class StoredTrees:
    """The parts of a ``ThinnedTreesClassifier``."""

    classes: NDArray[Any]
    features: StoredFeatures
    intercept: Any
    weights: Vector
    trees: list[Tree]


def restore_classifier(document: dict[str, Any]) -> StoredEstimator:
    parameters = read_parameters(document["parameters"], "parameters", document["model"])
    formulation = read_formulation(document["formulation"], "formulation")
    _require_used(formulation, parameters["formulation"], "parameters.formulation", parameters.get("C"))
    target = restore_task(document["classes"], formulation)
    features = _restore_features(document["features"])
    balance = restore_outputs(document["balance"], "balance", target, -1.0 if target.n_outputs == 1 else 0.0, 1.0)
    is_normalised = flag(document["normalised"], "normalised")
    ensemble = _restore_ensemble(document, target, features, parameters["n_jobs"], balance, is_normalised)
    calibration = restore_calibration(document["calibration"], target)
    return _restored(document, parameters, features, _Parts(target, formulation, ensemble, calibration))


def restore_regressor(document: dict[str, Any]) -> StoredEstimator:
    parameters = read_parameters(document["parameters"], "parameters", document["model"])
    loss = read_loss(document["formulation"], "formulation")
    _require_used(loss, *loss_of_parameters(parameters, loss), parameters.get("C"))
    target = restore_numbers(document["task"], "task", loss)
    features = _restore_features(document["features"])
    baseline = 0.0 if target.n_outputs == 1 else np.zeros(target.n_outputs)
    ensemble = _restore_ensemble(document, target, features, parameters["n_jobs"], baseline, is_normalised=False)
    widening = restore_widening(document["calibration"], target, parameters["interval_calibration"])
    require_finite_predictions(target, ensemble, widening)
    return _restored(document, parameters, features, _Parts(target, loss, ensemble, widening))


class _Parts(NamedTuple):
    """The parts of a fitted model that are restored differently for classes and for numbers."""

    target: Target
    formulation: Formulation
    ensemble: Ensemble
    calibration: Any


def _restored(
    document: dict[str, Any], parameters: dict[str, Any], features: StoredFeatures, parts: _Parts
) -> StoredEstimator:
    figures = _restore_fit(document["fit"], len(parts.ensemble.weights))
    fitted = FittedModel(
        **parts._asdict(),
        encoder=FeatureEncoder(features.categories, features.truths),
        figures=figures,
        history=_read_history(document["history"], "history", figures.n_iterations),
        feature_names=features.names,
        has_missing=features.has_missing,
        tuning=_restore_tuning(document["tuning"]) if "tuning" in document else None,
    )
    return StoredEstimator(document["model"], parameters, fitted)


def _restore_ensemble(
    document: dict[str, Any],
    target: Target,
    features: StoredFeatures,
    n_jobs: int | None,
    baseline: Any,
    is_normalised: bool,
) -> Ensemble:
    """The ensemble; ``baseline`` is its score without a tree."""
    n_categories = {feature: len(known) for feature, known in features.categories.items()}
    reader = TreeReader(features.count, n_categories, n_outputs=target.n_outputs)
    weights, trees = _restore_trees(document["trees"], reader)
    # The intercept of normalised scores is divided by the sum of the weights, and the quotient must be finite.
    most = LARGEST_FIGURE * (min(float(weights.sum()), 1.0) if is_normalised else 1.0)
    return Ensemble(
        trees,
        weights,
        baseline,
        features.count,
        available_threads(n_jobs),  # the file may contain zero, which the estimator refuses later
        intercept=restore_outputs(document["intercept"], "intercept", target, -most, most),
        is_normalised=is_normalised,
    )


def restore_thinned(document: dict[str, Any]) -> StoredTrees:
    classes = read_classes(document["classes"], "classes")
    target = BinaryTarget(classes) if len(classes) == 2 else MulticlassTarget(classes)
    intercept = restore_outputs(document["intercept"], "intercept", target, -LARGEST_FIGURE, LARGEST_FIGURE)
    features = _restore_features(document["features"])
    if features.categories:
        fail("features.categories", "must be empty in a ThinnedTreesClassifier")
    reader = TreeReader(features.count, {}, largest_vote=LARGEST_FIGURE, n_outputs=target.n_outputs)
    weights, trees = _restore_trees(document["trees"], reader)
    if not trees:
        fail("trees", "is empty; a ThinnedTreesClassifier has at least one")
    return StoredTrees(classes, features, intercept, weights, trees)


def _require_used(formulation: Formulation, named: Formulation | str, where: str, C: Any) -> None:
    """Require that the formulation that was used has a C, and that the parameters name this formulation."""
    if formulation.C is None:
        fail("formulation.C", "is null; it must be the number that was used")
    name = named.name if isinstance(named, Formulation) else named
    if name != formulation.name:
        fail("formulation.name", f"is {formulation.name!r}, but {where} is {name!r}")
    given = {"parameters.C": C, f"{where}.C": getattr(named, "C", None), "formulation.C": formulation.C}
    for place, value in given.items():
        if value is not None and not value > 0:
            fail(place, f"is {value}; it must be above 0")


def _restore_features(value: Any) -> StoredFeatures:
    entry = fields(value, "features", ("count", "names", "categories", "with_missing", "truth_values"))
    count = integer(entry["count"], "features.count", 1, MOST_FEATURES)
    names = None
    if entry["names"] is not None:
        found = items(entry["names"], "features.names", count)
        checked = [text(name, inside("features.names", k)) for k, name in enumerate(found)]
        if len(set(checked)) < count:
            fail("features.names", "holds a name twice")
        names = np.array(checked, dtype=object)
    has_missing = np.zeros(count, dtype=bool)
    has_missing[_read_positions(entry["with_missing"], "features.with_missing", count)] = True
    truths = frozenset(_read_positions(entry["truth_values"], "features.truth_values", count))
    categories: dict[int, Any] = {}
    for k, described in enumerate(items(entry["categories"], "features.categories")):
        place = inside("features.categories", k)
        feature, known = read_categories(described, place, count)
        if feature <= max(categories, default=-1):
            fail(inside(place, "feature"), f"is {feature}; features must be in increasing order")
        if feature in truths:
            fail("features.truth_values", f"has {feature}, which is a feature with categories")
        categories[feature] = known
    return StoredFeatures(count, names, categories, has_missing, truths)


def _read_positions(value: Any, where: str, count: int) -> list[int]:
    positions = [integer(entry, inside(where, k), 0, count - 1) for k, entry in enumerate(items(value, where))]
    if positions != sorted(set(positions)):
        fail(where, "must be in increasing order")
    return positions


def _restore_trees(value: Any, reader: TreeReader) -> tuple[NDArray[np.float64], list[Any]]:
    pairs = [reader.read(entry, inside("trees", k)) for k, entry in enumerate(items(value, "trees"))]
    return np.array([weight for weight, _ in pairs], dtype=float), [tree for _, tree in pairs]


def _restore_fit(value: Any, n_weights: int) -> FitFigures:
    entry = fields(value, "fit", FIT)
    return FitFigures(
        objective=number_or_nan(entry["objective"], "fit.objective"),
        gap=number_or_nan(entry["gap"], "fit.gap", 0.0),
        bound=number_or_none(entry["bound"], "fit.bound"),
        certified=None if entry["certified"] is None else flag(entry["certified"], "fit.certified"),
        stop_reason=choice(entry["stop_reason"], "fit.stop_reason", STOP_REASONS),
        n_trees=integer(entry["n_trees"], "fit.n_trees", 0, n_weights),
        n_generated=integer(entry["n_generated"], "fit.n_generated", n_weights),
        n_iterations=integer(entry["n_iterations"], "fit.n_iterations", 1),
    )


def _read_history(value: Any, where: str, length: int) -> dict[str, NDArray[Any]]:
    names = [attribute.name for attribute in dataclass_fields(Iteration)]
    columns = fields(value, where, [name for name in names if name not in TIMINGS])
    read = {
        name: integers(column, inside(where, name), length)
        if name in COUNTS
        else numbers(column, inside(where, name), length, null=np.nan)
        for name, column in columns.items()
    }
    # The times come last: a length that no column has must not need any memory.
    return {name: read[name] if name in read else np.full(length, np.nan) for name in names}


def _restore_tuning(value: Any) -> Tuning:
    entry = fields(value, "tuning", ("C", "max_trees", "Cs", "scores", "path"))
    C, Cs = number(entry["C"], "tuning.C", SMALLEST), numbers(entry["Cs"], "tuning.Cs", None, SMALLEST)
    n = len(Cs)
    folds = items(entry["scores"], "tuning.scores")
    scores = [numbers(fold, inside("tuning.scores", k), n, null=np.nan) for k, fold in enumerate(folds)]
    path = fields(entry["path"], "tuning.path", ("score", "standard_error", "n_trees"))
    columns = {
        "score": numbers(path["score"], "tuning.path.score", n, null=np.nan),
        "standard_error": numbers(path["standard_error"], "tuning.path.standard_error", n, 0.0, null=np.nan),
        "n_trees": numbers(path["n_trees"], "tuning.path.n_trees", n, 0.0),
    }
    most = entry["max_trees"]
    max_trees = None if most is None else integer(most, "tuning.max_trees", 1)
    return Tuning(C, Cs, np.array(scores, dtype=float).reshape(len(folds), n), {"C": Cs} | columns, max_trees)


def read_document(content: str) -> StoredEstimator | StoredTrees:
    """The model in a text; every value is checked."""
    document = parse(content)
    if type(document) is not dict or document.get("format") != FORMAT:
        fail("", f'is no model of dualboost: it does not begin with {{"format": "{FORMAT}"')
    version = integer(document.get("format_version"), "format_version", 1)
    if version != VERSION:
        fail(
            "format_version",
            f"is {version}, but this dualboost reads version {VERSION} only; load the file with the dualboost that "
            "wrote it (dualboost_version), or fit the model again",
        )
    model = choice(document.get("model"), "model", BODY)
    fields(document, "", (*HEADER, *BODY[model]))
    text(document["dualboost_version"], "dualboost_version")
    return READERS[model](document)


READERS: dict[str, Callable[[dict[str, Any]], StoredEstimator | StoredTrees]] = {
    "DualBoostClassifier": restore_classifier,
    "DualBoostClassifierCV": restore_classifier,
    "ThinnedTreesClassifier": restore_thinned,
    "DualBoostRegressor": restore_regressor,
    "DualBoostRegressorCV": restore_regressor,
}
"""The function that reads each kind of model."""
