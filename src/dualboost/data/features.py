"""From what users pass in (tables, arrays, sparse matrices) to the encoded features that learners see.

Text and categories become codes, truth values numbers; dates are refused.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features, Vector
from ..errors import InvalidDataError
from ..workers import ALONE, Communicator
from ..workers.base import objects_of_all
from .columns import SMALLEST_CATEGORY as SMALLEST_CATEGORY
from .columns import Column, Source, doubt_training, doubt_unknown, refused_times
from .merging import numbers_of_rows
from .on_disk import CodedFeatures
from .parts import Contents, contents_of_table, whole_of
from .tables import Table


@dataclass(frozen=True, eq=False)
class FeatureEncoder:
    """The categories of each column that has any, in the order of their codes; all other columns hold numbers."""

    categories: dict[int, NDArray[Any]] = field(default_factory=dict)
    truths: frozenset[int] = frozenset()
    """The columns of numbers that were truth values in training, as which they are shown and asked of databases."""

    @classmethod
    def fitted(
        cls, table: Table, weights: Vector, chosen: Collection[int] | None = None, workers: Communicator = ALONE
    ) -> FeatureEncoder:
        """The categories of a training table; those of the columns at these positions, or None for what types say.

        Where each worker has a part of the table, all parts of a column decide what it holds.
        """
        is_plain = not chosen and table.numbers is not None
        if not workers.max(float(not is_plain)):
            return cls(truths=frozenset.intersection(*objects_of_all(workers, table.truths)))
        wholes = _wholes(table, chosen, workers)
        positions = _categorical(table, wholes, chosen)
        n_rows = numbers_of_rows(weights, workers)
        sizes = _of_all({k: _sizes(table.column(k), n_rows) for k in positions}, workers)
        n_present = workers.sum(
            np.array([sum(e is not None for e in table.column(k).entries) for k in positions], float)
        )
        for k, n in zip(positions, n_present.tolist(), strict=True):
            doubt_training(table.column(k), sizes[k], int(n), chosen is None and wholes[k].kind == "text")
        truths = frozenset(k for k, whole in enumerate(wholes) if whole.are_truths)
        return cls({k: _categories(sizes[k]) for k in positions}, truths.difference(positions))

    def transform(self, table: Table) -> Features:
        """The columns as numbers; a category that the training data did not have, or hardly, counts as missing."""
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


def _wholes(table: Table, chosen: Collection[int] | None, workers: Communicator) -> list[Contents]:
    """What each column holds on all workers together."""
    columns = [table.column(k) for k in range(table.shape[1])]
    parts = objects_of_all(workers, contents_of_table(table))
    places = [f"worker {rank}" for rank in range(workers.size)]
    listed = chosen or ()
    return [
        whole_of(column.source.column(column.name), part, places, k in listed)
        for k, (column, part) in enumerate(zip(columns, zip(*parts, strict=True), strict=True))
    ]


def _categorical(table: Table, wholes: list[Contents], chosen: Collection[int] | None) -> list[int]:
    """The positions of the columns with categories; every other column must hold numbers."""
    positions = []
    for k, whole in enumerate(wholes):
        column = table.column(k)
        if k in chosen if chosen is not None else _is_categorical(column, whole, table):
            positions.append(k)
        else:
            column.training_numbers()
    return positions


def _is_categorical(column: Column, whole: Contents, table: Table) -> bool:
    """Whether the type of a column makes it one of categories; a type that is of no use is refused."""
    if whole.are_dates:
        raise refused_times(column, map(table.column, range(table.shape[1])))
    if whole.kind == "odd":
        raise column.refused(
            f"is of type {column.type_name}: make numbers or text of it, or {column.source.leave_out}."
        )
    return whole.kind in ("categories", "text")


def _of_all(sizes: dict[int, dict[Any, float]], workers: Communicator) -> dict[int, dict[Any, float]]:
    """How many rows of all workers have each value, by column."""
    first, *others = objects_of_all(workers, sizes) if sizes else [sizes]
    for other in others:
        for k, own in first.items():
            for entry, size in other[k].items():
                own[entry] = own.get(entry, 0.0) + size
    return first


def _categories(sizes: dict[Any, float]) -> NDArray[Any]:
    """The categories with enough rows, in order, given how many rows have each value."""
    return _as_array(_ordered([entry for entry, size in sizes.items() if size >= SMALLEST_CATEGORY]))


def _sizes(column: Column, n_rows: Vector) -> dict[Any, float]:
    """How many rows have each value, if entry i stands for ``n_rows[i]`` of them."""
    sizes: dict[Any, float] = {}
    for entry, number in zip(column.entries, n_rows.tolist(), strict=True):
        if entry is not None:
            sizes[entry] = sizes.get(entry, 0.0) + number
    return sizes


def _ordered(values: list[Any]) -> list[Any]:
    """The values in order; values of several types type by type."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def _as_array(values: list[Any]) -> NDArray[Any]:
    """Numbers of one type as an array of these, all else as an array of objects."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and kinds <= {bool, int, float}:
        numbers = np.array(values)
        if numbers.dtype.kind in "biuf" and numbers.tolist() == values:
            return numbers
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _codes(column: Column, known: NDArray[Any]) -> Vector:
    """The code of each entry; nan where it is missing or not known."""
    lookup = {value: float(code) for code, value in enumerate(known.tolist())}
    entries = column.entries
    are_text = all(isinstance(value, str) for value in lookup)
    if are_text and not set(map(type, entries)) <= {str, type(None)}:  # a number may have been text in training
        entries = [None if entry is None else str(entry) for entry in entries]
    codes = np.fromiter(map(lookup.get, entries, repeat(np.nan)), dtype=np.float64, count=len(entries))
    if len(known) and np.isnan(codes).all():
        doubt_unknown(column)
    return codes


def require_finite(X: Features, source: Source, names: list[Any] | None = None) -> None:
    """Refuse infinite numbers, by the column and the row of the first."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):  # quick, and true of most tables without a gap
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
    """The row and the column of an infinite number, if there is one."""
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
