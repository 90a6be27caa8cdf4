"""What a column of a table holds: numbers, categories, text, times, or what no model can learn from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._typing import Vector
from ..errors import InvalidDataError
from .messages import Source

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

    @property
    def is_missing(self) -> bool:
        """Whether no entry is present."""
        if self.values is not None:
            return bool(np.isnan(self.values).all())
        return all(entry is None for entry in self.entries)

    def numbers(self, why: str, advice: str = "") -> Vector:
        """The entries as numbers, or an error that names ``why`` they must be numbers."""
        if self.values is not None:
            return self.values
        numbers = [np.nan if entry is None else as_number(entry) for entry in self.entries]
        wrong = [k for k, number in enumerate(numbers) if number is None]
        if wrong:  # one broken entry leaves the truth values beside it as text
            row = next((k for k in wrong if not is_truth(self.entries[k])), wrong[0])
            raise self.no_number(self.source.row(row), self.entries[row], why, advice)
        return np.array(numbers, dtype=np.float64)

    def training_numbers(self) -> Vector:
        """The entries of a column of training data that is not one of categories."""
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
    if values.dtype.kind in "mM":  # lists of nanoseconds would hold integers
        times = values.astype(f"{values.dtype.kind}8[us]")
        return Column(name, source, "times", str(values.dtype), lambda: _without_gaps(times.tolist()))
    return _column_of_objects(name, source, str(values.dtype), _without_gaps(values.tolist()))


def _column_of_objects(name: Any, source: Source, type_name: str, entries: list[Any]) -> Column:
    """A column whose type leaves open what it holds: its entries decide."""
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


def is_truth(entry: Any) -> bool:
    """Whether an entry is a truth value, also where it is written as text."""
    return isinstance(entry, bool) or (isinstance(entry, str) and entry.strip().lower() in ("true", "false"))


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
