"""The types of columns; dates and times."""

import datetime as dt
import re
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost import DualBoostClassifier
from dualboost.data.columns import Source, are_dates, as_number, column_of_array, column_of_series, refused_times
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


# Dates and times.

FORMATS = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S.%f",
]


@given(st.datetimes(min_value=dt.datetime(1000, 1, 1)), st.sampled_from(FORMATS))
def test_dates_in_every_usual_form(moment, form):
    assert are_dates([moment.strftime(form), f" {moment.date().isoformat()} "])


def test_a_column_without_a_text_holds_no_dates():
    assert not are_dates([])


@pytest.mark.parametrize("text", ["2024-03", "2024", "1.3", "1.2.3", "red", "2024-03-01x", "10.0.0.1", "12:30", ""])
def test_what_is_no_date(text):
    assert not are_dates(["2024-03-01", text])


@pytest.mark.parametrize(
    ("entries", "parts"),
    [
        ([dt.date(2024, 3, 1)], "the month, the day of the week, and the days since a fixed day"),
        ([None, dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 12)], "the day of the week, the hour, and the days"),
        (["2024-03-01", "2024-03-02"], "the month, the day of the week, and the days since"),
        (["2024-03-01 12:00"], "the day of the week, the hour, and"),
        ([dt.time(12, 30)], "the hour, or the minutes since midnight"),
        ([dt.timedelta(3)], "its days or seconds"),
    ],
    ids=str,
)
def test_the_parts_to_make_of_times(entries, parts):
    column = column_of_series(nw.from_native(pl.Series(entries), series_only=True), "when", Source())
    message = str(refused_times(column))
    assert message.startswith("X: column 'when' holds dates or times (row ")
    assert parts in message
    assert message.endswith(
        "Then leave it out. If its few values stand for groups of rows, name it in categorical_features."
    )


def test_a_column_of_times_without_an_entry_is_told_too():
    column = column_of_series(nw.from_native(pl.Series([None], dtype=pl.Date), series_only=True), "when", Source())
    assert "holds dates or times" in str(refused_times(column))


@pytest.mark.parametrize("n_others", [1, 2])
def test_all_columns_of_times_are_told_at_once(n_others):
    table = pd.DataFrame({"id": [1, 2] * 20, "signup": ["2024-03-01", "2024-03-02"] * 20, "plan": ["a", "b"] * 20})
    others = {"login": pd.to_datetime(table["signup"]), "bill": table["signup"]}
    table = table.assign(**dict(list(others.items())[:n_others]))
    told = ", and so does 'login'." if n_others == 1 else ", and so do 'login', 'bill'."
    with pytest.raises(InvalidDataError, match=f"column 'signup' holds dates .*which are no numbers{re.escape(told)}"):
        DualBoostClassifier().fit(table, [0, 1] * 20)


@pytest.mark.parametrize("kind", ["M8[ns]", "M8[D]", "m8[s]"])
def test_an_array_of_times_is_refused_as_a_table_of_them_is(kind):
    times = np.arange(40).reshape(20, 2).astype(kind)
    with pytest.raises(InvalidDataError, match=r"column 0 holds dates or times .*so does 1"):
        DualBoostClassifier(max_trees=1).fit(times, np.arange(20) % 2)
    model = DualBoostClassifier(max_trees=1).fit(times.astype(int), np.arange(20) > 9)
    with pytest.raises(InvalidDataError, match="column 0 must hold numbers, as in training"):
        model.predict(times)
