"""Features that stay on disk, of which some rows or columns are read at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..arguments import how_to_install
from ..errors import InvalidDataError, MissingDependencyError

ROWS_AT_ONCE = 100_000
"""The number of rows of a batch."""


class LazyFeatures(ABC):
    """Rows of numbers that are read in batches; indexed like an array, by rows, or by rows and one column."""

    shape: tuple[int, int]

    @abstractmethod
    def dense(self, rows: Integers | slice) -> Matrix:
        """Some rows, in double precision."""

    @abstractmethod
    def column(self, feature: int, rows: Integers | slice) -> Vector:
        """One column in some rows."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, which: Any) -> Any:
        return self.column(which[1], which[0]) if isinstance(which, tuple) else self.dense(which)

    def batches(self) -> Iterator[Matrix]:
        for start in range(0, self.shape[0], ROWS_AT_ONCE):
            yield self.dense(slice(start, min(start + ROWS_AT_ONCE, self.shape[0])))


class HashedFeatures(LazyFeatures):
    """Features of training rows."""

    hashes: NDArray[np.uint64]
    """The part of the hash of each row from its features (``merging.py``)."""

    @abstractmethod
    def taken(self, rows: Integers) -> HashedFeatures:
        """Some rows, in this order, for learners."""


@dataclass(frozen=True, eq=False)
class SomeRows(LazyFeatures):
    """A view of some rows of other features."""

    source: LazyFeatures
    rows: Integers
    """Positions in increasing order."""

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return len(self.rows), self.source.shape[1]

    def dense(self, rows: Integers | slice) -> Matrix:
        return self.source.dense(self.rows[rows])

    def column(self, feature: int, rows: Integers | slice) -> Vector:
        return self.source.column(feature, self.rows[rows])

    def batches(self) -> Iterator[Matrix]:
        start = 0
        for batch in self.source.batches():
            first, last = np.searchsorted(self.rows, [start, start + len(batch)])
            if last > first:
                yield batch[self.rows[first:last] - start]
            start += len(batch)


def some_rows(X: Any, rows: Integers) -> Any:
    """The rows at these positions, in increasing order; lazy if X is."""
    return SomeRows(X, rows) if isinstance(X, LazyFeatures) else X[rows]


def in_batches(X: Any, work: Any) -> Any:
    """The results of ``work``, which is applied batch by batch if X is lazy."""
    if not isinstance(X, LazyFeatures):
        return work(X)
    return np.concatenate([np.asarray(work(batch)) for batch in X.batches()])


MISSING = 255
"""The code of a missing value, and the most bins of known ones."""
MOST_CUTS = MISSING - 1

Codes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class CodedFeatures(HashedFeatures):
    """The bin of each row and feature; the largest number of a bin replaces its numbers.

    Bins are the numbers between two cuts, and trees split at cuts only, so that every row keeps its path in a tree.
    """

    codes: Codes
    """Stored column by column."""
    cuts: Sequence[Vector]
    """A number of bin k is above cut k - 1 and at most cut k."""
    values: Matrix
    """The number that replaces each bin, one row for each feature; nan for a missing value."""
    hashes: NDArray[np.uint64]
    """The hashes of the numbers on disk."""

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.codes.shape[0], self.codes.shape[1]

    @property
    def has_missing(self) -> NDArray[np.bool_]:
        """Whether each feature has a missing value."""
        return np.array([bool((column == MISSING).any()) for column in self.codes.T])

    def dense(self, rows: Integers | slice) -> Matrix:
        codes = self.codes[rows]
        return np.column_stack([self.values[k].take(codes[:, k]) for k in range(codes.shape[1])])

    def column(self, feature: int, rows: Integers | slice) -> Vector:
        return np.asarray(self.values[feature].take(self.codes[rows, feature]))

    def taken(self, rows: Integers) -> CodedFeatures:
        codes = np.empty((len(rows), self.shape[1]), dtype=np.uint8, order="F")
        for k in range(self.shape[1]):
            codes[:, k] = self.codes[:, k].take(rows)
        return replace(self, codes=codes, hashes=self.hashes[rows])


class RowsOnDisk(LazyFeatures):
    """Features for ``fit`` and ``predict`` that are never in memory as a whole.

    A fit reads them twice and keeps a byte for each number: ``RowsOnDisk.of_array(np.load("X.npy", mmap_mode="r"))``,
    ``RowsOnDisk.of_parquet("data/*.parquet", leave_out=["label"])``. Only ``learner="xgboost"`` takes them, and all
    columns must hold numbers.
    """

    names: NDArray[Any] | None = None
    """The names of the columns, if they have any."""

    @staticmethod
    def of_array(X: Any) -> RowsOnDisk:
        """The rows of an array with two dimensions, mostly a memory-mapped one."""
        return ArrayOnDisk(X)

    @staticmethod
    def of_parquet(paths: Any, leave_out: Collection[str] = ()) -> RowsOnDisk:
        """The rows of Parquet files, given a path, a pattern or a list of paths, without some of the columns."""
        return ParquetOnDisk(paths, leave_out)

    @abstractmethod
    def columns(self, features: range) -> Matrix:
        """Columns next to each other in all rows, in double precision."""

    def dense(self, rows: Integers | slice) -> Matrix:
        return np.column_stack([self.column(feature, rows) for feature in range(self.shape[1])])

    def column(self, feature: int, rows: Integers | slice) -> Vector:
        return np.asarray(self.columns(range(feature, feature + 1))[rows, 0])


class ArrayOnDisk(RowsOnDisk):
    """A memory-mapped array."""

    def __init__(self, X: Any) -> None:
        if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
            what = f"{X.ndim} dimensions of type {X.dtype}" if isinstance(X, np.ndarray) else type(X).__name__
            raise InvalidDataError(f"RowsOnDisk.of_array takes an array of numbers with two dimensions, not {what}.")
        self._X, self.shape = X, (X.shape[0], X.shape[1])

    def dense(self, rows: Integers | slice) -> Matrix:
        return np.asarray(self._X[rows], dtype=np.float64)

    def columns(self, features: range) -> Matrix:
        found = np.empty((self.shape[0], len(features)), order="F")
        step = max(1, 2**24 // max(self.shape[1], 1))  # rows that are read together
        for start in range(0, self.shape[0], step):
            found[start : start + step] = self._X[start : start + step, features.start : features.stop]
        return found


class ParquetFiles:
    """Parquet files with equal columns."""

    def __init__(self, paths: Any) -> None:
        try:
            import pyarrow
            import pyarrow.dataset as dataset
        except ImportError as error:
            raise MissingDependencyError(f"Parquet files need pyarrow: {how_to_install('pyarrow')}.") from error
        files = sorted(glob(str(paths))) if isinstance(paths, (str, Path)) else [str(path) for path in paths]
        if not files:
            raise InvalidDataError(f"{paths}: there is no such file.")
        self._source = files if len(files) > 1 else files[0]
        try:
            found = dataset.dataset(self._source, format="parquet")
            self._schemas = {fragment.path: fragment.physical_schema for fragment in found.get_fragments()}
        except (pyarrow.ArrowException, OSError) as error:
            raise InvalidDataError(f"{paths}: cannot be read as Parquet: {error}") from error
        _require_same_names(self._schemas)
        self.names: list[str] = found.schema.names

    def of_columns(self, names: Collection[str]) -> Any:
        """Some columns as a data set of pyarrow's, each of one type; an error where files have types that differ."""
        import pyarrow
        import pyarrow.dataset as dataset

        schema = pyarrow.schema([(name, _type_in_files(name, self._schemas)) for name in names])
        return dataset.dataset(self._source, schema=schema, format="parquet")


def _require_same_names(schemas: dict[str, Any]) -> None:
    """Refuse a file without a column that another file has, which would be read as missing values."""
    first, *others = schemas.items()
    for other in others:
        for (file, one), (without, lacking) in ((first, other), (other, first)):
            extra = [name for name in one.names if name not in lacking.names]
            if extra:
                raise InvalidDataError(
                    f"{without}: there is no column {extra[0]!r}, which {file} has; all files must have the same "
                    "columns."
                )


def _type_in_files(name: str, schemas: dict[str, Any]) -> Any:
    """The type of a column in all files together; in a file without an entry it may have none."""
    import pyarrow

    kinds = {file: schema.field(name).type for file, schema in schemas.items()}
    held = {file: kind for file, kind in kinds.items() if not pyarrow.types.is_null(kind)}
    numbers = [file for file, kind in held.items() if _is_number(kind)]
    others = [file for file in held if file not in numbers]
    if numbers and others:
        raise InvalidDataError(
            f"{others[0]}: column {name!r} is of type {held[others[0]]}, but of type {held[numbers[0]]} in "
            f"{numbers[0]}: give it the same type in all files."
        )
    first = next(iter(held.values()), pyarrow.float64())
    return pyarrow.float64() if numbers and set(held.values()) != {first} else first


def _is_number(kind: Any) -> bool:
    import pyarrow

    is_number = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
    return bool(is_number or pyarrow.types.is_boolean(kind))


class ParquetOnDisk(RowsOnDisk):
    """Rows of Parquet files."""

    def __init__(self, paths: Any, leave_out: Collection[str]) -> None:
        self._all_columns = ParquetFiles(paths)
        known = self._all_columns.names
        for name in leave_out:
            if name not in known:
                raise InvalidDataError(f"leave_out={list(leave_out)!r}: there is no column {name!r}.")
        kept = [name for name in known if name not in leave_out]
        self._files = self._all_columns.of_columns(kept)
        for name in kept:
            kind = self._files.schema.field(name).type
            if not _is_number(kind):
                raise InvalidDataError(
                    f"Column {name!r} is of type {kind}; rows on disk hold numbers only: leave it out, or make numbers "
                    "of it first."
                )
        self._kept, self.shape, self.names = kept, (self._files.count_rows(), len(kept)), np.array(kept, dtype=object)

    def values(self, name: str) -> NDArray[Any]:
        """A column of any type, such as the labels, in memory."""
        return np.asarray(self._all_columns.of_columns([name]).to_table().column(name).to_pandas())

    def columns(self, features: range) -> Matrix:
        names = self._kept[features.start : features.stop]
        table = self._files.to_table(columns=names)
        found = np.empty((self.shape[0], len(names)), order="F")
        for k, name in enumerate(names):
            found[:, k] = _numbers(table.column(name))
        return found

    def batches(self) -> Iterator[Matrix]:
        for batch in self._files.to_batches(columns=self._kept):
            if batch.num_rows:
                yield np.column_stack([_numbers(batch.column(name)) for name in self._kept])


def _numbers(column: Any) -> Vector:
    import pyarrow

    if pyarrow.types.is_boolean(column.type):
        column = column.cast(pyarrow.uint8())
    return np.asarray(column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
