"""``categorical_features``: names, positions or truth values, as in scikit-learn."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, DualBoostRegressorCV, load_model
from dualboost.data.tables import categorical_positions
from dualboost.errors import InvalidDataError, InvalidParameterError

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
