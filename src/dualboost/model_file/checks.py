"""Checks of model files, strict JSON, and limits of size."""

from __future__ import annotations

import gzip
import json
import math
import os
import stat
import sys
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from .._typing import Integers, Matrix, Vector
from ..data.files import write_whole
from ..errors import ModelFormatError

FORMAT = "dualboost-model"
"""The value of the key ``format`` in every model file."""
VERSION = 1
"""The version of the format."""

LARGEST_TEXT = 32 * 2**20
"""The most bytes of JSON in a file; parsed, JSON takes up to 25 times as much memory."""
MOST_PARTS = 2**21
"""The most lists, objects and keys in a file: parsing these takes Python far longer than parsing numbers."""
MOST_FEATURES = 2**21
"""The most features of a model: a compiled model has a name for each, so that a tiny file that declares many features
could use any amount of memory."""

HEADER = ("format", "format_version", "dualboost_version", "model")
OF_CLASSIFIERS = ("classes", "features", "fit", "calibration", "balance", "intercept", "normalised", "trees", "history")
OF_REGRESSORS = ("task", "features", "fit", "calibration", "intercept", "trees", "history")
BODY = {
    "DualBoostClassifier": ("parameters", "formulation", *OF_CLASSIFIERS),
    "DualBoostClassifierCV": ("parameters", "formulation", "tuning", *OF_CLASSIFIERS),
    "ThinnedTreesClassifier": ("classes", "features", "intercept", "trees"),
    "DualBoostRegressor": ("parameters", "formulation", *OF_REGRESSORS),
    "DualBoostRegressorCV": ("parameters", "formulation", "tuning", *OF_REGRESSORS),
}
"""The keys of each kind of model, in the order in which they are written."""

STOP_REASONS = (
    *("certified", "converged", "max_trees", "time_limit", "no_improvement"),
    *("callback", "interrupted", "solver_failed", "grower_failed"),
)
COUNTS = ("iteration", "n_trees", "n_generated")
"""The columns of the history that are whole numbers."""
TIMINGS = ("pricing_seconds", "solver_seconds")
"""The columns of the history that are not written, so that equal fits give equal files."""

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


def spelled(value: Any) -> str:
    """A value in a few words, as in JSON."""
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
        fail(where, f"is {spelled(value)}; it must be an object")
    for name in value:
        if name not in required and name not in optional:
            known = name if name.isidentifier() and len(name) <= 40 else spelled(name)
            fail(inside(where, known), "is not a key of this version of the format")
    for name in required:
        if name not in value:
            fail(inside(where, name), "is missing")
    return value


def items(value: Any, where: str, length: int | None = None) -> list[Any]:
    if type(value) is not list:
        fail(where, f"is {spelled(value)}; it must be a list")
    if length is not None and len(value) != length:
        fail(where, f"has {len(value)} entries; it must have {length}")
    return value


def text(value: Any, where: str) -> str:
    if type(value) is not str:
        fail(where, f"is {spelled(value)}; it must be a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        fail(where, "is a string with half of a character (a lone surrogate)")
    return value


def choice(value: Any, where: str, choices: Collection[str]) -> str:
    if text(value, where) not in choices:
        fail(where, f"is {spelled(value)}; it must be one of {', '.join(choices)}")
    return value


def flag(value: Any, where: str) -> bool:
    if type(value) is not bool:
        fail(where, f"is {spelled(value)}; it must be true or false")
    return value


def integer(value: Any, where: str, low: int = -LARGEST_INTEGER, high: int = LARGEST_INTEGER) -> int:
    if type(value) is not int or not low <= value <= high:
        fail(where, f"is {spelled(value)}; it must be a whole number from {low} to {high}")
    return value


def number(value: Any, where: str, low: float = -LARGEST, high: float = LARGEST) -> float:
    if type(value) not in (int, float) or not low <= value <= high:
        fail(where, f"is {spelled(value)}; it must be {_range(low, high)}")
    return float(value)


def number_or_nan(value: Any, where: str, low: float = -LARGEST) -> float:
    return math.nan if value is None else number(value, where, low)


def number_or_none(value: Any, where: str) -> float | None:
    return None if value is None else number(value, where)


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


MOST_DIGITS = 20
"""The most digits of a whole number, enough for 64 bits; Python needs quadratic time to parse longer numbers."""


def parse(content: str) -> Any:
    """The value of a JSON text; NaN and infinities are let through, because the checks name their places."""
    n_parts = sum(content.count(mark) for mark in "[{:")
    if n_parts > MOST_PARTS:
        raise ModelFormatError(f"the file has {n_parts} lists, objects and keys; {MOST_PARTS} are the most allowed")
    try:
        return json.loads(content, object_pairs_hook=_object, parse_int=_whole_number)
    except RecursionError:
        raise ModelFormatError("the file is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ModelFormatError(f"the file is not JSON: {error}") from None


def render(value: Any, indent: str = "") -> str:
    """JSON with each entry of an object on a line of its own, and each list of plain values on one line."""
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        lines = [f"{deeper}{render(name)}: {render(entry, deeper)}" for name, entry in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        return "[\n" + ",\n".join(deeper + render(entry, deeper) for entry in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, entry in pairs:
        if name in entries:
            raise ModelFormatError(f"the file has the key {name[:40]!r} twice in one object")
        entries[name] = entry
    return entries


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ModelFormatError(f"the file has a whole number of {len(digits)} digits, {digits[:10]}...")
    return int(digits)


GZIP_START = b"\x1f\x8b"
GZIP_HEADER = 16 + zlib.MAX_WBITS
"""The argument that makes zlib expect the header of a gzip file."""


def write_file(path: str | os.PathLike[str], content: str) -> None:
    """Write a model file, compressed if its name ends with ".gz"."""
    data = content.encode()
    write_whole(Path(path), gzip.compress(data, mtime=0) if os.fspath(path).endswith(".gz") else data)


def read_file(path: str | os.PathLike[str]) -> str:
    """The text of a model file, compressed or not."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFormatError("the path is not that of a file")
    with open(path, "rb") as file:
        return decode(file.read(LARGEST_TEXT + 1))


def decode(data: bytes) -> str:
    """The text of a file's bytes."""
    _require_size(data)
    if data.startswith(GZIP_START):
        data = _decompress(data)
    if not data.strip():
        raise ModelFormatError("the file is empty")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"the file is not text in UTF-8: {error}") from None


def _decompress(data: bytes) -> bytes:
    stream = zlib.decompressobj(GZIP_HEADER)
    try:
        content = stream.decompress(data, LARGEST_TEXT + 1)
    except zlib.error as error:
        raise ModelFormatError(f"the file's gzip stream is damaged: {error}") from None
    _require_size(content)
    if not stream.eof:
        raise ModelFormatError("the file's gzip stream is cut off")
    if stream.unused_data:
        raise ModelFormatError("the file goes on after its gzip stream")
    return content


def _require_size(data: bytes) -> None:
    if len(data) > LARGEST_TEXT:
        raise ModelFormatError(f"the file holds more than {LARGEST_TEXT} bytes, the most that a model may have")
