"""Columns of numbers, categories, text or times, and the errors and warnings about them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
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
from ..errors import DataWarning, InvalidDataError

MOST_NAMES = 5
"""The most names in a message."""


class Source(NamedTuple):
    """The origin of a table, and advice about its columns, for messages."""

    name: str = "X"
    first_row: int = 0
    """The number of the first row, as users count."""
    leave_out: str = "leave it out"
    declare: str = "name it in categorical_features"
    """How to declare a column of categories."""
    make_numbers: str = "make numbers of it, as astype(float) does"
    mend: str = (
        "Make such entries numbers or missing, as pandas.to_numeric(column, errors='coerce') does for numbers; "
        "column.astype('category') makes all entries categories"
    )
    """Advice about entries of a column of numbers that are no numbers."""
    partitions: tuple[tuple[int, int], ...] = ()
    """The number of each partition of the rows, and how many rows it has, in order."""

    def column(self, name: Any) -> str:
        return f"{self.name}: column {name!r}"

    def row(self, position: int) -> str:
        for number, n_rows in self.partitions:
            if position < n_rows:
                return f"row {position} of partition {number}"
            position -= n_rows
        return f"row {position + self.first_row}"


def few(names: Iterable[Any]) -> str:
    """The names, or the first of many."""
    listed = [str(name) for name in names]
    more = f" and {len(listed) - MOST_NAMES} more" if len(listed) > MOST_NAMES else ""
    return ", ".join(map(repr, listed[:MOST_NAMES])) + more


def suggestion(name: str, known: list[str]) -> str:
    """The nearest name, or a list of the names, for a message."""
    near = [one for one in known if one.strip().lower() == name.strip().lower()] or get_close_matches(name, known, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {few(known)}."


NUMBERS = (Real, Decimal, np.bool_)
TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)
NESTED = (nw.List, nw.Array, nw.Struct, nw.Binary)


@dataclass(frozen=True, eq=False)
class Column:
    """A column; its entries are read on first use."""

    name: Any
    source: Source
    kind: str
    """One of "numbers" (truth values included), "categories" (by its type), "text", "times", "mixed" (text and numbers)
    and "odd" (anything else)."""
    type_name: str
    """The name of the type in the library of the table."""
    read: Callable[[], list[Any]]
    values: Vector | None = None
    """The numbers, with nan for missing ones, if the column has a numeric type."""
    are_truths: bool = False
    """Whether all numbers are truth values."""

    @cached_property
    def entries(self) -> list[Any]:
        """The entries as values of Python, with None for missing ones."""
        return self.read()

    @property
    def is_missing(self) -> bool:
        """Whether no entry is present."""
        if self.values is not None:
            return bool(np.isnan(self.values).all())
        return all(entry is None for entry in self.entries)

    def numbers(self, why: str, advice: str = "") -> Vector:
        """The entries as numbers; ``why`` they must be numbers is part of the error."""
        if self.values is not None:
            return self.values
        numbers = [np.nan if entry is None else as_number(entry) for entry in self.entries]
        wrong = [k for k, number in enumerate(numbers) if number is None]
        if wrong:  # one broken entry leaves the truth values beside it as text
            row = next((k for k in wrong if not is_truth(self.entries[k])), wrong[0])
            raise self.no_number(self.source.row(row), self.entries[row], why, advice)
        return np.array(numbers, dtype=np.float64)

    def training_numbers(self) -> Vector:
        """The entries of a column of the training data that has no categories."""
        return self.numbers(self._unless_declared, self.source.mend)

    def no_training_number(self, entries: Collection[Any]) -> InvalidDataError:
        """The error for the first of these entries."""
        found = ((self.source.row(k), entry) for k, entry in enumerate(self.entries) if entry in entries)
        row, entry = next(found, ("a row of another worker", next(iter(entries))))
        return self.no_number(row, entry, self._unless_declared, self.source.mend)

    @property
    def _unless_declared(self) -> str:
        return f"unless you {self.source.declare}"

    def no_number(self, row: str, entry: Any, why: str, advice: str = "") -> InvalidDataError:
        then = f" {advice}." if advice else ""
        return self.refused(f"must hold numbers, {why}; {row} has {entry!r}.{then}")

    def refused(self, what: str) -> InvalidDataError:
        return InvalidDataError(f"{self.source.column(self.name)} {what}")


def column_of_series(series: nw.Series[Any], name: Any, source: Source) -> Column:
    dtype = series.dtype
    type_name = _native_type(series)

    def read() -> list[Any]:
        return _without_gaps(series.to_list())

    def read_typed() -> list[Any]:
        """``read`` for types whose only missing entries are nulls; it is faster."""
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
    if values.dtype.kind in "biuf":
        are_truths = values.dtype == np.bool_
        read = lambda: _without_gaps(values.tolist())  # noqa: E731
        return Column(name, source, "numbers", str(values.dtype), read, values, are_truths)
    if values.dtype.kind in "mM":  # lists of nanoseconds would hold integers
        times = values.astype(f"{values.dtype.kind}8[us]")
        return Column(name, source, "times", str(values.dtype), lambda: _without_gaps(times.tolist()))
    return _column_of_objects(name, source, str(values.dtype), _without_gaps(values.tolist()))


def _column_of_objects(name: Any, source: Source, type_name: str, entries: list[Any]) -> Column:
    types = {type(entry) for entry in entries} - {type(None)}
    return Column(name, source, kind_of(types), type_name, lambda: entries, are_truths=types == {bool})


def kind_of(types: Iterable[type]) -> str:
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
    return [None if is_gap(entry) else _plain(entry) for entry in entries]


def _plain(entry: Any) -> Any:
    """Scalars of numpy as values of Python, which compare and print alike in all libraries."""
    return entry.item() if isinstance(entry, np.generic) and not isinstance(entry, TIMES) else entry


def is_gap(entry: Any) -> bool:
    """Whether an entry is missing: None, NA of pandas, or unequal to itself, as nan is."""
    try:
        return entry is None or bool(entry != entry)
    except TypeError:  # whether NA differs from itself is NA, which is neither true nor false
        return True
    except ValueError:  # an array
        return False


def is_truth(entry: Any) -> bool:
    """Whether an entry is a truth value, or text for one."""
    return isinstance(entry, bool) or (isinstance(entry, str) and entry.strip().lower() in ("true", "false"))


def as_number(entry: Any) -> float | None:
    """The number of an entry, which may be text; None for anything else."""
    if not isinstance(entry, (*NUMBERS, str)):
        return None
    try:
        return float(entry)
    except ValueError:
        return None
    except OverflowError:  # a whole number beyond double precision
        return float(np.inf)


SMALLEST_CATEGORY = 4
"""A category with fewer training rows than this counts as missing, like a category that training rows lack."""
MOSTLY = 0.9
"""A column holds numbers, or an identifier, if more than this share of its values looks so."""
FEW_ROWS = 0.01
"""Entries too rare for categories are broken if at most this share of the rows has them."""
ENOUGH_ROWS = 50
"""Columns with fewer values than this are no identifiers."""
MOST_CODES = 10
"""Text with up to this many distinct numbers counts as codes of categories, without a warning."""
FEWEST_VALUES = 10
"""A column with at least this many values, none of them a known category, had another type in training."""


WRITTEN = re.compile(r"[-+]?[$€£]?\s?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?\s?[%$€£]?")
"""Formatted numbers: 1,234 or 12% or $5."""
LEADING_NUMBER = re.compile(r"^[-+]?[\d.,]+\s*")
FEWEST_CODES = 3
"""A column with this many distinct words of letters and digits, such as V57, K1A or 12B, holds codes."""


def nearly_all(sizes: Mapping[Any, float], others: Collection[Any]) -> bool:
    """Whether ``others`` are few: a tenth of the distinct entries, or rare entries in a hundredth of the rows.

    ``sizes`` are the numbers of rows of all distinct entries.
    """
    if len(others) <= (1 - MOSTLY) * len(sizes):
        return True
    rows = sum(sizes[entry] for entry in others)
    return rows <= FEW_ROWS * sum(sizes.values()) and all(sizes[entry] < SMALLEST_CATEGORY for entry in others)


def broken_entries(sizes: Mapping[Any, float]) -> list[Any]:
    """The entries of a text column of numbers or truth values that are neither; none if it holds categories.

    ``sizes`` are the numbers of rows of its distinct entries. Codes are categories: numbers that begin with a zero, and
    three or more distinct words of letters and digits.
    """
    unread = [entry for entry in sizes if not _is_value(entry)]
    words = [entry for entry in unread if not _is_written_number(entry)]
    if not unread or len(unread) == len(sizes) or not nearly_all(sizes, words):
        return []
    marks = {LEADING_NUMBER.sub("", str(word)) for word in words if _has_letters_and_digits(str(word))}
    return [] if len(marks) >= FEWEST_CODES or any(map(_begins_with_zero, sizes)) else unread


def _is_value(entry: Any) -> bool:
    return as_number(entry) is not None or is_truth(entry)


def _is_written_number(entry: Any) -> bool:
    return isinstance(entry, str) and WRITTEN.fullmatch(entry.strip()) is not None


def _has_letters_and_digits(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _begins_with_zero(entry: Any) -> bool:
    """Whether an entry is a code such as 01234."""
    return isinstance(entry, str) and entry.strip()[:1] == "0" and entry.strip()[1:2].isdigit()


def check_training_column(column: Column, sizes: Mapping[Any, float], n_present: int, is_text: bool) -> None:
    """Refuse a column of numbers with a broken entry; warn of numbers as text, and of identifiers.

    ``sizes`` and ``n_present``, the number of entries that are not missing, are sums over all workers. ``is_text``: the
    column has categories because its entries are text, without a declaration by its type or the user.
    """
    note = ""
    if is_text:
        broken = broken_entries(sizes)
        if broken:
            raise column.no_training_number(broken)
        note = _word_among_numbers(column, sizes) or _numbers_as_text(column, sizes)
    if not note and n_present >= ENOUGH_ROWS and len(sizes) > MOSTLY * n_present:
        note = (
            f"has {len(sizes)} different values in {n_present} rows, from which nothing can be learnt for other rows: "
            f"{column.source.leave_out}, or make numbers or a few categories of it."
        )
    if note:
        warn_user(f"{column.source.column(column.name)} {note}", DataWarning)


def _word_among_numbers(column: Column, sizes: Mapping[Any, float]) -> str:
    """A note on text that is mostly numbers, by its rows or by its distinct entries."""
    words = {entry for entry in sizes if not _is_value(entry) and not _is_written_number(entry)}
    are_rare = sum(sizes[word] for word in words) < (1 - MOSTLY) * sum(sizes.values())
    n_numbers = len(sizes) - len(words)
    are_fewer = MOST_CODES < n_numbers > len(words) and not any(map(_begins_with_zero, sizes))
    if not words or not (are_rare or are_fewer):
        return ""
    rows = (column.source.row(k) for k, entry in enumerate(column.entries) if entry in words)
    first = next((entry for entry in column.entries if entry in words), next(iter(words)))
    row = next(rows, "a row of another worker")
    return f"is text, as {row} has {first!r}; its numbers or truth values become categories."


def _numbers_as_text(column: Column, sizes: Mapping[Any, float]) -> str:
    """Codes that begin with a zero, such as postcodes, are no numbers."""
    if len(sizes) <= MOST_CODES or any(map(_begins_with_zero, sizes)):
        return ""
    if any(as_number(entry) is None and not _is_written_number(entry) for entry in sizes):
        return ""
    return (
        f"holds numbers written as text, such as {next(iter(sizes))!r}, and each of its {len(sizes)} different values "
        f"becomes a category: {column.source.make_numbers}, or {column.source.declare} if they are meant as categories."
    )


def warn_if_unknown(column: Column) -> None:
    """Warn of a column without a value of the training data."""
    present = [entry for entry in column.entries if entry is not None]
    if len(present) >= FEWEST_VALUES:
        warn_user(
            f"{column.source.column(column.name)} has no value (such as {present[0]!r}) that is a category of the "
            "training data: all of them count as missing.",
            DataWarning,
        )


CLOCK = r"([T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|[+-]\d{2}:?\d{2}))?)?"
DATE = re.compile(rf"(\d{{4}}([-/.])\d{{1,2}}\2\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\3\d{{4}}){CLOCK}")


def are_dates(texts: Iterable[str]) -> bool:
    """Whether nearly all texts are dates: 2024-03-01, 2024-03-01T12:00, 1.3.2024 or 03/01/2024."""
    sizes = Counter(texts)
    return bool(sizes) and nearly_all(sizes, [text for text in sizes if not _is_date(text)])


def _is_date(text: str) -> bool:
    return DATE.fullmatch(text.strip()) is not None


def holds_times(column: Column) -> bool:
    """Whether a column holds times, or text that is dates."""
    return column.kind == "times" or (
        column.kind == "text" and are_dates(entry for entry in column.entries if entry is not None)
    )


def refused_times(column: Column, others: Iterable[Column] = ()) -> InvalidDataError:
    """The error for a column of times, with advice; it also names the columns of times among ``others``."""
    entries = enumerate(column.entries)
    present = [(k, one) for k, one in entries if one is not None and (not isinstance(one, str) or _is_date(one))]
    row, value = next((one for one in present if _has_clock(one[1])), present[0] if present else (0, None))
    too = [repr(other.name) for other in others if other is not column and holds_times(other)]
    as_well = f", and so {'does' if len(too) == 1 else 'do'} {', '.join(too)}" if too else ""
    return column.refused(
        f"holds dates or times ({column.source.row(row)} has {str(value)!r}), which are no numbers{as_well}. "
        f"{_parts(value)} Then {column.source.leave_out}. If its few values stand for groups of rows, "
        f"{column.source.declare}."
    )


def _parts(value: object) -> str:
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
    if isinstance(value, str):
        return ":" in value
    return any(getattr(value, part, 0) for part in ("hour", "minute", "second"))
