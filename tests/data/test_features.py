"""From tables to the features that learners see."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dualboost.data.columns import Source
from dualboost.data.features import SMALLEST_CATEGORY, FeatureEncoder, as_features, has_missing, require_finite
from dualboost.data.tables import Table, as_table
from dualboost.errors import DataWarning, InvalidDataError

from ..workers.running import on_workers

COLOURS = ["red", "blue", None, "red", "blue", "red", "blue", "red", "blue", "green"]


def table(colours=COLOURS, **columns):
    return Table(pd.DataFrame({"size": np.arange(float(len(colours))), "colour": colours} | columns))


def encoder(colours=COLOURS, weights=None, **columns):
    rows = table(colours, **columns)
    return FeatureEncoder.fitted(rows, np.ones(len(colours)) if weights is None else np.asarray(weights, dtype=float))


def codes(colours, found):
    return found.transform(table(colours))[:, 1].tolist()


def test_text_becomes_codes_in_order():
    found = encoder()
    assert {k: known.tolist() for k, known in found.categories.items()} == {1: ["blue", "red"]}
    np.testing.assert_array_equal(codes(["red", "blue", None], found), [1.0, 0.0, np.nan])


def test_a_category_of_few_rows_or_none_is_a_gap():
    np.testing.assert_array_equal(codes(["green", "violet", "red"], encoder()), [np.nan, np.nan, 1.0])


def test_weights_are_multiplicities_of_categories():
    weights = np.where(np.arange(10) == 9, SMALLEST_CATEGORY, 1.0)
    assert encoder(weights=weights).categories[1].tolist() == ["blue", "green", "red"]
    assert encoder(weights=1e3 * weights).categories[1].tolist() == ["blue", "green", "red"]
    assert encoder(weights=1e-3 * np.ones(10)).categories[1].tolist() == ["blue", "red"]
    assert encoder(weights=np.array([1.0, 0, 1, 1, 0, 1, 1, 1, 0, 1])).categories[1].tolist() == ["red"]


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=40), st.randoms())
def test_repeated_rows_and_their_multiplicities_have_the_same_categories(entries, random):
    counts = [1] + [random.randint(1, 3) for _ in entries[1:]]
    repeated = [entry for entry, count in zip(entries, counts, strict=True) for _ in range(count)]
    known = encoder(entries, counts).categories[1].tolist()
    assert known == encoder(repeated).categories[1].tolist()
    assert known == sorted(entry for entry in set(repeated) if repeated.count(entry) >= SMALLEST_CATEGORY)


@pytest.mark.parametrize(
    ("values", "kind"),
    [([3, 1, 2], "int64"), ([0.5, -1.0], "float64"), ([True, False], "bool"), (["b", "a"], "O"), (["a", 1], "O")],
    ids=str,
)
def test_categories_keep_their_type_and_are_in_order(values, kind):
    entries = pd.Categorical(values * SMALLEST_CATEGORY, categories=values)
    known = FeatureEncoder.fitted(Table(pd.DataFrame({"kind": entries})), np.ones(len(entries))).categories[0]
    assert known.dtype == kind
    assert known.tolist() == (sorted(values) if kind != "O" or "b" in values else [1, "a"])


def test_numbers_that_were_text_in_training_are_known():
    found = encoder(["1", "2"] * 5)
    assert codes([1, 2], found) == codes(["1", "2"], found) == [0.0, 1.0]


def test_a_column_of_text_without_an_entry_says_nothing():
    rows = Table(pl.DataFrame({"z": pl.Series([None] * 5, dtype=pl.String)}))
    found = FeatureEncoder.fitted(rows, np.ones(5))
    assert found.categories[0].tolist() == []
    assert np.isnan(found.transform(rows)).all()


def test_the_table_passed_in_is_left_alone():
    frame = pd.DataFrame({"colour": COLOURS})
    FeatureEncoder.fitted(Table(frame), np.ones(10)).transform(Table(frame))
    pd.testing.assert_frame_equal(frame, pd.DataFrame({"colour": COLOURS}))


def test_types_of_no_use_are_refused_by_name():
    with pytest.raises(
        InvalidDataError, match=r"X: column 'z' is of type object: make numbers or text of it, or leave it out"
    ):
        encoder(z=[{}] * 10)


def test_a_column_without_a_known_value_is_warned_of():
    found = encoder()
    with pytest.warns(DataWarning, match=r"column 'colour' has no value \(such as 'violet'\) that is a category"):
        found.transform(table(["violet"] * 10))


@pytest.mark.parametrize("names", [None, list("ab")])
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.array, sparse.csr_matrix, sparse.csc_matrix])
def test_infinite_numbers_are_told_by_column_and_row(make, bad, names):
    X = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, bad], [bad, 0.0]])
    require_finite(make(X[:2]), Source())
    columns = {0: "0", 1: "1"} if names is None else {0: "'a'", 1: "'b'"}
    expected = "|".join(f"column {columns[k]} contains infinity in row {row + 1}" for k, row in ((0, 3), (1, 2)))
    with pytest.raises(InvalidDataError, match=rf"^data\.csv: ({expected})"):
        require_finite(make(X), Source("data.csv", 1), names)


def test_sparse_features_have_one_form():
    X = sparse.coo_matrix(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    features = as_features(X)
    assert features.nnz == 1
    assert features.toarray()[0, 1] == 3.0
    X = np.ones((2, 2))
    assert as_features(X) is X


def test_sparse_tables_stay_sparse():
    X = sparse.random(20, 5, density=0.2, random_state=0, format="csr")
    rows = Table(pd.DataFrame.sparse.from_spmatrix(X))
    found = FeatureEncoder.fitted(rows, np.ones(20)).transform(rows)
    assert sparse.issparse(found)
    np.testing.assert_array_equal(found.toarray(), X.toarray())


def test_polars_gaps_are_gaps():
    rows = Table(pl.DataFrame({"size": [1.0, None, float("nan")], "ok": [True, None, False]}))
    expected = [[1.0, 1.0], [np.nan, np.nan], [np.nan, 0.0]]
    np.testing.assert_array_equal(FeatureEncoder.fitted(rows, np.ones(3)).transform(rows), expected)


def test_features_with_missing_values():
    X = np.array([[0.0, 1.0, -np.inf], [np.nan, 0.0, np.inf]])
    np.testing.assert_array_equal(has_missing(X), [True, False, False])
    np.testing.assert_array_equal(has_missing(sparse.csc_matrix(X)), [True, False, False])


def text_of(entries):
    """A column of text in the tables of several libraries, and in arrays and lists."""
    return {
        "pandas": pd.DataFrame({"z": pd.Series(entries, dtype=object)}),
        "strings": pd.DataFrame({"z": pd.Series(entries, dtype="string")}),
        "polars": pl.DataFrame({"z": entries}),
        "arrow": pa.table({"z": entries}),
        "objects": np.array(entries, dtype=object)[:, None],
        "array of text": np.array(["" if entry is None else entry for entry in entries])[:, None],
        "list": [[entry] for entry in entries],
    }


def fitted_to(X, chosen=None, weights=None):
    rows = as_table(X)
    return FeatureEncoder.fitted(rows, np.ones(rows.shape[0]) if weights is None else weights, chosen)


NUMBERS = [f"{k / 8}" for k in range(200)]
TRUTHS = ["True", "False"] * 100
BROKEN = ["oops", "?", "-", "NA", "null", "n/a", " ", "1,234", "12%", "5 kg", "$7", "E11", "1.2.3", "2024-03-01"]


@pytest.mark.parametrize("word", BROKEN)
@pytest.mark.parametrize(("clean", "copies"), [(NUMBERS, 1), (NUMBERS, 20), (NUMBERS[:20] * 10, 1), (TRUTHS, 1)])
def test_one_broken_cell_is_refused_in_a_table_of_any_size(word, clean, copies):
    entries = [*clean[:7], word, *clean[8:]] * copies
    told = rf"must hold numbers, unless you name it in categorical_features; row 7 has {re.escape(repr(word))}\. Make "
    for X in text_of(entries).values():
        with pytest.raises(InvalidDataError, match=told):
            fitted_to(X)
    frame = pd.DataFrame({"z": entries})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # nearly all values differ
        assert list(fitted_to(frame, chosen={0}).categories) == [0]
        assert list(fitted_to(frame.astype("category")).categories) == [0]
    if clean is NUMBERS:
        mended = frame.apply(pd.to_numeric, errors="coerce")
        assert np.isnan(fitted_to(mended).transform(Table(mended))).sum() == copies


def test_a_placeholder_in_many_rows_is_refused():
    entries = ["?" if k % 4 == 0 else f"{k % 60}" for k in range(400)]
    with pytest.raises(InvalidDataError, match=r"row 0 has '\?'"):
        fitted_to(pd.DataFrame({"z": entries}))


def test_numbers_with_signs_among_plain_ones_are_refused():
    entries = [f"{k:,}" for k in range(500, 1500)]
    with pytest.raises(InvalidDataError, match="row 500 has '1,000'"):
        fitted_to(pd.DataFrame({"z": entries}))
    with pytest.warns(DataWarning, match="holds numbers written as text, such as '0%'"):
        fitted_to(pd.DataFrame({"z": [f"{k % 40}%" for k in range(400)]}))


def test_a_broken_cell_among_dates_leaves_them_dates():
    days = pd.date_range("2024-01-01", periods=300).strftime("%Y-%m-%d").tolist()
    with pytest.raises(InvalidDataError, match=r"column 'z' holds dates or times \(row 1 has '2024-01-02'\)"):
        fitted_to(pd.DataFrame({"z": ["oops", *days[1:]]}))


CODES = {
    "diagnoses": [f"{k % 97 + 250}" for k in range(400)] + ["V57", "V58", "E909", "V57"] * 4,
    "few diagnoses": ["V57", "V58", "E909", *(f"{k % 97 + 250}" for k in range(400))],
    "postcodes": ["K1A 0B1", *(f"{k % 97:05}" for k in range(400))],
    "houses": ["1A", "12B", "14C", *(f"{k % 60}" for k in range(400))],
    "doors": ["2", "3", "4", "5more"] * 10,
    "few doors": [*["2", "3", "4"] * 20, "5more"],
    "dependants": ["0", "1", "2", "3+"] * 100,
    "numbers unknown": ["0", "1", "unknown", "2"] * 100,
    "truth unknown": ["true", "false", "unknown"] * 100,
}


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("copies", [1, 10])
def test_codes_are_categories(name, copies):
    for X in text_of(CODES[name] * copies).values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            assert list(fitted_to(X).categories) == [0]


def test_the_broken_truth_value_is_named_in_prediction():
    found = fitted_to(pd.DataFrame({"z": [True, False] * 5}))
    with pytest.raises(InvalidDataError, match="must hold numbers, as in training; row 2 has 'oops'"):
        found.transform(Table(pd.DataFrame({"z": ["True", "False", "oops"]})))


def test_every_worker_refuses_the_broken_cell_of_one():
    def work(workers):
        rows = Table(pd.DataFrame({"z": ["oops", *NUMBERS] if workers.rank == 0 else NUMBERS}))
        with pytest.raises(InvalidDataError) as told:
            FeatureEncoder.fitted(rows, np.ones(rows.shape[0]), None, workers)
        return str(told.value)

    one, other = on_workers(2, work)
    assert "row 0 has 'oops'" in one
    assert "a row of another worker has 'oops'" in other
