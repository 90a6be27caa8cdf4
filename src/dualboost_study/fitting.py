"""One fit of the study, and its record."""

from __future__ import annotations

import time
import traceback
import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from dualboost._typing import Matrix, Vector
from dualboost.errors import DualBoostWarning
from dualboost.targets.classes import accuracy

from .datasets import DATASETS, Binariser, load, select_features
from .folder import QUANTILES
from .protocol import EQUAL_SIZE, METHODS, Cell, Fitted, Preset, Settings, StudyMethod, adaboost_trees
from .sizes import BUDGETS, LEAVES, TREES

PARTS = ("train", "validation", "test")

Parts = dict[str, tuple[Matrix, Vector]]


@lru_cache(maxsize=20)  # one entry for each data set of the paper: seeds come one after the other
def prepared(
    dataset: str, seed: int, folder: Path | None, preparation: str, most_features: int, most_rows: int
) -> Parts:
    """Features and labels of the parts with 60, 20 and 20 per cent of the rows; preparation is fitted to the first."""
    frame, labels = load(dataset, folder)
    if 0 < most_rows < len(frame):
        frame, _, labels, _ = train_test_split(frame, labels, train_size=most_rows, random_state=seed, stratify=labels)
    train, rest, y_train, y_rest = train_test_split(frame, labels, train_size=0.6, random_state=seed, stratify=labels)
    validation, test, y_validation, y_test = train_test_split(
        rest, y_rest, train_size=0.5, random_state=seed, stratify=y_rest
    )
    frames, targets = (train, validation, test), (y_train, y_validation, y_test)
    if preparation == "raw":
        matrices = _raw(frames)
    else:
        binariser = Binariser(preparation).fit(train)
        matrices = [binariser.transform(frame) for frame in frames]
    if 0 < most_features < matrices[0].shape[1]:
        of_paper = DATASETS[dataset].binary_features if dataset in DATASETS else None
        parts = [(X, y) for X, y in zip(matrices, targets, strict=True)]
        columns = select_features(parts[0], parts[1], seed, n_features=of_paper)
        matrices = [X[:, columns] for X in matrices]
    return {part: (X, y) for part, X, y in zip(PARTS, matrices, targets, strict=True)}


def _raw(frames: tuple[pd.DataFrame, ...]) -> list[Matrix]:
    """Unchanged numbers, with missing values; categories as indicators."""
    dummies = [pd.get_dummies(frame, dtype=float) for frame in frames]
    columns = dummies[0].columns
    return [dummy.reindex(columns=columns, fill_value=0.0).to_numpy(dtype=float) for dummy in dummies]


def run_cell(cell: Cell, preset: Preset, folder: Path | None) -> dict[str, Any]:
    """The record of one fit; if the fit fails, the record holds the error."""
    record: dict[str, Any] = {"key": cell.key, **cell._asdict()}
    split = (cell.dataset, cell.seed, folder, preset.preparation, preset.most_features, preset.most_rows)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DualBoostWarning)
            record |= (
                _sizes_record(cell, preset, split) if cell.experiment == EQUAL_SIZE else _record(cell, preset, split)
            )
    except Exception as error:
        record |= {"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc(limit=5)}
    return record


def _record(cell: Cell, preset: Preset, split: tuple[Any, ...]) -> dict[str, Any]:
    parts, method, settings = prepared(*split), METHODS[cell.method], preset.settings(cell)
    X, y = parts["train"]
    value = float(method.grid(len(y), preset.values)[cell.value])
    if cell.experiment == "reweight":
        settings = replace(settings, trees=_trees_to_reweight(split, settings))
    started = time.thread_time()
    fitted = method.fit(X, y, value, settings)
    seconds = time.thread_time() - started
    scores = {part: method.scores(fitted.model, parts[part][0]) for part in PARTS}
    accuracies = [_accuracy(scores[part], parts[part][1]) for part in PARTS]
    X_test, y_test = parts["test"]
    stages = [(_accuracy(stage, y_test), n) for stage, n in method.staged(fitted.model, X_test)]
    return _figures(X, value, seconds, accuracies, fitted.n_trees, fitted.n_leaves, fitted) | {
        "weights": _rounded(np.sort(fitted.weights[fitted.weights != 0])[::-1]),
        "margins": _rounded(np.quantile(y_test * scores["test"], QUANTILES)),
        "anytime_accuracy": _rounded([accuracy for accuracy, _ in stages]),
        "anytime_trees": [n for _, n in stages],
    }


@lru_cache(maxsize=2)
def _trees_to_reweight(split: tuple[Any, ...], settings: Settings) -> Fitted:
    """AdaBoost's trees of a split, fitted once for all methods and values."""
    return adaboost_trees(*prepared(*split)["train"], settings)


def _figures(
    X: Matrix, value: float, seconds: float, accuracies: list[float], trees: int, leaves: int, fitted: Fitted
) -> dict[str, Any]:
    return {
        "hyperparameter": value,
        "n_train": len(X),
        "n_features": X.shape[1],
        "seconds": seconds,
        **{f"{part}_accuracy": accuracy for part, accuracy in zip(PARTS, accuracies, strict=True)},
        "trees": trees,
        "leaves": leaves,
        "stop_reason": fitted.stop_reason,
        "gap": None if np.isnan(fitted.gap) else fitted.gap,
        "objective": None if np.isnan(fitted.objective) else fitted.objective,
    }


def _accuracy(scores: Vector, y: Vector) -> float:
    return accuracy(scores, y, np.ones(len(y)))


def _rounded(values: Any) -> list[float]:
    """The values with six digits, which do not depend on the order of summation."""
    return [float(f"{value:.6g}") for value in values]


# The experiment of equal sizes records the last ensemble of a fit within each budget. Totally corrective methods have
# an optimum after each iteration, and the first trees of a boosted ensemble are a shorter ensemble. Methods that
# optimise leaves also eliminate and regrow trees at the end, so they need a fit for each number of trees.

MOST_LEAF_CORRECTED = 40
"""The most trees of a fit with optimised leaves, unless more trees fit into the largest budget of leaves."""
SLOWEST_RATE = 0.05
"""The smallest learning rate: ensembles of 40 trees do not get far with a smaller one."""


class Step(NamedTuple):
    """An ensemble on the way of a fit, with its scores of the validation and test rows."""

    trees: int
    leaves: int
    validation: Vector
    test: Vector


def size_grid(method: StudyMethod, n_samples: int, k: int) -> Vector:
    return method.grid(n_samples, k) if method.is_totally_corrective else np.geomspace(SLOWEST_RATE, 1.0, k)


def _steps(method: StudyMethod, parts: Parts, value: float, settings: Settings) -> tuple[Fitted, list[Step]]:
    X, y = parts["train"]
    unseen = [parts[name][0] for name in ("validation", "test")]
    if not method.optimizes_leaves:
        fitted = method.fit(X, y, value, settings)
        stages = zip(*(method.staged(fitted.model, rows) for rows in unseen), strict=True)
        leaves = method.staged_leaves(fitted.model)
        return fitted, [
            Step(trees, n, validation, test) for ((validation, trees), (test, _)), n in zip(stages, leaves, strict=True)
        ]
    steps, most = [], max(MOST_LEAF_CORRECTED, LEAVES[-1] // 2**settings.depth)
    for size in [size for size in TREES if size <= min(most, settings.iterations)]:
        fitted = method.fit(X, y, value, replace(settings, iterations=size))
        steps.append(Step(fitted.n_trees, fitted.n_leaves, *(method.scores(fitted.model, rows) for rows in unseen)))
    return fitted, steps


def _sizes_record(cell: Cell, preset: Preset, split: tuple[Any, ...]) -> dict[str, Any]:
    """The record of the last ensemble of a fit, and of the last ensemble within each budget."""
    parts, method = prepared(*split), METHODS[cell.method]
    X, y = parts["train"]
    value = float(size_grid(method, len(y), preset.values)[cell.value])
    started = time.thread_time()
    fitted, steps = _steps(method, parts, value, replace(preset.settings(cell), reoptimize="every"))
    seconds = time.thread_time() - started
    majority = 1.0 if y.sum() >= 0 else -1.0
    no_tree = Step(0, 0, *(np.full(len(parts[name][1]), majority) for name in ("validation", "test")))
    found = [
        next((step for step in reversed(steps) if getattr(step, unit) <= budget), no_tree) for unit, budget in BUDGETS
    ]
    validation, test = (
        _rounded([_accuracy(getattr(step, name), parts[name][1]) for step in [*found, steps[-1]]])
        for name in ("validation", "test")
    )
    accuracies = [_accuracy(method.scores(fitted.model, X), y), validation[-1], test[-1]]
    return {
        **_figures(X, value, seconds, accuracies, steps[-1].trees, steps[-1].leaves, fitted),
        **{name: [] for name in ("weights", "margins", "anytime_accuracy", "anytime_trees")},
        "within_trees": [step.trees for step in found],
        "within_leaves": [step.leaves for step in found],
        "within_validation": validation[:-1],
        "within_test": test[:-1],
    }
