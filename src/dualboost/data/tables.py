"""Tables of any library, and arrays whose entries have types of their own, read column by column."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features
from ..arguments import how_to_install
from ..errors import InvalidDataError, MissingDependencyError
from .columns import Column, Source, column_of_array, column_of_series


class Table:
    """A table with named columns, or an array whose columns have numbers for names."""

    def __init__(self, native: Any, source: Source = Source()) -> None:  # noqa: B008
        self.native = native
        """The table as scikit-learn is to see it."""
        self.source = source
        self._columns: dict[int, Column] = {}
        self._is_array = isinstance(native, np.ndarray)
        self._frame: Any = native if self._is_array else _framed(native, source)
        self.names: list[Any] = list(range(native.shape[1])) if self._is_array else self._frame.columns
        """The names of the columns, as messages have them."""

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self._frame.shape
        return n_rows, n_columns

    @property
    def has_names(self) -> bool:
        return not self._is_array

    @cached_property
    def numbers(self) -> Features | None:
        """The table as a matrix, without a copy where its library holds it as one; None if it is not all numbers."""
        if self._is_array:
            return self.native if self.native.dtype.kind in "biuf" else None
        sparse_matrix = sparse_matrix_of(self.native)
        if sparse_matrix is not None or not all(dtype.is_numeric() for dtype in self._frame.schema.values()):
            return sparse_matrix
        matrix = self._frame.to_numpy()
        return matrix.astype(np.float64, copy=False) if matrix.dtype.kind in "iuf" else None

    @cached_property
    def truths(self) -> frozenset[int]:
        """The positions of the columns that hold truth values."""
        if self.numbers is not None:
            return truths_of_array(self.numbers)
        return frozenset(k for k in range(self.shape[1]) if self.column(k).are_truths)

    def column(self, position: int) -> Column:
        """The column at a position; it is read once."""
        if position not in self._columns:
            values, read = self._frame[:, position], column_of_array if self._is_array else column_of_series
            self._columns[position] = read(values, self.names[position], self.source)
        return self._columns[position]


def as_table(X: Any, by_columns: bool = False) -> Table | None:
    """X as a table; None for sparse matrices, and for what scikit-learn is to read as an array of numbers.

    With ``by_columns`` arrays of numbers are tables, too.
    """
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
    """The positions of the columns of a table or an array that hold truth values."""
    table = as_table(X)
    return truths_of_array(X) if table is None else table.truths


def truths_of_array(X: Any) -> frozenset[int]:
    """All positions of an array of truth values, none of any other."""
    return frozenset(range(X.shape[1])) if getattr(X, "dtype", None) == np.bool_ else frozenset()


def _require_two_dimensions(X: Any) -> None:
    """Refuse what holds one row or one column only, and rows that are no lists, in words that say what to pass."""
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
    """The table of a two-dimensional array that holds more than numbers, or of any with ``by_columns``."""
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
    """A table of a library that narwhals does not know, by one of the protocols for exchange."""
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
    """The matrix of a pandas table all of whose columns are sparse; None of any other table."""
    if not nw.dependencies.is_pandas_dataframe(native) or not len(native.columns):
        return None
    has_zeros = all(getattr(kind, "fill_value", None) == 0 for kind in native.dtypes)
    return native.sparse.to_coo().tocsr() if has_zeros else None
