"""What a column holds, by the type of its library or by its entries."""

import datetime as dt
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dualboost.data.columns import Source, as_number, column_of_array, column_of_series
from dualboost.errors import InvalidDataError

DAY = dt.date(2024, 3, 1)


def arrow(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


SERIES = {
    "numbers": [
        pd.Series([1, 2]),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1.5, None], dtype="Float64"),
        pd.Series([True, False]),
        pd.Series([True, None], dtype="boolean"),
        pd.Series([True, None], dtype=object),
        pd.Series([1, 2.5, None], dtype=object),
        pd.Series([Decimal("1.5"), None], dtype=object),
        pd.Series([2**70, 1], dtype=object),
        pd.Series([None, None], dtype=object),
        pd.Series(pd.arrays.SparseArray([0.0, 1.0])),
        pd.Series([1, None], dtype="int64[pyarrow]"),
        pl.Series([1, None]),
        pl.Series([1.5, float("nan"), None]),
        pl.Series([True, None]),
        pl.Series([Decimal("1.5"), None]),
        pl.Series([None, None]),
        arrow([1, None]),
        arrow([True, None]),
        arrow([None, None]),
    ],
    "text": [
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype="string"),
        pd.Series(["a", np.nan], dtype=object),
        pd.Series(["a", None], dtype=pd.ArrowDtype(pa.string())),
        pl.Series(["a", None]),
        arrow(["a", None]),
        arrow(["a", None], pa.large_string()),
    ],
    "categories": [
        pd.Series(pd.Categorical(["b", None, "a"])),
        pd.Series(pd.Categorical(["b", "a"], ["b", "a"], ordered=True)),
        pd.Series(pd.Categorical([3, 1])),
        pd.cut(pd.Series([1.0, 5.0]), 2),
        pl.Series(["b", None, "a"], dtype=pl.Categorical),
        pl.Series(["b", None], dtype=pl.Enum(["b", "a"])),
        arrow(["b", None, "a"]).dictionary_encode(),
        pd.Series(["b", None], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    ],
    "times": [
        pd.Series(pd.to_datetime(["2024-03-01", None])),
        pd.Series(pd.to_datetime(["2024-03-01", None])).dt.tz_localize("UTC"),
        pd.Series(pd.to_timedelta(["1D", None])),
        pd.Series([DAY, None], dtype=object),
        pd.Series(pd.period_range("2024-01", periods=2, freq="M")),
        pl.Series([DAY, None]),
        pl.Series([dt.datetime(2024, 3, 1), None]),
        pl.Series([dt.timedelta(1), None]),
        pl.Series([dt.time(1), None]),
        arrow([DAY, None]),
        arrow([dt.datetime(2024, 3, 1), None]),
    ],
    "mixed": [pd.Series(["a", 1, None], dtype=object)],
    "odd": [
        pd.Series([{}, {}]),
        pd.Series([b"a"]),
        pd.Series([1j]),
        pl.Series([[1], None]),
        pl.Series([{"a": 1}]),
        pl.Series([b"a"]),
        arrow([[1], None]),
    ],
}


def column(native, source=Source()):  # noqa: B008
    return column_of_series(nw.from_native(native, series_only=True), "z", source)


@pytest.mark.parametrize(
    ("kind", "native"),
    [(kind, native) for kind, natives in SERIES.items() for native in natives],
    ids=lambda value: value if isinstance(value, str) else f"{type(value).__module__.split('.')[0]}",
)
def test_the_kind_of_a_column(kind, native):
    found = column(native)
    assert found.kind == kind
    assert len(found.entries) == len(native)
    assert not any(entry is not None and entry != entry for entry in found.entries)
    if kind == "numbers":
        numbers = found.numbers("here")
        assert numbers.dtype == np.float64
        expected = [np.nan if entry is None else float(entry) for entry in found.entries]
        np.testing.assert_array_equal(numbers, expected)


def test_a_gap_among_the_entries_of_a_dictionary_stays_a_gap():
    assert column(arrow(["b", None, "a"]).dictionary_encode()).entries == ["b", None, "a"]


def test_entries_decide_where_the_type_does_not():
    """narwhals looks at the first hundred entries of an object column only."""
    late = pd.Series(["a"] * 200 + [1], dtype=object)
    assert column(late).kind == "mixed"


def test_columns_of_arrays():
    X = np.array([["a", 1, None, DAY], ["b", 2.5, pd.NA, DAY]], dtype=object)
    assert [column_of_array(X[:, k], k, Source()).kind for k in range(4)] == ["text", "numbers", "numbers", "times"]
    assert column_of_array(np.array(["a", "b"]), 0, Source()).entries == ["a", "b"]


@pytest.mark.parametrize("entry", ["x", "", "1,5", DAY, b"1", 1j])
def test_what_is_no_number_is_told_by_its_row(entry):
    assert as_number(entry) is None
    native = pd.Series([1, "2", entry, 3], dtype=object)
    with pytest.raises(InvalidDataError, match=r"^data\.csv: column 'z' must hold numbers, as I said; row 3 has "):
        column(native, Source("data.csv", 1)).numbers("as I said")


@pytest.mark.parametrize(
    ("entry", "number"), [(True, 1.0), ("1e3", 1000.0), (" 7 ", 7.0), (np.int8(3), 3.0), (10**400, np.inf)]
)
def test_what_is_a_number(entry, number):
    assert as_number(entry) == number


TRUTHS = [
    pd.Series([True, False]),
    pd.Series([True, None], dtype="boolean"),
    pd.Series([True, None], dtype=object),
    pl.Series([True, None]),
    arrow([True, None]),
]


@pytest.mark.parametrize("native", [native for natives in SERIES.values() for native in natives] + TRUTHS)
def test_truth_values_are_told_from_numbers(native):
    are_truths = {type(entry) for entry in column(native).entries} - {type(None)} == {bool}
    assert column(native).are_truths == are_truths
