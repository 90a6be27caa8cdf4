"""Rows that stay on disk: a memory-mapped array, or Parquet files, of which some rows or columns are read at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..errors import InvalidDataError, MissingDependencyError
from ..extras import how_to_install
from .lazy import LazyFeatures


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


class ParquetOnDisk(RowsOnDisk):
    """Parquet files, all with the same columns."""

    def __init__(self, paths: Any, leave_out: Collection[str]) -> None:
        try:
            import pyarrow
            import pyarrow.dataset as dataset
        except ImportError as error:
            raise MissingDependencyError(f"Parquet files need pyarrow: {how_to_install('pyarrow')}.") from error
        files = sorted(glob(str(paths))) if isinstance(paths, (str, Path)) else [str(path) for path in paths]
        if not files:
            raise InvalidDataError(f"{paths}: there is no such file.")
        try:
            self._files = dataset.dataset(files if len(files) > 1 else files[0], format="parquet")
            n_rows = self._files.count_rows()
        except (pyarrow.ArrowException, OSError) as error:
            raise InvalidDataError(f"{paths}: cannot be read as Parquet: {error}") from error
        known = self._files.schema.names
        for name in leave_out:
            if name not in known:
                raise InvalidDataError(f"leave_out={list(leave_out)!r}: there is no column {name!r}.")
        kept = [name for name in known if name not in leave_out]
        for name in kept:
            kind = self._files.schema.field(name).type
            is_number = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
            if not is_number and not pyarrow.types.is_boolean(kind):
                raise InvalidDataError(
                    f"Column {name!r} is of type {kind}; rows on disk hold numbers only: leave it out, or make numbers "
                    "of it first."
                )
        self._kept, self.shape, self.names = kept, (n_rows, len(kept)), np.array(kept, dtype=object)

    def values(self, name: str) -> NDArray[Any]:
        """A column of any type, such as the labels, in memory."""
        return np.asarray(self._files.to_table(columns=[name]).column(name).to_pandas())

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
    """A column of Arrow's as numbers; what is missing is nan."""
    import pyarrow

    if pyarrow.types.is_boolean(column.type):
        column = column.cast(pyarrow.uint8())
    return np.asarray(column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
