"""Labels as people have them: pandas' own types, arrays of objects, gaps, and columns that are no classes."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import LabelEncoder

from dualboost import DualBoostClassifier, load_model
from dualboost.errors import DataWarning, InvalidDataError

N = 60
X = np.random.default_rng(0).normal(size=(N, 3))
CODES = {2: (X[:, 0] > 0).astype(int), 3: (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)}


def fitted(y):
    return DualBoostClassifier(max_depth=2, max_trees=2).fit(X, y)


TYPES = {
    "Int64": (lambda codes: pd.Series(codes).astype("Int64"), "i"),
    "UInt8": (lambda codes: pd.Series(codes).astype("UInt8"), "iu"),
    "int64[pyarrow]": (lambda codes: pd.Series(codes).astype("int64[pyarrow]"), "i"),
    "object of int": (lambda codes: np.array(codes.tolist(), dtype=object), "i"),
    "object of np.int64": (lambda codes: np.array([*codes], dtype=object), "i"),
    "object of float": (lambda codes: codes.astype(float).astype(object), "f"),
    "series of objects": (lambda codes: pd.Series(codes, dtype=object), "i"),
    "category of Int64": (lambda codes: pd.Series(codes).astype("Int64").astype("category"), "i"),
    "string": (lambda codes: pd.Series(codes).astype(str).astype("string"), "OU"),
    "object of str": (lambda codes: codes.astype(str).astype(object), "O"),
}


@pytest.mark.parametrize("n_classes", CODES)
@pytest.mark.parametrize("name", TYPES)
def test_labels_of_any_type_make_the_same_model(name, n_classes, tmp_path):
    make, kinds = TYPES[name]
    y, codes = make(CODES[n_classes]), CODES[n_classes]
    clf, plain = fitted(y), fitted(codes)
    assert clf.classes_.dtype.kind in kinds
    assert clf.classes_.tolist() == LabelEncoder().fit(np.asarray(y)).classes_.tolist()
    np.testing.assert_array_equal(clf.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(clf.margins(X, y), plain.margins(X, codes))
    assert clf.score(X, y) == plain.score(X, codes)
    clf.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(X), clf.predict(X), strict=True)


@pytest.mark.parametrize("make", [lambda y: pd.Series(y).astype("boolean"), lambda y: y.astype(object)])
def test_booleans_stay_booleans(make):
    clf = fitted(make(CODES[2] == 1))
    assert clf.classes_.dtype == bool
    np.testing.assert_array_equal(clf.predict_proba(X), fitted(CODES[2]).predict_proba(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_a_frame_of_one_column_is_that_column():
    clf = fitted(pd.DataFrame({"y": pd.Series(CODES[3]).astype("Int64")}))
    assert clf.classes_.dtype.kind == "i"
    with pytest.raises(InvalidDataError, match="missing in 1 of 60 rows, row 4 first"):
        fitted(pd.DataFrame({"y": pd.Series(CODES[3]).astype("Int64").mask(np.arange(N) == 4)}))


@pytest.mark.parametrize("dtype", ["string", "boolean", "Int64", "Float64", "category", object, "str", "float64"])
def test_missing_labels_are_told_with_their_row(dtype):
    y = pd.Series(CODES[2] == 1).astype(dtype)
    y = y.mask(np.isin(np.arange(N), [7, 11]))
    message = "Input y contains NaN, NA or None: it is missing in 2 of 60 rows, row 7 first; leave rows without"
    with pytest.raises(InvalidDataError, match=message):
        fitted(y)
    clf = fitted(y.dropna().reindex(range(N), fill_value=y.iloc[0]))
    with pytest.raises(InvalidDataError, match="row 7 first"):
        clf.margins(X, y)


@pytest.mark.parametrize(
    ("values", "told"),
    [(("a", 1), "y holds 1,"), ((1, "a"), "y holds 'a',"), ((Decimal(1), Decimal(2)), r"y holds Decimal\('1'\)")],
)
def test_labels_of_several_types_are_refused(values, told):
    y = np.array([values[int(code)] for code in CODES[2]], dtype=object)
    y[:2] = values
    with pytest.raises(InvalidDataError, match=rf"{told}.*make them so, as y\.astype\(str\) does"):
        fitted(y)
    assert fitted(y.astype(str)).classes_.tolist() == sorted(map(str, values))


@pytest.mark.parametrize("objects", [False, True])
def test_numbers_with_fractions_are_refused(objects):
    with pytest.raises(InvalidDataError, match=r"Unknown label type: continuous\. y holds numbers such as"):
        fitted(X[:, 0].astype(object) if objects else X[:, 0])


@pytest.mark.parametrize(
    "y",
    [np.arange(N), np.array([f"u{k}" for k in range(N)]), np.arange(N) % 31],
    ids=["numbers", "words", "hardly one twice"],
)
def test_a_column_of_identifiers_is_warned_of(y):
    n_classes = len(set(y.tolist()))
    with pytest.warns(DataWarning, match=f"y has {n_classes} classes in 60 rows.*identifier") as caught:
        DualBoostClassifier(max_depth=2, max_trees=2).fit(X, y)
    ours = [one for one in caught if issubclass(one.category, DataWarning)]  # scikit-learn may have a warning too
    assert ours[0].filename == __file__


@pytest.mark.parametrize("n_rows", [600, 2400])
@pytest.mark.parametrize(
    ("make", "is_told"), [(int, True), (float, True), ("p{}".format, False)], ids=["integers", "floats", "text"]
)
def test_prices_as_classes_are_warned_of_at_any_number_of_rows(make, is_told, n_rows):
    y = np.array([make(30 + 7 * (k % 200)) for k in range(n_rows)])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DataWarning)
        DualBoostClassifier(max_depth=1, max_trees=1).fit(np.arange(n_rows)[:, None], y)
    told = [str(one.message) for one in found if one.category is DataWarning]
    assert len(told) == is_told
    if is_told:
        assert f"y has 200 classes in {n_rows} rows" in told[0]
        assert told[0].endswith("If the numbers are names of classes, write them as text, such as 'class 7'.")


def test_many_classes_of_few_rows_are_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(np.arange(N) % 30)
        DualBoostClassifier(max_trees=2).fit(X[:20], np.arange(20) % 15)
        DualBoostClassifier(max_trees=2).fit(X[:2], [0, 1])
    with pytest.warns(DataWarning, match="y has 20 classes in 20 rows"):
        DualBoostClassifier(max_trees=2).fit(X[:20], np.arange(20))
