"""From tables, arrays and sparse matrices to the features of learners.

Text and categories become codes, truth values numbers; dates are refused.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features, Vector
from ..errors import InvalidDataError
from ..workers import ALONE, Communicator
from ..workers.base import objects_of_all
from .columns import SMALLEST_CATEGORY as SMALLEST_CATEGORY
from .columns import (
    Column,
    Source,
    are_dates,
    as_number,
    check_training_column,
    kind_of,
    refused_times,
    warn_if_unknown,
)
from .merging import numbers_of_rows
from .on_disk import CodedFeatures
from .tables import Table


@dataclass(frozen=True, eq=False)
class FeatureEncoder:
    """The categories of some columns, in the order of their codes; the other columns hold numbers."""

    categories: dict[int, NDArray[Any]] = field(default_factory=dict)
    truths: frozenset[int] = frozenset()
    """The columns of truth values; rules and database queries write their numbers as truth values."""

    @classmethod
    def fitted(
        cls, table: Table, weights: Vector, listed: Collection[int] | None = None, workers: Communicator = ALONE
    ) -> FeatureEncoder:
        """The encoder of a training table; ``listed`` are the columns of categories, None for a choice by type.

        If workers have parts of the table, the type of a column depends on all parts.
        """
        is_plain = not listed and table.numbers is not None
        if not workers.max(float(not is_plain)):
            return cls(truths=frozenset.intersection(*objects_of_all(workers, table.truths)))
        wholes = _wholes(table, listed, workers)
        positions = _categorical(table, wholes, listed)
        n_rows = numbers_of_rows(weights, workers)
        sizes = _of_all({k: _sizes(table.column(k), n_rows) for k in positions}, workers)
        n_present = workers.sum(
            np.array([sum(e is not None for e in table.column(k).entries) for k in positions], float)
        )
        for k, n in zip(positions, n_present.tolist(), strict=True):
            check_training_column(table.column(k), sizes[k], int(n), listed is None and wholes[k].kind == "text")
        truths = frozenset(k for k, whole in enumerate(wholes) if whole.are_truths)
        return cls({k: _categories(sizes[k]) for k in positions}, truths.difference(positions))

    def transform(self, table: Table) -> Features:
        """The columns as numbers; a category that is rare or absent in the training data counts as missing."""
        whole = None if self.categories else table.numbers
        if whole is not None:
            return whole
        n_rows, n_columns = table.shape
        features = np.empty((n_rows, n_columns), order="F")
        for k in range(n_columns):
            column = table.column(k)
            known = self.categories.get(k)
            features[:, k] = column.numbers("as in training") if known is None else _codes(column, known)
        return features


def _wholes(table: Table, listed: Collection[int] | None, workers: Communicator) -> list[Contents]:
    columns = [table.column(k) for k in range(table.shape[1])]
    parts = objects_of_all(workers, contents_of_table(table))
    places = [f"worker {rank}" for rank in range(workers.size)]
    return [
        whole_of(column.source.column(column.name), part, places, k in (listed or ()))
        for k, (column, part) in enumerate(zip(columns, zip(*parts, strict=True), strict=True))
    ]


def _categorical(table: Table, wholes: list[Contents], listed: Collection[int] | None) -> list[int]:
    """The positions of the columns of categories; every other column must hold numbers."""
    positions = []
    for k, whole in enumerate(wholes):
        column = table.column(k)
        if k in listed if listed is not None else _is_categorical(column, whole, table):
            positions.append(k)
        else:
            column.training_numbers()
    return positions


def _is_categorical(column: Column, whole: Contents, table: Table) -> bool:
    """Whether the column has categories by its type; dates and unknown types are refused."""
    if whole.are_dates:
        raise refused_times(column, map(table.column, range(table.shape[1])))
    if whole.kind == "odd":
        raise column.refused(
            f"is of type {column.type_name}: make numbers or text of it, or {column.source.leave_out}."
        )
    return whole.kind in ("categories", "text")


def _of_all(sizes: dict[int, dict[Any, float]], workers: Communicator) -> dict[int, dict[Any, float]]:
    first, *others = objects_of_all(workers, sizes) if sizes else [sizes]
    for other in others:
        for k, own in first.items():
            for entry, size in other[k].items():
                own[entry] = own.get(entry, 0.0) + size
    return first


def _categories(sizes: dict[Any, float]) -> NDArray[Any]:
    """The values with enough rows, in order; if they have several types, in the order of types."""
    values = [entry for entry, size in sizes.items() if size >= SMALLEST_CATEGORY]
    try:
        return _as_array(sorted(values))
    except TypeError:
        return _as_array(sorted(values, key=lambda value: (type(value).__name__, str(value))))


def _sizes(column: Column, n_rows: Vector) -> dict[Any, float]:
    """The number of rows with each value; entry i represents ``n_rows[i]`` rows."""
    sizes: dict[Any, float] = {}
    for entry, number in zip(column.entries, n_rows.tolist(), strict=True):
        if entry is not None:
            sizes[entry] = sizes.get(entry, 0.0) + number
    return sizes


def _as_array(values: list[Any]) -> NDArray[Any]:
    """An array of numbers if all values have one numeric type, else an array of objects."""
    types = {type(value) for value in values}
    if len(types) == 1 and types <= {bool, int, float}:
        numbers = np.array(values)
        if numbers.dtype.kind in "biuf" and numbers.tolist() == values:
            return numbers
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _codes(column: Column, known: NDArray[Any]) -> Vector:
    """The code of each entry; nan if it is missing or unknown."""
    lookup = {value: float(code) for code, value in enumerate(known.tolist())}
    entries = column.entries
    are_text = all(isinstance(value, str) for value in lookup)
    if are_text and not set(map(type, entries)) <= {str, type(None)}:  # a number may have been text in training
        entries = [None if entry is None else str(entry) for entry in entries]
    codes = np.fromiter(map(lookup.get, entries, repeat(np.nan)), dtype=np.float64, count=len(entries))
    if len(known) and np.isnan(codes).all():
        warn_if_unknown(column)
    return codes


# A column may have several parts, on workers or in partitions. They are compared before any of them is read, so that
# one part does not change the type of the others.

WORDS = {"times": "dates or times", "mixed": "text and numbers", "odd": "neither numbers nor text"}


class Contents(NamedTuple):
    """The contents of a column, or of a part of it."""

    kind: str
    """See ``Column``."""
    of_entries: str
    """The kind of the entries; of a column of categories, the kind of the categories."""
    is_missing: bool
    """Whether all entries are missing; the types of other parts count then."""
    are_truths: bool
    are_dates: bool
    """Whether the entries are times, or text that is dates."""
    word: str | None = None
    """The first entry of text that is no number."""

    @property
    def words(self) -> str:
        entries = WORDS.get(self.of_entries, self.of_entries)
        if self.kind == "categories":
            return f"categories that are {entries}"
        return entries if self.word is None else f"{entries} ({self.word!r})"


def contents_of(column: Column) -> Contents:
    entries, kind = column.kind, column.kind
    if kind == "categories":
        entries = kind_of({type(entry) for entry in column.entries} - {type(None)})
    dates = kind == "times" or (kind == "text" and are_dates({one for one in column.entries if one is not None}))
    word = None
    if kind in ("text", "mixed"):
        word = next((one for one in column.entries if one is not None and as_number(one) is None), None)
    return Contents(kind, entries, column.is_missing, column.are_truths, dates, word)


PLAIN_NUMBERS = Contents("numbers", "numbers", False, False, False)


def contents_of_table(table: Table) -> list[Contents]:
    """The contents of each column; fast for a matrix."""
    numbers = table.numbers
    if numbers is None or table.truths:
        return [contents_of(table.column(k)) for k in range(table.shape[1])]
    missing = PLAIN_NUMBERS._replace(is_missing=True)
    if sparse.issparse(numbers):
        return [PLAIN_NUMBERS] * table.shape[1]
    return [missing if is_missing else PLAIN_NUMBERS for is_missing in np.isnan(numbers).all(axis=0).tolist()]


def whole_of(name: str, parts: Sequence[Contents], places: Sequence[str], is_listed: bool = False) -> Contents:
    """The contents of all parts; an error names two parts that cannot be one column.

    Text beside numbers must be numbers, as in one table. ``is_listed``: the user declares a column of categories.
    """
    if not is_listed and all(part == parts[0] for part in parts):
        return parts[0]
    counted = [k for k, part in enumerate(parts) if not part.is_missing] or list(range(len(parts)))
    present = [parts[k] for k in counted]
    kind = _kind(present, is_listed)
    if kind is None:
        first = parts[counted[0]]
        other = next(k for k in counted if parts[k][:2] != first[:2])
        raise InvalidDataError(
            f"{name} holds {first.words} in {places[counted[0]]} and {parts[other].words} in {places[other]}: give it "
            "the same type everywhere, as astype does."
        )
    return Contents(
        kind,
        present[0].of_entries,
        all(part.is_missing for part in parts),
        all(part.are_truths for part in present),
        kind in ("times", "text") and all(part.are_dates for part in present),
    )


def _kind(parts: Sequence[Contents], is_listed: bool) -> str | None:
    """The kind of the whole column; None if the parts do not fit together."""
    part_kinds, entries = {part.kind for part in parts}, {part.of_entries for part in parts}
    if is_listed:  # text and numbers are different categories: meant only if a part has both
        are_meant = len(entries) == 1 or ("mixed" in entries and entries <= {"numbers", "text", "mixed"})
        return "categories" if are_meant else None
    if len(part_kinds) == 1 and len(entries) == 1:
        return parts[0].kind
    if "categories" in part_kinds:
        return "text" if entries == {"text"} else None
    are_numbers = part_kinds <= {"numbers", "text", "mixed"} and all(part.word is None for part in parts)
    return "mixed" if are_numbers else None


def require_same_columns(parts: Sequence[Sequence[Any]], places: Sequence[str]) -> None:
    """Refuse a part of X whose columns, or their order, differ from the first part; columns of arrays have numbers."""
    first = parts[0]
    for part, place in zip(parts[1:], places[1:], strict=True):
        if list(part) == list(first):
            continue
        if len(part) != len(first) and all(isinstance(name, int) for name in (*part, *first)):
            raise InvalidDataError(f"X has {len(first)} columns in {places[0]} and {len(part)} in {place}.")
        for one, other, here, there in ((part, first, place, places[0]), (first, part, places[0], place)):
            extra = [name for name in one if name not in other]
            if extra:
                raise InvalidDataError(
                    f"X has the column {extra[0]!r} in {here}, but not in {there}: all must have the same columns."
                )
        k = next(k for k, (one, other) in enumerate(zip(first, part, strict=True)) if one != other)
        raise InvalidDataError(
            f"X has its columns in another order in {place} than in {places[0]}: {part[k]!r} stands in place of "
            f"{first[k]!r}. Select them by name, as X[names] does."
        )


def require_finite(X: Features, source: Source, names: list[Any] | None = None) -> None:
    """Refuse infinite numbers, by the column and the row of the first."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):  # fast, for most tables without missing values
            return
    place = _infinite(X)
    if place is not None:
        row, column = place
        name = column if names is None else names[column]
        raise InvalidDataError(
            f"{source.column(name)} contains infinity in {source.row(row)}; make it missing (nan), or cut it off at a "
            "large number."
        )


def _infinite(X: Features) -> tuple[int, int] | None:
    if sparse.issparse(X):
        entries = X.tocoo()
        wrong = np.flatnonzero(np.isinf(entries.data))
        return (int(entries.row[wrong[0]]), int(entries.col[wrong[0]])) if len(wrong) else None
    largest = np.fmax(np.fmax.reduce(X, axis=0), -np.fmin.reduce(X, axis=0))  # without an array as large as X
    columns = np.flatnonzero(np.isinf(largest))
    return (int(np.argmax(np.isinf(X[:, columns[0]]))), int(columns[0])) if len(columns) else None


def as_features(X: Any) -> Features:
    """A dense array unchanged, or a sparse matrix as CSC without duplicates and explicit zeros."""
    if not sparse.issparse(X):
        return X
    X = sparse.csc_matrix(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def has_missing(X: Features) -> NDArray[np.bool_]:
    """Whether each feature has a missing value."""
    if isinstance(X, CodedFeatures):
        return X.has_missing
    smallest = X.min(axis=0)  # nan if any value is nan; unlike isnan(X), this makes no array as large as X
    return np.isnan(smallest.toarray().ravel() if sparse.issparse(X) else smallest)
