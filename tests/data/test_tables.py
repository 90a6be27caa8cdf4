"""Tables of every library are read alike."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from dualboost.data.tables import Table, as_table, sparse_matrix_of
from dualboost.errors import InvalidDataError

FRAME = pd.DataFrame(
    {
        "size": [1.5, np.nan, 3.0],
        "count": pd.array([1, None, 3], dtype="Int64"),
        "colour": ["red", None, "blue"],
        "ok": pd.array([True, None, False], dtype="boolean"),
    }
)
KINDS = ["numbers", "numbers", "text", "numbers"]


class OnlyArrow:
    """A table of a library that narwhals does not know, which is read by Arrow's protocol."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class OnlyInterchange:
    """The same by the DataFrame interchange protocol."""

    def __init__(self, table):
        self._table = table

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self._table.__dataframe__(nan_as_null, allow_copy)


ARROW = pa.Table.from_pandas(FRAME)
TABLES = {
    "pandas": FRAME,
    "pandas of Arrow": FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.from_pandas(FRAME),
    "pyarrow": ARROW,
    "batch": ARROW.to_batches()[0],
    "Arrow's protocol": OnlyArrow(ARROW),
    "interchange protocol": OnlyInterchange(ARROW),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_same_columns_from_every_library(name):
    table = as_table(TABLES[name])
    assert (table.shape, table.names) == ((3, 4), list(FRAME.columns))
    columns = [table.column(k) for k in range(4)]
    assert [column.kind for column in columns] == KINDS
    assert columns[2].entries == ["red", None, "blue"]
    np.testing.assert_array_equal(columns[0].numbers(""), [1.5, np.nan, 3.0])
    np.testing.assert_array_equal(columns[1].numbers(""), [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(columns[3].numbers(""), [1.0, np.nan, 0.0])


def test_arrays_with_text_are_tables():
    rows = [[1, "a"], [2.5, None]]
    for X in (rows, np.array(rows, dtype=object)):
        table = as_table(X)
        assert [table.column(k).kind for k in range(2)] == ["numbers", "text"]
        assert (table.names, table.has_names) == ([0, 1], False)


@pytest.mark.parametrize(
    "X",
    [
        np.ones((2, 2)),
        [[1.0, 2.0], [3.0, 4.0]],
        [[1.0], [1.0, 2.0]],
        np.array([[{}, 1.0]], dtype=object),
        np.ones(3),
        sparse.eye(3),
        "text",
        None,
    ],
    ids=str,
)
def test_what_scikit_learn_is_to_read(X):
    assert as_table(X) is None


@pytest.mark.parametrize("X", [pd.Series([1.0]), pl.Series([1.0]), {"a": 1.0}, [{"a": 1.0}]], ids=str)
def test_one_dimension_is_refused_with_what_to_pass(X):
    with pytest.raises(InvalidDataError, match=r"^X is a .*: pass a table"):
        as_table(X)


def test_arrays_of_numbers_are_tables_where_columns_are_asked_for():
    table = as_table(np.arange(6).reshape(3, 2), by_columns=True)
    assert table.column(1).entries == [1, 3, 5]
    assert as_table(sparse.eye(3), by_columns=True) is None


def test_a_table_is_passed_on():
    table = Table(FRAME)
    assert as_table(table) is table


def test_what_is_no_table_yet_or_no_more():
    with pytest.raises(InvalidDataError, match=r"X is a LazyFrame, which holds no rows yet: pass X.collect\(\)"):
        as_table(pl.from_pandas(FRAME).lazy())
    with pytest.raises(InvalidDataError, match="X: two columns are named 'size'; rename one"):
        as_table(pd.concat([FRAME, FRAME[["size"]]], axis=1))


def test_sparse_frames_are_sparse_matrices():
    X = sparse.random(20, 5, density=0.2, random_state=0, format="csr")
    frame = pd.DataFrame.sparse.from_spmatrix(X)
    np.testing.assert_array_equal(sparse_matrix_of(frame).toarray(), X.toarray())
    assert sparse_matrix_of(frame.assign(dense=1.0)) is None
    assert sparse_matrix_of(pd.DataFrame({"a": pd.arrays.SparseArray([1.0, np.nan])})) is None
    assert sparse_matrix_of(pl.from_pandas(FRAME)) is None
