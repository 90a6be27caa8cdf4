"""Tables of any library and arrays of objects, read column by column, and the argument ``categorical_features``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features
from ..arguments import how_to_install
from ..errors import InvalidDataError, InvalidParameterError, MissingDependencyError
from .columns import Column, Source, column_of_array, column_of_series, suggestion


class Table:
    """A table with named columns, or an array; the columns of an array have numbers for names."""

    def __init__(self, native: Any, source: Source = Source()) -> None:  # noqa: B008
        self.native = native
        """The table for scikit-learn."""
        self.source = source
        self._columns: dict[int, Column] = {}
        self._is_array = isinstance(native, np.ndarray)
        self._frame: Any = native if self._is_array else _framed(native, source)
        self.names: list[Any] = list(range(native.shape[1])) if self._is_array else self._frame.columns
        """The names of the columns, for messages."""

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self._frame.shape
        return n_rows, n_columns

    @property
    def has_names(self) -> bool:
        return not self._is_array

    @cached_property
    def numbers(self) -> Features | None:
        """The table as a matrix, without a copy if possible; None if a column has no numeric type."""
        if self._is_array:
            return self.native if self.native.dtype.kind in "biuf" else None
        sparse_matrix = sparse_matrix_of(self.native)
        if sparse_matrix is not None or not all(dtype.is_numeric() for dtype in self._frame.schema.values()):
            return sparse_matrix
        matrix = self._frame.to_numpy()
        return matrix.astype(np.float64, copy=False) if matrix.dtype.kind in "iuf" else None

    @cached_property
    def truths(self) -> frozenset[int]:
        """The positions of the columns of truth values."""
        if self.numbers is not None:
            return truths_of_array(self.numbers)
        return frozenset(k for k in range(self.shape[1]) if self.column(k).are_truths)

    def column(self, position: int) -> Column:
        if position not in self._columns:
            values, read = self._frame[:, position], column_of_array if self._is_array else column_of_series
            self._columns[position] = read(values, self.names[position], self.source)
        return self._columns[position]


def as_table(X: Any, by_columns: bool = False) -> Table | None:
    """X as a table; None for sparse matrices, and for arrays of numbers unless ``by_columns`` is set."""
    if isinstance(X, Table):
        return X
    if nw.dependencies.is_into_dataframe(X):
        return Table(nw.to_native(X, pass_through=True))
    if sparse.issparse(X):  # some of which are dicts, too
        return None
    _require_two_dimensions(X)
    if isinstance(X, (np.ndarray, list, tuple)):
        return _table_of_array(X, by_columns)
    if hasattr(X, "collect") and not hasattr(X, "shape"):
        raise InvalidDataError(f"X is a {type(X).__name__}, which holds no rows yet: pass X.collect().")
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__"):
        return Table(_exchanged(X))
    return None


def truths_of(X: Any) -> frozenset[int]:
    """The positions of the columns of truth values."""
    table = as_table(X)
    return truths_of_array(X) if table is None else table.truths


def truths_of_array(X: Any) -> frozenset[int]:
    """All positions of an array of truth values, none of any other."""
    return frozenset(range(X.shape[1])) if getattr(X, "dtype", None) == np.bool_ else frozenset()


def _require_two_dimensions(X: Any) -> None:
    if nw.dependencies.is_into_series(X):
        raise InvalidDataError(
            f"X is a {type(X).__name__}, which is one row or one column: pass a table of it, of pandas X.iloc[[0]] for "
            "a row and X[['name']] for a column."
        )
    if isinstance(X, Mapping):
        raise InvalidDataError(
            f"X is a {type(X).__name__}: pass a table; pandas.DataFrame([X]) is one of a single row."
        )
    if isinstance(X, (list, tuple)) and any(isinstance(row, Mapping) for row in X):
        raise InvalidDataError(f"X is a {type(X).__name__} of dicts: pass a table, as pandas.DataFrame(X) makes.")


def _framed(native: Any, source: Source) -> Any:
    try:
        return nw.from_native(native, eager_only=True)
    except DuplicateError:
        names = list(native.columns)
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidDataError(f"{source.name}: two columns are named {twice!r}; rename one.") from None


def _table_of_array(X: Any, by_columns: bool) -> Table | None:
    """The table of a two-dimensional array; None for an array of numbers unless ``by_columns`` is set."""
    try:
        array = np.asarray(X)
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            array = np.array(X, dtype=object)  # numpy has turned numbers beside text into text
    except ValueError:  # rows of different lengths, which scikit-learn refuses
        return None
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "biufOUmM":
        return None
    if array.dtype.kind in "biuf":
        return Table(array) if by_columns else None
    table = Table(array)
    return None if any(table.column(k).kind == "odd" for k in range(array.shape[1])) else table


def _exchanged(X: Any) -> Any:
    """A table of a library that narwhals does not support, by a protocol for exchange."""
    try:
        import pyarrow
    except ImportError:
        return _exchanged_by_pandas(X)
    if hasattr(X, "__arrow_c_stream__"):
        return pyarrow.table(X)
    from pyarrow.interchange import from_dataframe

    return from_dataframe(X)


def _exchanged_by_pandas(X: Any) -> Any:
    try:
        from pandas.api.interchange import from_dataframe
    except ImportError as error:
        raise MissingDependencyError(
            f"X of type {type(X).__name__} is read through Arrow: {how_to_install('pyarrow')}"
        ) from error
    return from_dataframe(X)


def sparse_matrix_of(native: Any) -> NDArray[Any] | None:
    """The matrix of a pandas table with sparse columns only; None for other tables."""
    if not nw.dependencies.is_pandas_dataframe(native) or not len(native.columns):
        return None
    has_zeros = all(getattr(kind, "fill_value", None) == 0 for kind in native.dtypes)
    return native.sparse.to_coo().tocsr() if has_zeros else None


FROM_DTYPE = "from_dtype"
TRUTH = (bool, np.bool_)


def require_categorical_features(value: Any) -> list[Any] | None:
    """The names, positions or truth values; None for a choice by type."""
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


def categorical_positions(value: Any, n_columns: int, names: Sequence[Any] | None) -> set[int] | None:
    """The positions of the columns of categories; None for a choice by type."""
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
