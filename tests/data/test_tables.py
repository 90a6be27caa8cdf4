"""Tables of any library and arrays of objects, and ``categorical_features``."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, DualBoostRegressorCV, load_model
from dualboost.data.tables import Table, as_table, categorical_positions, sparse_matrix_of
from dualboost.errors import InvalidDataError, InvalidParameterError

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


# ``categorical_features``

NAMES = ["size", "group", "colour"]
RNG = np.random.default_rng(0)
N = 300
SIZE, GROUP = RNG.normal(size=N).round(2), RNG.integers(0, 7, N)
LABELS = np.isin(GROUP, [1, 4, 6])
"""No single cut of the group's number tells these apart."""
X = pd.DataFrame({"size": SIZE, "group": GROUP})


@pytest.mark.parametrize("asked", [["group"], [1], [False, True], np.array([1]), np.array([False, True]), ("group",)])
def test_every_way_to_say_it(asked):
    clf = DualBoostClassifier(max_depth=1, max_trees=2, categorical_features=asked).fit(X, LABELS)
    assert clf.score(X, LABELS) == 1.0
    assert clf.fitted_.encoder.categories[1].tolist() == list(range(7))
    assert DualBoostClassifier(max_depth=1, max_trees=2).fit(X, LABELS).score(X, LABELS) < 1.0
    assert clone(clf).fit(X, LABELS).score(X, LABELS) == 1.0


def test_arrays_and_other_libraries_give_the_same_model():
    clf = DualBoostClassifier(max_depth=1, max_trees=2, categorical_features=[1])
    expected = clf.fit(X, LABELS).decision_function(X)
    for table in (X.to_numpy(), X.to_numpy().tolist(), pl.from_pandas(X), X.astype({"group": float})):
        np.testing.assert_array_equal(clone(clf).fit(table, LABELS).decision_function(table), expected)


@pytest.mark.filterwarnings("ignore::dualboost.errors.ConstantPredictionWarning")  # three trees are few
@pytest.mark.parametrize(
    "estimator",
    [
        DualBoostClassifier(max_trees=3, categorical_features=[True, True]),
        DualBoostClassifierCV(Cs=2, max_trees=3, categorical_features=np.array(["group"])),
        DualBoostRegressor(max_trees=3, categorical_features=[1]),
        DualBoostRegressorCV(Cs=2, max_trees=3, categorical_features=(1,)),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_estimator_has_it_in_its_file(estimator, tmp_path):
    fitted = clone(estimator).fit(X, GROUP % 2 + (SIZE > 0))
    fitted.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.categorical_features == np.asarray(estimator.categorical_features).tolist()
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(loaded.fit(X, GROUP % 2 + (SIZE > 0)).predict(X), fitted.predict(X))


def test_none_means_none():
    assert categorical_positions(None, 3, NAMES) == categorical_positions([], 3, NAMES) == set()
    assert categorical_positions("from_dtype", 3, NAMES) is None
    with pytest.raises(
        InvalidDataError, match="column 'c' must hold numbers, unless you name it in categorical_features"
    ):
        DualBoostClassifier(categorical_features=None).fit(pd.DataFrame({"c": ["a", "b"]}), [0, 1])
    codes = pd.DataFrame({"c": pd.Categorical(GROUP)})
    clf = DualBoostClassifier(categorical_features=None, max_trees=3).fit(codes, LABELS)
    assert not clf.fitted_.encoder.categories


@pytest.mark.parametrize("asked", ["group", 1, [-1], [0, "size"], [1.0], [[1]], {"group"}, [True, 1]], ids=str)
def test_what_says_nothing_is_refused(asked):
    with pytest.raises(InvalidParameterError, match=r"categorical_features=.* must be 'from_dtype', None, or a list"):
        DualBoostClassifier(categorical_features=asked).fit(X, LABELS)


@pytest.mark.parametrize(
    ("asked", "names", "message"),
    [
        ([3], NAMES, "holds the position 3; X has the columns 0 to 2"),
        ([True], NAMES, "has 1 truth values; it must have one for each of 3 columns"),
        (["Group"], NAMES, r"names 'Group', which X does not have; did you mean 'group'\?"),
        (["group"], None, "names 'group', but X has no column names: give positions"),
    ],
)
def test_what_is_not_there_is_told(asked, names, message):
    with pytest.raises(InvalidParameterError, match=message):
        categorical_positions(asked, 3, names)


def test_sparse_matrices_have_no_categories():
    with pytest.raises(InvalidParameterError, match="X is a sparse matrix"):
        DualBoostClassifier(categorical_features=[0]).fit(sparse.eye(10, format="csr"), np.arange(10) % 2)
    clf = DualBoostClassifier(max_trees=2, categorical_features=[1]).fit(X.to_numpy(), LABELS)
    with pytest.raises(InvalidDataError, match="The model has columns of categories, but X is a sparse matrix"):
        clf.predict(sparse.csr_matrix(X.to_numpy()))
