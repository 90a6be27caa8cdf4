"""Checks of a parsed model file; every message says where the error is, what is there and what belongs there."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np

from .._typing import Integers, Matrix, Vector
from ..errors import ModelFormatError

LARGEST = sys.float_info.max
"""The largest finite number."""
SMALLEST = math.ulp(0.0)
"""The smallest number above zero; as a lower limit it means "above 0"."""
LARGEST_INTEGER = 2**63 - 1
"""The largest whole number of 64 bits."""


def fail(where: str, what: str) -> NoReturn:
    raise ModelFormatError(f"{where or 'the file'} {what}")


def inside(where: str, name: str | int) -> str:
    """The place of an entry of an object or a list, for messages."""
    if isinstance(name, int):
        return f"{where}[{name}]"
    return f"{where}.{name}" if where else name


def shown(value: Any) -> str:
    """A value in a few words, as JSON spells it."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    text = repr(value)
    return text if len(text) <= 40 else text[:36] + " ..."


def fields(value: Any, where: str, required: Collection[str], optional: Collection[str] = ()) -> dict[str, Any]:
    """An object with these keys and no others."""
    if type(value) is not dict:
        fail(where, f"is {shown(value)}; it must be an object")
    for name in value:
        if name not in required and name not in optional:
            spelled = name if name.isidentifier() and len(name) <= 40 else shown(name)
            fail(inside(where, spelled), "is not a key of this version of the format")
    for name in required:
        if name not in value:
            fail(inside(where, name), "is missing")
    return value


def items(value: Any, where: str, length: int | None = None) -> list[Any]:
    if type(value) is not list:
        fail(where, f"is {shown(value)}; it must be a list")
    if length is not None and len(value) != length:
        fail(where, f"has {len(value)} entries; it must have {length}")
    return value


def text(value: Any, where: str) -> str:
    if type(value) is not str:
        fail(where, f"is {shown(value)}; it must be a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        fail(where, "is a string with half of a character (a lone surrogate)")
    return value


def choice(value: Any, where: str, choices: Collection[str]) -> str:
    if text(value, where) not in choices:
        fail(where, f"is {shown(value)}; it must be one of {', '.join(choices)}")
    return value


def flag(value: Any, where: str) -> bool:
    if type(value) is not bool:
        fail(where, f"is {shown(value)}; it must be true or false")
    return value


def integer(value: Any, where: str, low: int = -LARGEST_INTEGER, high: int = LARGEST_INTEGER) -> int:
    if type(value) is not int or not low <= value <= high:
        fail(where, f"is {shown(value)}; it must be a whole number from {low} to {high}")
    return value


def number(value: Any, where: str, low: float = -LARGEST, high: float = LARGEST) -> float:
    if type(value) not in (int, float) or not low <= value <= high:
        fail(where, f"is {shown(value)}; it must be {_range(low, high)}")
    return float(value)


def number_or_nan(value: Any, where: str, low: float = -LARGEST) -> float:
    return math.nan if value is None else number(value, where, low)


def integers(value: Any, where: str, length: int | None, low: int = 0, high: int = LARGEST_INTEGER) -> Integers:
    entries = items(value, where, length)
    for position, entry in enumerate(entries):
        if type(entry) is not int or not low <= entry <= high:
            integer(entry, inside(where, position), low, high)
    return np.array(entries, dtype=np.intp)


def numbers(
    value: Any,
    where: str,
    length: int | None,
    low: float = -LARGEST,
    high: float = LARGEST,
    null: float | None = None,
) -> Vector:
    """An array; entries that are null become ``null``, if that is given."""
    entries = items(value, where, length)
    for position, entry in enumerate(entries):
        is_number = type(entry) in (int, float) and low <= entry <= high
        if not is_number and not (entry is None and null is not None):
            number(entry, inside(where, position), low, high)
    return np.array([null if entry is None else entry for entry in entries], dtype=float)


def matrix(value: Any, where: str, n_columns: int, low: float, high: float) -> Matrix:
    """A list of lists of numbers, all of the same length."""
    rows = [numbers(row, inside(where, k), n_columns, low, high) for k, row in enumerate(items(value, where))]
    return np.array(rows, dtype=float).reshape(len(rows), n_columns)


def flags(value: Any, where: str, length: int) -> list[bool]:
    return [flag(entry, inside(where, position)) for position, entry in enumerate(items(value, where, length))]


def _range(low: float, high: float) -> str:
    if low == SMALLEST:
        return f"a number above 0 and at most {high:g}"
    if high < LARGEST:
        return f"a number from {low:g} to {high:g}"
    return "a finite number" if low == -LARGEST else f"a finite number of at least {low:g}"
