"""Text that is dates is known as such, and each kind of time is told what to make of it."""

import datetime as dt
import re

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost import DualBoostClassifier
from dualboost.data.columns import Source, are_dates, column_of_series, refused_times
from dualboost.errors import InvalidDataError

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
