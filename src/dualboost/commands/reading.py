"""Checks and converts the features in tables; errors are raised before anything is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import DataWarning, InvalidDataError

SHOWN = 5
"""How many names a message lists at most."""
MOSTLY = 0.9
"""A column counts as numbers, or as an identifier, if more than this share of its values looks like that."""
ENOUGH_ROWS = 50
"""Columns with fewer values than this are never taken for identifiers."""
TRUTH = {"TRUE": "True", "true": "True", "FALSE": "False", "false": "False"}


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
        name: _known_text(frame[name], categories[name])
        if name in categories
        else numbers_of(frame[name], path, "as in training")
        for name in names
    }
    return pd.DataFrame(columns, index=frame.index)


def _known_text(column: pd.Series, categories: Collection[Any]) -> pd.Series:
    """The column as text; truth values are spelled as in training, where pandas had read them as booleans."""
    text = _as_text(column)
    return text.replace(TRUTH) if set(categories) <= set(TRUTH.values()) else text


def numbers_of(column: pd.Series, path: Path, why: str) -> pd.Series:
    """The column as finite numbers; ``why`` it must hold numbers is told where it does not."""
    _require_no_huge_integer(column, path)
    numbers = pd.to_numeric(column, errors="coerce")
    wrong = np.flatnonzero((numbers.isna() & column.notna()) | _is_truth(column))
    if len(wrong):
        value = column.astype(object).iloc[int(wrong[0])]
        raise InvalidDataError(
            f"{path}: column {column.name!r} must hold numbers, {why}; row {int(wrong[0]) + 1} has {value!r}."
        )
    return _finite(numbers, path)


def _is_truth(column: pd.Series) -> pd.Series:
    """Where the column holds True or False, which pandas would convert to 1 and 0."""
    if column.dtype.kind not in "bO":
        return pd.Series(False, index=column.index)
    return column.astype(object).map(lambda value: isinstance(value, bool)).astype(bool)


def suggestion(name: str, known: list[str]) -> str:
    """A hint at the column that the user may have meant."""
    near = [one for one in known if one.strip().lower() == name.strip().lower()] or get_close_matches(name, known, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {few(known)}."


def few(names: Iterable[Any]) -> str:
    listed = [str(name) for name in names]
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(map(repr, listed[:SHOWN])) + more
