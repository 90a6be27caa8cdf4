"""Runs one cell of the study: splits and prepares the data, fits the method, and makes the record."""

from __future__ import annotations

import time
import traceback
import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from dualboost._typing import Matrix, Vector
from dualboost.errors import DualBoostWarning
from dualboost.targets.classes import accuracy

from .datasets import DATASETS, Binariser, load, select_features
from .protocol import EQUAL_SIZE, METHODS, Cell, Fitted, Preset, Settings, StudyMethod, adaboost_trees
from .sizes import measured_sizes

QUANTILES = np.linspace(0.0, 1.0, 101)
"""The points at which the distribution of the test margins is recorded."""
PARTS = ("train", "validation", "test")

Part = tuple[Matrix, Vector]


@lru_cache(maxsize=20)  # as many as the paper has data sets: fits come seed by seed
def prepared(
    dataset: str, seed: int, folder: Path | None, preparation: str, most_features: int, most_rows: int
) -> dict[str, Part]:
    """Features and labels of the three parts, of 60, 20 and 20 per cent; preparation is learnt on the first part."""
    frame, labels = load(dataset, folder)
    if 0 < most_rows < len(frame):
        frame, _, labels, _ = train_test_split(frame, labels, train_size=most_rows, random_state=seed, stratify=labels)
    train, rest, y_train, y_rest = train_test_split(frame, labels, train_size=0.6, random_state=seed, stratify=labels)
    validation, test, y_validation, y_test = train_test_split(
        rest, y_rest, train_size=0.5, random_state=seed, stratify=y_rest
    )
    frames, targets = (train, validation, test), (y_train, y_validation, y_test)
    matrices = _raw(frames) if preparation == "raw" else _binary(frames, preparation)
    if 0 < most_features < matrices[0].shape[1]:
        of_paper = DATASETS[dataset].binary_features if dataset in DATASETS else None
        chosen = select_features(matrices[0], y_train, matrices[1], y_validation, seed, of_paper=of_paper)
        matrices = [X[:, chosen] for X in matrices]
    return {part: (X, y) for part, X, y in zip(PARTS, matrices, targets, strict=True)}


def _binary(frames: tuple[pd.DataFrame, ...], bins: str) -> list[Matrix]:
    binariser = Binariser(bins).fit(frames[0])
    return [binariser.transform(frame) for frame in frames]


def _raw(frames: tuple[pd.DataFrame, ...]) -> list[Matrix]:
    """Numbers unchanged, missing values included; categories as indicators."""
    dummies = [pd.get_dummies(frame, dtype=float) for frame in frames]
    columns = dummies[0].columns
    return [dummy.reindex(columns=columns, fill_value=0.0).to_numpy(dtype=float) for dummy in dummies]


def run_cell(cell: Cell, preset: Preset, folder: Path | None) -> dict[str, Any]:
    """The record of one fit; if the fit fails, the record holds the error."""
    record: dict[str, Any] = {"key": cell.key, **cell._asdict()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DualBoostWarning)
            record |= _measured(cell, preset, folder)
    except Exception as error:
        record |= {"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc(limit=5)}
    return record


def _measured(cell: Cell, preset: Preset, folder: Path | None) -> dict[str, Any]:
    split = (cell.dataset, cell.seed, folder, preset.preparation, preset.most_features, preset.most_rows)
    parts = prepared(*split)
    if cell.experiment == EQUAL_SIZE:
        return measured_sizes(cell, preset, parts)
    method = METHODS[cell.method]
    X, y = parts["train"]
    C = float(method.grid(len(y), preset.values)[cell.value])
    settings = preset.settings(cell)
    if cell.experiment == "reweight":
        settings = replace(settings, trees=_trees_to_reweight(split, settings))
    started = time.thread_time()
    fitted = method.fit(X, y, C, settings)
    seconds = time.thread_time() - started
    record: dict[str, Any] = {"hyperparameter": C, "n_train": len(y), "n_features": X.shape[1], "seconds": seconds}
    for part, (X_part, y_part) in parts.items():
        scores = method.scores(fitted.model, X_part)
        record[f"{part}_accuracy"] = accuracy(scores, y_part, np.ones(len(y_part)))
    record |= _described(fitted)
    record["margins"] = _rounded(np.quantile(y_part * scores, QUANTILES))
    return record | _anytime(method, fitted, parts["test"])


@lru_cache(maxsize=2)
def _trees_to_reweight(split: tuple[Any, ...], settings: Settings) -> Fitted:
    """AdaBoost's trees of a split, fitted once for all methods and values."""
    return adaboost_trees(*prepared(*split)["train"], settings)


def _described(fitted: Fitted) -> dict[str, Any]:
    return {
        "trees": fitted.n_trees,
        "leaves": fitted.n_leaves,
        "stop_reason": fitted.stop_reason,
        "gap": None if np.isnan(fitted.gap) else fitted.gap,
        "objective": None if np.isnan(fitted.objective) else fitted.objective,
        "weights": _rounded(np.sort(fitted.weights[fitted.weights != 0])[::-1]),
    }


def _anytime(method: StudyMethod, fitted: Fitted, test: Part) -> dict[str, Any]:
    """The test accuracy, and the trees used, after each iteration."""
    X, y = test
    stages = [(accuracy(scores, y, np.ones(len(y))), n) for scores, n in method.staged(fitted.model, X)]
    return {"anytime_accuracy": _rounded([a for a, _ in stages]), "anytime_trees": [n for _, n in stages]}


def _rounded(values: Any) -> list[float]:
    """The values with six digits, which suffice for a record and do not depend on the order of summation."""
    return [float(f"{value:.6g}") for value in values]
