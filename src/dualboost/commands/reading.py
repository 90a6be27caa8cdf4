"""Checks and converts tables for fitting and prediction; errors are raised before anything is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..data.table_files import read_table
from ..errors import DataWarning, InvalidDataError

SHOWN = 5
"""How many names a message lists at most."""
MOSTLY = 0.9
"""A column counts as numbers, or as an identifier, if more than this share of its values looks like that."""
ENOUGH_ROWS = 50
"""Columns with fewer values than this are never taken for identifiers."""
MANY_CLASSES = 50
"""A target with more labels than this may be a quantity, such as an age, and not a class."""
TRUTH = {"TRUE": "True", "true": "True", "FALSE": "False", "false": "False"}


def split_target(frame: pd.DataFrame, target: str, path: Path) -> tuple[pd.DataFrame, NDArray[Any]]:
    """The features and the labels; raises an error if a label is missing."""
    if target not in frame:
        raise InvalidDataError(
            f"{path}: there is no column {target!r} (--target); {_suggestion(target, list(frame.columns))}"
        )
    labels, features = frame[target], frame.drop(columns=target)
    if labels.isna().any():
        first = int(np.flatnonzero(labels.isna())[0]) + 1
        raise InvalidDataError(
            f"{path}: {int(labels.isna().sum())} labels are missing, the first in row {first} (an empty cell, NA, "
            "None, nan, null and N/A are missing values)."
        )
    if features.shape[1] == 0:
        raise InvalidDataError(f"{path}: there is no column besides {target!r}.")
    return features, _as_labels(labels)


def _as_labels(labels: pd.Series) -> NDArray[Any]:
    """Booleans and whole numbers unchanged, all other labels as text."""
    kind = labels.dtype.kind if isinstance(labels.dtype, np.dtype) else "O"
    if kind == "f" and (labels.abs() < 2**53).all() and (labels % 1 == 0).all():
        labels, kind = labels.astype(np.int64), "i"
    return labels.to_numpy() if kind in "biu" else labels.astype(str).to_numpy(dtype=object)


def read_training(path: Path, target: str, dropped: Sequence[str] = ()) -> tuple[pd.DataFrame, NDArray[Any]]:
    """The features and labels of a training table, whose labels must be classes."""
    frame = read_table(path)
    if target in dropped:
        raise InvalidDataError(f"--drop {target}: it is the column of the labels (--target).")
    unknown = [name for name in dropped if name not in frame]
    if unknown:
        raise InvalidDataError(f"{path}: there is no column {unknown[0]!r} to drop.")
    features, labels = split_target(frame.drop(columns=list(dropped)), target, path)
    _require_classes(frame[target], labels, path)
    return training_features(features, path), labels


def _require_classes(column: pd.Series, labels: NDArray[Any], path: Path) -> None:
    """Refuse a target that is no class: one label only, numbers with fractions, or hardly a label twice."""
    kinds, target = np.unique(labels).tolist(), f"{path}: {column.name!r}"
    if len(kinds) < 2:
        raise InvalidDataError(f"{target} must hold two labels or more; it has 1: {few(kinds)}.")
    if len(kinds) == 2:
        return
    if labels.dtype == object and pd.api.types.is_float_dtype(column):
        raise InvalidDataError(
            f"{target} holds numbers with fractions, such as {few(kinds[:2])}: a model learns classes, which are words "
            "or whole numbers."
        )
    if len(labels) < 2 * len(kinds):
        raise InvalidDataError(
            f"{target} has {len(kinds)} different labels in {len(labels)} rows: {few(kinds)}; a model learns classes "
            "that have two rows or more on average."
        )
    if len(kinds) > MANY_CLASSES:
        note = f"{target} has {len(kinds)} different labels, and each is a class; is it the right column?"
        warnings.warn(note, DataWarning, stacklevel=2)


def training_features(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Text and booleans as categories, all other columns as numbers."""
    return pd.DataFrame({name: _training_column(frame[name], path) for name in frame}, index=frame.index)


def _training_column(column: pd.Series, path: Path) -> pd.Series:
    if column.isna().all():
        return column.astype(float)
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return _finite(column, path)
    if pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column):
        raise InvalidDataError(f"{path}: column {column.name!r} holds times; turn it into numbers, or drop it.")
    _require_no_huge_integer(column, path)
    text = _as_text(column)
    _warn_of_likely_mistakes(text, path)
    return text.astype("category")


def _warn_of_likely_mistakes(column: pd.Series, path: Path) -> None:
    """Warn of a column of numbers that contains a word, and of a column that looks like an identifier."""
    present = column.dropna()
    is_number = pd.to_numeric(present, errors="coerce").notna().to_numpy()
    note = ""
    if is_number.mean() > MOSTLY:
        row = int(np.flatnonzero(column.notna())[np.argmin(is_number)]) + 1
        note = f"is text, as row {row} has {column.iloc[row - 1]!r}; its numbers become categories"
    elif len(present) >= ENOUGH_ROWS and present.nunique() > MOSTLY * len(present):
        note = f"has {present.nunique()} different values in {len(present)} rows; leave it out with --drop?"
    if note:
        warnings.warn(f"{path}: column {column.name!r} {note}", DataWarning, stacklevel=2)


def _require_no_huge_integer(column: pd.Series, path: Path) -> None:
    """Refuse integers beyond 64 bits, which pandas keeps as objects."""
    huge = [k for k, value in enumerate(column) if type(value) is int] if column.dtype == object else []
    if huge:
        raise InvalidDataError(f"{path}: column {column.name!r} has an integer beyond 64 bits in row {huge[0] + 1}.")


def _as_text(column: pd.Series) -> pd.Series:
    """Each value as text; missing values stay missing."""
    return column.astype(object).where(column.isna(), column.astype(str)).where(column.notna(), None)


def _finite(column: pd.Series, path: Path) -> pd.Series:
    numbers = column.astype(float)
    infinite = np.flatnonzero(np.isinf(numbers.to_numpy()))
    if len(infinite):
        raise InvalidDataError(f"{path}: column {column.name!r} is infinite in row {int(infinite[0]) + 1}.")
    return numbers


def features_for(
    names: Sequence[str], categories: Mapping[str, Collection[Any]], frame: pd.DataFrame, path: Path
) -> pd.DataFrame:
    """The columns that a model was fitted on, in their order and with their types."""
    missing = [name for name in names if name not in frame]
    if missing:
        raise InvalidDataError(f"{path}: the model needs {few(missing)}, which the table does not have.")
    columns = {
        name: _known_text(frame[name], categories[name]) if name in categories else _numbers(frame[name], path)
        for name in names
    }
    return pd.DataFrame(columns, index=frame.index)


def _known_text(column: pd.Series, categories: Collection[Any]) -> pd.Series:
    """The column as text; truth values are spelled as in training, where pandas had read them as booleans."""
    text = _as_text(column)
    return text.replace(TRUTH) if set(categories) <= set(TRUTH.values()) else text


def _numbers(column: pd.Series, path: Path) -> pd.Series:
    _require_no_huge_integer(column, path)
    numbers = pd.to_numeric(column, errors="coerce")
    wrong = np.flatnonzero((numbers.isna() & column.notna()) | _is_truth(column))
    if len(wrong):
        value = column.astype(object).iloc[int(wrong[0])]
        raise InvalidDataError(
            f"{path}: column {column.name!r} must hold numbers, as in training; row {int(wrong[0]) + 1} has {value!r}."
        )
    return _finite(numbers, path)


def _is_truth(column: pd.Series) -> pd.Series:
    """Where the column holds True or False, which pandas would convert to 1 and 0."""
    if column.dtype.kind not in "bO":
        return pd.Series(False, index=column.index)
    return column.astype(object).map(lambda value: isinstance(value, bool)).astype(bool)


def _suggestion(name: str, known: list[str]) -> str:
    """A hint at the column that the user may have meant."""
    near = [one for one in known if one.strip().lower() == name.strip().lower()] or get_close_matches(name, known, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {few(known)}."


def few(names: Iterable[Any]) -> str:
    listed = [str(name) for name in names]
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(map(repr, listed[:SHOWN])) + more
