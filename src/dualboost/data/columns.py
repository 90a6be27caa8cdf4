"""The type of a column: numbers, categories, text or times."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from difflib import get_close_matches
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._typing import Vector
from ..arguments import warn_user
from ..errors import DataWarning, InvalidDataError, InvalidParameterError

SHOWN = 5
"""How many names a message lists at most."""


class Source(NamedTuple):
    """Where a table comes from, and what its user can do about a column."""

    name: str = "X"
    first_row: int = 0
    """The number of the first row, as the user counts rows."""
    leave_out: str = "leave it out"
    declare: str = "name it in categorical_features"
    """How a column is said to hold categories."""
    make_numbers: str = "make numbers of it, as astype(float) does"
    """How text becomes numbers."""

    def column(self, name: Any) -> str:
        return f"{self.name}: column {name!r}"

    def row(self, position: int) -> str:
        return f"row {position + self.first_row}"


def few(names: Iterable[Any]) -> str:
    """The names, or the first of many."""
    listed = [str(name) for name in names]
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(map(repr, listed[:SHOWN])) + more


def suggestion(name: str, known: list[str]) -> str:
    """A hint at the column that the user may have meant."""
    near = [one for one in known if one.strip().lower() == name.strip().lower()] or get_close_matches(name, known, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {few(known)}."


NUMBERS = (Real, Decimal, np.bool_)
TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)
NESTED = (nw.List, nw.Array, nw.Struct, nw.Binary)


@dataclass(frozen=True, eq=False)
class Column:
    """A column, read when it is asked for."""

    name: Any
    source: Source
    kind: str
    """One of "numbers" (truth values are numbers), "categories" (of a type that says so), "text", "times", "mixed"
    (text and numbers) and "odd" (anything else)."""
    type_name: str
    """What its library calls the type."""
    read: Callable[[], list[Any]]
    values: Vector | None = None
    """The numbers, with nan where one is missing, if the type of the column says that they are numbers."""
    are_truths: bool = False
    """Whether all numbers are truth values."""

    @cached_property
    def entries(self) -> list[Any]:
        """The entries as values of Python, with None where one is missing."""
        return self.read()

    def numbers(self, why: str) -> Vector:
        """The entries as numbers; ``why`` they must be numbers is told where one is not."""
        if self.values is not None:
            return self.values
        found = np.full(len(self.entries), np.nan)
        for k, entry in enumerate(self.entries):
            if entry is not None:
                number = as_number(entry)
                if number is None:
                    raise self.refused(f"must hold numbers, {why}; {self.source.row(k)} has {entry!r}.")
                found[k] = number
        return found

    def refused(self, what: str) -> InvalidDataError:
        return InvalidDataError(f"{self.source.column(self.name)} {what}")


def column_of_series(series: nw.Series[Any], name: Any, source: Source) -> Column:
    """A column of a table that narwhals reads."""
    dtype = series.dtype
    type_name = _native_type(series)

    def read() -> list[Any]:
        return _without_gaps(series.to_list())

    def read_typed() -> list[Any]:
        """The same, faster, where the type leaves no other gaps than nulls."""
        entries = series.to_list()
        for k in np.flatnonzero(series.is_null().to_numpy()).tolist():
            entries[k] = None
        return entries

    if dtype.is_numeric() or dtype == nw.Boolean:
        values = series.cast(nw.Float64).to_numpy()
        is_plain = values.dtype == np.float64  # some versions of pandas give objects where numbers are missing
        return Column(name, source, "numbers", type_name, read, values if is_plain else None, dtype == nw.Boolean)
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return Column(name, source, "categories", type_name, read_typed)
    if dtype.is_temporal():
        return Column(name, source, "times", type_name, read)
    if dtype == nw.String and type_name != "object":
        return Column(name, source, "text", type_name, read_typed)
    if isinstance(dtype, NESTED):
        return Column(name, source, "odd", type_name, read)
    return _column_of_objects(name, source, type_name, read())


def column_of_array(values: NDArray[Any], name: Any, source: Source) -> Column:
    """A column of an array."""
    if values.dtype.kind in "biuf":
        are_truths = values.dtype == np.bool_
        read = lambda: _without_gaps(values.tolist())  # noqa: E731
        return Column(name, source, "numbers", str(values.dtype), read, values, are_truths)
    return _column_of_objects(name, source, str(values.dtype), _without_gaps(values.tolist()))


def _column_of_objects(name: Any, source: Source, type_name: str, entries: list[Any]) -> Column:
    """A column whose type leaves open what it holds: its entries decide."""
    types = {type(entry) for entry in entries} - {type(None)}
    return Column(name, source, _kind_of(types), type_name, lambda: entries, are_truths=types == {bool})


def _kind_of(types: Iterable[type]) -> str:
    are_text = [issubclass(kind, str) for kind in types]
    are_numbers = [issubclass(kind, NUMBERS) for kind in types]
    if all(are_numbers):
        return "numbers"
    if all(are_text):
        return "text"
    if all(issubclass(kind, TIMES) or hasattr(kind, "year") for kind in types):
        return "times"
    are_either = [text or number for text, number in zip(are_text, are_numbers, strict=True)]
    return "mixed" if all(are_either) else "odd"


def _native_type(series: nw.Series[Any]) -> str:
    native = series.to_native()
    return str(getattr(native, "dtype", None) or getattr(native, "type", series.dtype))


def _without_gaps(entries: list[Any]) -> list[Any]:
    """The entries, with None where one is missing."""
    return [None if is_gap(entry) else _plain(entry) for entry in entries]


def _plain(entry: Any) -> Any:
    """numpy's scalars as values of Python, which compare and print alike in all libraries."""
    return entry.item() if isinstance(entry, np.generic) and not isinstance(entry, TIMES) else entry


def is_gap(entry: Any) -> bool:
    """Whether an entry is missing: None, pandas' NA, or what differs from itself, as nan does."""
    try:
        return entry is None or bool(entry != entry)
    except TypeError:  # whether NA differs from itself is NA, which is neither true nor false
        return True
    except ValueError:  # an array, which is no entry, but not missing
        return False


def as_number(entry: Any) -> float | None:
    """A number, also where it is written as text; None for anything else."""
    if not isinstance(entry, (*NUMBERS, str)):
        return None
    try:
        return float(entry)
    except ValueError:
        return None
    except OverflowError:  # a whole number beyond double precision
        return float(np.inf)


CLOCK = r"([T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|[+-]\d{2}:?\d{2}))?)?"
DATE = re.compile(rf"(\d{{4}}([-/.])\d{{1,2}}\2\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\3\d{{4}}){CLOCK}")


def are_dates(texts: Iterable[str]) -> bool:
    """Whether there are texts, and every one is a date: 2024-03-01, 2024-03-01T12:00, 1.3.2024 or 03/01/2024."""
    found = [DATE.fullmatch(text.strip()) is not None for text in texts]
    return bool(found) and all(found)


def holds_times(column: Column) -> bool:
    """Whether a column holds times, or text that is dates."""
    return column.kind == "times" or (
        column.kind == "text" and are_dates({entry for entry in column.entries if entry is not None})
    )


def refused_times(column: Column, others: Iterable[Column] = ()) -> InvalidDataError:
    """The error for a column of times, and for ``others`` that hold some too: which numbers to make of them."""
    present = [(k, entry) for k, entry in enumerate(column.entries) if entry is not None]
    row, value = next((one for one in present if _has_clock(one[1])), present[0] if present else (0, None))
    too = [repr(other.name) for other in others if other is not column and holds_times(other)]
    as_well = f", and so {'does' if len(too) == 1 else 'do'} {', '.join(too)}" if too else ""
    return column.refused(
        f"holds dates or times ({column.source.row(row)} has {str(value)!r}), which are no numbers{as_well}. "
        f"{_parts(value)} Then {column.source.leave_out}. If its few values stand for groups of rows, "
        f"{column.source.declare}."
    )


def _parts(value: object) -> str:
    """Which numbers to make of times such as this one."""
    if hasattr(value, "total_seconds"):
        return "Make a number of it, such as its days or seconds."
    clock = "the hour, " if _has_clock(value) else ""
    if hasattr(value, "hour") and not hasattr(value, "year"):
        return "Make numbers of its parts: the hour, or the minutes since midnight."
    return (
        f"Make numbers of the parts that may matter: the month, the day of the week, {clock}and the days since a fixed "
        "day, or until another date of the row."
    )


def _has_clock(value: object) -> bool:
    """Whether it has an hour other than midnight."""
    if isinstance(value, str):
        return ":" in value
    return any(getattr(value, part, 0) for part in ("hour", "minute", "second"))


MOSTLY = 0.9
"""A column counts as numbers, or as an identifier, if more than this share of its values looks like that."""
ENOUGH_ROWS = 50
"""Columns with fewer values than this are never taken for identifiers."""
MOST_CODES = 10
"""Text with no more different numbers than this is taken for codes of categories without a word."""
ENOUGH_TO_TELL = 10
"""If a column has at least this many values and none is a known category, its type has probably changed."""


def doubt_training(column: Column, n_kinds: int, by_type: bool = True) -> None:
    """Warn of a column of numbers that are text or contain a word, and of one that looks like an identifier.

    Only its type, and not the user, has said that the column holds categories if ``by_type``.
    """
    present = [(k, entry) for k, entry in enumerate(column.entries) if entry is not None]
    note = _word_among_numbers(column, present) if column.kind == "text" else ""
    if not note and by_type and column.kind == "text":
        note = _numbers_as_text(column, present, n_kinds)
    if not note and len(present) >= ENOUGH_ROWS and n_kinds > MOSTLY * len(present):
        note = (
            f"has {n_kinds} different values in {len(present)} rows, which tell nothing about other rows: "
            f"{column.source.leave_out}, or make numbers or a few categories of it."
        )
    if note:
        warn_user(f"{column.source.column(column.name)} {note}", DataWarning)


def _word_among_numbers(column: Column, present: list[tuple[int, str]]) -> str:
    words = [(k, entry) for k, entry in present if as_number(entry) is None]
    if not words or len(words) >= (1 - MOSTLY) * len(present):
        return ""
    row, word = words[0]
    return f"is text, as {column.source.row(row)} has {word!r}; its numbers become categories."


def _numbers_as_text(column: Column, present: list[tuple[int, str]], n_kinds: int) -> str:
    """Codes that begin with a zero, such as postcodes, are no numbers."""
    if n_kinds <= MOST_CODES:
        return ""
    if any(entry.strip()[:1] == "0" and entry.strip()[1:2].isdigit() for _, entry in present):
        return ""
    if any(as_number(entry) is None for _, entry in present):
        return ""
    return (
        f"holds numbers written as text, such as {present[0][1]!r}, and each of its {n_kinds} different values becomes "
        f"a category: {column.source.make_numbers}, or {column.source.declare} if they are meant as categories."
    )


def doubt_unknown(column: Column) -> None:
    """Warn of a column none of whose values was seen in training."""
    present = [entry for entry in column.entries if entry is not None]
    if len(present) >= ENOUGH_TO_TELL:
        warn_user(
            f"{column.source.column(column.name)} has no value (such as {present[0]!r}) that is a category of the "
            "training data: all of them count as missing.",
            DataWarning,
        )


FROM_DTYPE = "from_dtype"
TRUTH = (bool, np.bool_)


def require_categorical_features(value: Any) -> list[Any] | None:
    """The names, positions or truth values that are asked for; None where types decide."""
    if isinstance(value, str) and value == FROM_DTYPE:
        return None
    entries = [] if value is None else value
    if isinstance(entries, str) or not isinstance(entries, (Sequence, np.ndarray)) or np.ndim(entries) != 1:
        hint = f" (did you mean [{value!r}]?)" if isinstance(value, str) else ""
        raise _refused(value, hint)
    listed = list(entries)
    kinds = [
        all(isinstance(entry, TRUTH) for entry in listed),
        all(isinstance(entry, str) for entry in listed),
        all(_is_position(entry) for entry in listed),
    ]
    if not any(kinds):
        raise _refused(value)
    return listed


def _is_position(entry: Any) -> bool:
    return isinstance(entry, (int, np.integer)) and not isinstance(entry, bool) and bool(entry >= 0)


def _refused(value: Any, hint: str = "") -> InvalidParameterError:
    return InvalidParameterError(
        f"categorical_features={value!r} must be {FROM_DTYPE!r}, None, or a list of names, of positions, or of one "
        f"truth value for each column{hint}."
    )


def chosen_positions(value: Any, n_columns: int, names: Sequence[Any] | None) -> set[int] | None:
    """The positions of the columns with categories; None where types decide."""
    listed = require_categorical_features(value)
    if listed is None or not listed:
        return None if listed is None else set()
    if isinstance(listed[0], TRUTH):
        if len(listed) != n_columns:
            raise InvalidParameterError(
                f"categorical_features has {len(listed)} truth values; it must have one for each of {n_columns} "
                "columns."
            )
        return set(np.flatnonzero(listed).tolist())
    if isinstance(listed[0], str):
        return {_position(name, names) for name in listed}
    beyond = [entry for entry in listed if entry >= n_columns]
    if beyond:
        raise InvalidParameterError(
            f"categorical_features holds the position {beyond[0]}; X has the columns 0 to {n_columns - 1}."
        )
    return {int(entry) for entry in listed}


def _position(name: str, names: Sequence[Any] | None) -> int:
    if names is None:
        raise InvalidParameterError(f"categorical_features names {name!r}, but X has no column names: give positions.")
    if name not in names:
        known = [str(one) for one in names]
        raise InvalidParameterError(
            f"categorical_features names {name!r}, which X does not have; {suggestion(name, known)}"
        )
    return list(names).index(name)
