"""Tables as plain lists and numbers, for the page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

DIGITS = 5


def number(value: Any) -> float | None:
    """The value with five digits; None if it is not a number."""
    return float(f"{value:.{DIGITS}g}") if value is not None and np.isfinite(value) else None


def plain(value: Any) -> Any:
    return value if isinstance(value, str) else number(value)


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """One entry for each row."""
    return [{name: plain(value) for name, value in row.items()} for row in table.to_dict("records")]


def grid(table: pd.DataFrame) -> list[list[float | None]]:
    return [[number(value) for value in row] for row in table.to_numpy()]


def curves(table: pd.DataFrame, key: list[str], columns: list[str]) -> list[dict[str, Any]]:
    """One entry for each curve: its key, and each column as a list."""
    found = []
    for values, part in table.groupby(key):
        curve = {name: plain(value) for name, value in zip(key, values, strict=True)}
        found.append(curve | {name: [number(value) for value in part[name]] for name in columns})
    return found


def packed(value: Any) -> Any:
    """The same with lists of entries that have the same names as one table, which is half as long as text."""
    if isinstance(value, dict):
        return {name: packed(part) for name, part in value.items()}
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        columns = list(value[0])
        if all(list(part) == columns for part in value):
            return {"columns": columns, "rows": [[packed(part[name]) for name in columns] for part in value]}
    return [packed(part) for part in value] if isinstance(value, list) else value
