"""Reads the target of a table: labels of classes, or numbers; which of them is guessed unless the user says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._typing import Vector
from ..data.columns import as_number
from ..data.doubts import MOSTLY
from ..data.messages import few, suggestion
from ..data.table_files import name_of, read_table
from ..data.tables import Table
from ..errors import InvalidDataError
from ..tasks.labels import FEW_NUMBERS, are_identifiers, look_measured
from .reading import features_for, numbers_of, source_of


class Training(NamedTuple):
    """A table to learn from."""

    features: Table
    target: NDArray[Any]
    task: str
    weights: Vector | None


def read_training(
    path: Path,
    target: str,
    dropped: Sequence[str] = (),
    task: str | None = None,
    categorical: Sequence[str] = (),
    weights: str | None = None,
) -> Training:
    """The features and the target of a training table; without a task, it is guessed."""
    frame = read_table(path, categorical)
    asked = {"--drop": dropped, "--categorical": categorical, "--sample-weight": [] if weights is None else [weights]}
    require_columns(frame, target, asked, path)
    frame = frame.astype(dict.fromkeys(categorical, "category"))
    column_of_weights = None if weights is None else _weights(frame[weights], path)
    others = [name for name in (*dropped, weights) if name is not None]
    features, column = split_frame(frame.drop(columns=others), target, path)
    task = task or guessed_task(column)
    y = _classes(column, path) if task == "classification" else target_numbers(column, path)
    return Training(Table(features, source_of(path)), y, task, column_of_weights)


def read_evaluation(
    path: Path, target: str, training: Training, categorical: Sequence[str], weights: str | None
) -> tuple[Any, ...]:
    """The columns that are learnt from, the target and the weights, of a second table."""
    names = [str(name) for name in training.features.names]
    frame = read_table(path, categorical)
    frame = frame.astype({name: "category" for name in categorical if name in frame})
    needed = names if weights is None else [*names, weights]
    features, y = (split_target if training.task == "classification" else split_numbers)(frame, target, path)
    features_for(needed, features, path)
    found = (features_for(names, features, path), y)
    return found if weights is None else (*found, _weights(features[weights], path))


def require_columns(frame: pd.DataFrame, target: str, asked: dict[str, Sequence[str]], path: Path) -> None:
    """Require that the columns that options name are there, and are not the target."""
    for option, names in asked.items():
        if target in names:
            raise InvalidDataError(f"{option} {target}: it is the column of the labels (--target).")
        unknown = [name for name in names if name not in frame]
        if unknown:
            raise InvalidDataError(
                f"{name_of(path)}: there is no column {unknown[0]!r} ({option}); "
                f"{suggestion(unknown[0], list(frame.columns))}"
            )


def _weights(column: pd.Series, path: Path) -> Vector:
    """The weights of the rows; one that is missing or below zero is told by its row."""
    weights = numbers_of(column, path, "for --sample-weight")
    wrong = np.flatnonzero(~(weights >= 0))
    if len(wrong):
        raise InvalidDataError(
            f"{name_of(path)}: column {column.name!r} must hold a weight of at least 0 for every row; row "
            f"{int(wrong[0]) + 1} has {column.iloc[int(wrong[0])]}."
        )
    return weights


def guessed_task(column: pd.Series) -> str:
    """Regression for numbers with fractions and for many whole numbers; two different values are always classes."""
    return "regression" if look_measured(_mostly_numbers(column), FEW_NUMBERS) else "classification"


def _mostly_numbers(column: pd.Series) -> NDArray[Any]:
    """Text as the numbers that it is written for, without the few entries that are none: these are refused later."""
    if pd.api.types.is_bool_dtype(column):
        return column.to_numpy()
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=float)
    numbers = pd.Series([as_number(entry) for entry in column], dtype=float).dropna()
    return (numbers if len(numbers) > MOSTLY * len(column) else column).to_numpy()


def split_target(frame: pd.DataFrame, target: str, path: Path) -> tuple[pd.DataFrame, NDArray[Any]]:
    """The features and the labels; raises an error if a label is missing."""
    features, column = split_frame(frame, target, path)
    return features, _as_labels(column)


def split_numbers(frame: pd.DataFrame, target: str, path: Path) -> tuple[pd.DataFrame, Vector]:
    """The features and the numbers to predict; raises an error if one is missing."""
    features, column = split_frame(frame, target, path)
    return features, target_numbers(column, path)


def target_numbers(column: pd.Series, path: Path) -> Vector:
    return numbers_of(column, path, "for regression")


def split_frame(frame: pd.DataFrame, target: str, path: Path) -> tuple[pd.DataFrame, pd.Series]:
    """The features and the column of the target, in which nothing may be missing."""
    if target not in frame:
        raise InvalidDataError(
            f"{name_of(path)}: there is no column {target!r} (--target); {suggestion(target, list(frame.columns))}"
        )
    column, features = frame[target], frame.drop(columns=target)
    if column.isna().any():
        first = int(np.flatnonzero(column.isna())[0]) + 1
        raise InvalidDataError(
            f"{name_of(path)}: {target!r} is missing in {int(column.isna().sum())} of {len(column)} rows, the first of "
            f"them row {first} (an empty cell, NA, None, nan, null and N/A are missing values): leave such rows out."
        )
    if features.shape[1] == 0:
        raise InvalidDataError(f"{name_of(path)}: there is no column besides {target!r}.")
    return features, column


def whole_labels(labels: pd.Series) -> pd.Series:
    """Numbers that are whole as integers, and all else unchanged."""
    is_number = isinstance(labels.dtype, np.dtype) and labels.dtype.kind == "f"
    is_whole = is_number and bool((labels.abs() < 2**53).all() and (labels % 1 == 0).all())
    return labels.astype(np.int64) if is_whole else labels


def _as_labels(labels: pd.Series) -> NDArray[Any]:
    """Booleans and whole numbers unchanged, all other labels as text."""
    labels = whole_labels(labels)
    kind = labels.dtype.kind if isinstance(labels.dtype, np.dtype) else "O"
    return labels.to_numpy() if kind in "biu" else labels.astype(str).to_numpy(dtype=object)


def _classes(column: pd.Series, path: Path) -> NDArray[Any]:
    """The labels; a target that is no class is refused: one label, numbers with fractions, or hardly a label twice."""
    labels = _as_labels(column)
    kinds, target = np.unique(labels).tolist(), f"{name_of(path)}: {column.name!r}"
    if len(kinds) < 2:
        raise InvalidDataError(f"{target} must hold two labels or more; it has 1: {few(kinds)}.")
    if len(kinds) == 2:
        return labels
    if labels.dtype == object and pd.api.types.is_float_dtype(column):
        raise InvalidDataError(
            f"{target} holds numbers with fractions, such as {few(kinds[:2])}: a model learns classes, which are words "
            "or whole numbers, unless --task is regression."
        )
    if are_identifiers(len(kinds), len(labels)):
        raise InvalidDataError(
            f"{target} has {len(kinds)} different labels in {len(labels)} rows: {few(kinds)}; a model learns classes "
            "that have two rows or more on average."
        )
    return labels
