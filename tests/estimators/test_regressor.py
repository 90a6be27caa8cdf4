"""Numbers, from the front door: certificates, the unit of y, odd targets, and scikit-learn's checks."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from dualboost import DualBoostRegressor, DualBoostRegressorCV
from dualboost.errors import (
    DataWarning,
    DegenerateEnsembleWarning,
    DualBoostWarning,
    InvalidDataError,
    InvalidParameterError,
)
from dualboost.formulations import NUMBER_LOSSES, HuberLoss, QuantileLoss

from ..number_programmes import optimum
from ..thoroughness import every, how_many

KINKED = ("absolute", "quantile", "epsilon_insensitive")


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return train_test_split(X, y, random_state=0)


SEVERAL = QuantileLoss(quantiles=[0.05, 0.5, 0.95])


def made(loss, **options):
    return DualBoostRegressor(QuantileLoss(quantiles=0.8) if loss == "quantile" else loss, **options)


@pytest.mark.parametrize("optimize", ["leaves", "weights"])
@pytest.mark.parametrize("loss", list(NUMBER_LOSSES))  # see test_quantiles.py
def test_the_objective_is_that_of_cvxpy(loss, optimize):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:80], y[:80]
    weights = np.arange(80) % 3 + 1.0
    reg = made(loss, C=30.0, max_depth=2, max_trees=4, optimize=optimize).fit(X, y, weights)
    task, C = reg.fitted_.target, reg.formulation_.C
    targets = (y - task.centre) / task.scale
    prices = C * weights / weights.sum()
    if optimize == "leaves":
        leaves = [tree.leaves(X) for tree in reg.estimators_]
        A = np.concatenate([np.eye(leaf.max() + 1)[leaf] for leaf in leaves], axis=1)
    else:
        A = np.column_stack([learner.vote(X) for learner in reg.estimators_])
    expected = optimum(A, targets, prices, loss, optimize == "leaves")
    assert reg.gap_ <= 1e-6
    assert reg.objective_ == pytest.approx(expected, rel=1e-6)


def test_squared_loss_over_leaves_is_ridge_regression(diabetes):
    X, Xt, y, _ = diabetes
    reg = DualBoostRegressor(C=len(y) / 3.0, max_depth=3, max_trees=8, tol=1e-10).fit(X, y)
    assert len(np.unique(X, axis=0)) == len(X)

    def one_hot(rows):
        return np.concatenate([np.eye(tree.n_leaves)[tree.leaves(rows)] for tree in reg.estimators_], axis=1)

    ridge = Ridge(alpha=3.0, tol=1e-12).fit(one_hot(X), y)
    np.testing.assert_allclose(reg.predict(Xt), ridge.predict(one_hot(Xt)), rtol=1e-6)


@pytest.mark.parametrize("loss", [*NUMBER_LOSSES, SEVERAL])
def test_each_loss_predicts(loss, diabetes):
    X, Xt, y, yt = diabetes
    reg = DualBoostRegressor(loss, C=len(y) / 100, max_depth=3, max_trees=15).fit(X, y)
    assert reg.gap_ <= 1e-6
    assert mean_absolute_error(yt, reg.predict(Xt)) < 0.9 * mean_absolute_error(yt, np.full(len(yt), np.median(y)))
    np.testing.assert_allclose(list(reg.staged_predict(Xt))[-1], reg.predict(Xt))


@settings(max_examples=how_many(10, 300))
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(1, 60),
    loss=st.sampled_from([*NUMBER_LOSSES, SEVERAL]),
    kind=st.sampled_from(["normal", "heavy", "counts", "constant"]),
)
def test_every_table_has_a_certified_model(seed, n_rows, loss, kind):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 3)), 1)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = {
        "normal": np.abs(rng.normal(size=n_rows)),
        "heavy": np.abs(rng.standard_cauchy(n_rows)) ** 3,
        "counts": rng.poisson(1.0, n_rows) + 1.0,
        "constant": np.full(n_rows, 7.0),
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DualBoostWarning)
        reg = DualBoostRegressor(loss, max_depth=2, max_trees=4).fit(X, y, rng.integers(1, 4, n_rows))
    assert reg.gap_ <= 1e-6
    assert np.isfinite(reg.predict(X)).all()
    if kind == "constant":
        np.testing.assert_allclose(reg.predict(X), 7.0)


def test_quantiles_are_where_they_should_be(diabetes):
    X, _, y, _ = diabetes
    for quantile in (0.1, 0.5, 0.9):
        reg = DualBoostRegressor(QuantileLoss(quantiles=quantile), max_depth=2, max_trees=5).fit(X, y)
        assert np.mean(y <= reg.predict(X)) == pytest.approx(quantile, abs=0.05)


def test_outliers_move_huber_less(diabetes):
    X, Xt, y, _ = diabetes
    spoilt = y.copy()
    spoilt[::20] += 1e4
    moved = {}
    for loss in ("squared", HuberLoss(delta=0.01)):
        one, other = (DualBoostRegressor(loss, max_depth=2, max_trees=5).fit(X, target) for target in (y, spoilt))
        moved[str(loss)[:3]] = np.abs(one.predict(Xt) - other.predict(Xt)).mean()
    assert moved["Hub"] < 0.3 * moved["squ"[:3]]


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ("poisson", [1.0, 2.0, -1.0, 0.0], r"negative number, -1 in row 2.*'squared'"),
        ("poisson", [0.0, 0.0, 0.0, 0.0], r"zero in all rows"),
        ("squared", [1.0, np.nan, 2.0, 3.0], r"NaN|nan"),
        ("squared", ["a", "b", "c", "d"], r"numbers"),
        ("squared", csr_matrix([[1.0], [0.0], [2.0], [3.0]]), r"y is a sparse matrix.*y\.toarray\(\)\.ravel"),
    ],
)
def test_targets_that_cannot_be_learnt(loss, y, message):
    with pytest.raises((InvalidDataError, ValueError), match=message):
        DualBoostRegressor(loss).fit(np.arange(4.0)[:, None], y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "cubic"}, r"loss='cubic' is not known; choose one of"),
        ({"loss": HuberLoss(C=1.0), "C": 2.0}, r"C=2.0 is given beside"),
        ({"C": -1.0}, r"C=-1.0 is outside"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        DualBoostRegressor(**options).fit(np.arange(4.0)[:, None], np.arange(4.0))


@pytest.mark.parametrize("make", [lambda: HuberLoss(delta=0.0), lambda: QuantileLoss(quantiles=1.0)])
def test_losses_out_of_range(make):
    with pytest.raises(InvalidParameterError, match="must be a number above 0"):
        make()


def test_tuning_searching_stopping_and_pickles(diabetes):
    X, Xt, y, yt = diabetes
    tuned = DualBoostRegressorCV(Cs=4, cv=2, max_depth=2, max_trees=10).fit(X, y)
    assert tuned.score(Xt, yt) > 0.2
    assert tuned.scores_.shape == (2, 4)
    by_error = DualBoostRegressorCV(Cs=4, max_depth=2, max_trees=10, scoring="neg_mean_absolute_error", random_state=0)
    assert (by_error.fit(X, y).scores_ < 0).all()
    sparse = DualBoostRegressorCV(Cs=3, cv=2, max_depth=2, max_trees=12, select="sparsest").fit(X, y)
    assert sparse.n_trees_ <= 12
    search = GridSearchCV(DualBoostRegressor(max_trees=5), {"max_depth": [1, 2]}, cv=2).fit(X, y)
    assert search.best_params_["max_depth"] in (1, 2)
    stopped = DualBoostRegressor(max_depth=2, max_trees=60, n_iter_no_change=3, random_state=0).fit(X, y)
    assert stopped.n_trees_ < 60
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tuned)).predict(Xt), tuned.predict(Xt))


def test_tables_and_pandas_numbers():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"colour": pd.Categorical(rng.choice(["red", "blue"], 200)), "a": rng.normal(size=200)})
    y = pd.Series(np.where(table["colour"] == "red", 3, -1), dtype="Int64")
    assert DualBoostRegressor(C=1e4, max_depth=2, max_trees=3).fit(table, y).score(table, y.astype(float)) > 0.99


def test_entries_that_are_masked_are_missing(diabetes):
    X, Xt, y, _ = diabetes
    mask = np.random.default_rng(0).random(X.shape) < 0.1
    masked = DualBoostRegressor(max_depth=2, max_trees=3).fit(np.ma.array(X, mask=mask), y)
    missing = DualBoostRegressor(max_depth=2, max_trees=3).fit(np.where(mask, np.nan, X), y)
    np.testing.assert_array_equal(masked.predict(Xt), missing.predict(Xt))
    with pytest.raises(ValueError, match=r"NaN|nan"):
        DualBoostRegressor().fit(X, np.ma.array(y, mask=y > 200))


def test_the_score_of_a_constant_that_is_predicted_is_one():
    X, y = np.arange(20.0)[:, None], np.full(20, 0.1)
    with pytest.warns(DegenerateEnsembleWarning, match="y is the same in all rows"):
        reg = DualBoostRegressor(max_trees=2).fit(X, y)
    assert reg.score(X, y) == 1.0


def test_an_empty_ensemble_says_which_way_C_should_go(diabetes):
    X, _, y, _ = diabetes
    with pytest.warns(
        DegenerateEnsembleWarning, match=r"the best constant.* (smallest C that uses|A larger C may help)"
    ):
        reg = DualBoostRegressor("absolute", C=1e-6, optimize="weights", max_trees=3).fit(X, y)
    assert reg.n_trees_ == 0


def test_a_weight_of_two_is_the_row_twice_and_threads_change_nothing(diabetes):
    X, Xt, y, _ = diabetes
    twice = np.arange(len(X)) % 3 == 0
    options = {"C": 10.0, "max_depth": 2, "max_trees": 5}
    weighted = DualBoostRegressor(**options).fit(X, y, np.where(twice, 2.0, 1.0))
    repeated = DualBoostRegressor(**options).fit(np.concatenate([X, X[twice]]), np.append(y, y[twice]))
    np.testing.assert_allclose(weighted.predict(Xt), repeated.predict(Xt), rtol=1e-6)
    threads = DualBoostRegressor(**options, n_jobs=2).fit(X, y, np.where(twice, 2.0, 1.0))
    np.testing.assert_array_equal(threads.predict(Xt), weighted.predict(Xt))


@pytest.mark.parametrize("loss", KINKED)
def test_without_a_tree_the_intercept_is_the_optimum(loss):
    y = np.array([1.0, 2.0, 3.0, 4.0, 1e9])
    with pytest.warns(DegenerateEnsembleWarning), pytest.warns(DataWarning, match=r"1 of 5 numbers of y are further"):
        reg = DualBoostRegressor(loss).fit(np.zeros((5, 1)), y)
    assert reg.gap_ <= 1e-6
    if loss != "epsilon_insensitive":
        np.testing.assert_allclose(reg.predict(np.zeros((1, 1))), 3.0)


def test_exact_stumps_prove_their_optimum(diabetes):
    X, _, y, _ = diabetes
    reg = DualBoostRegressor("absolute", C=6.0, optimize="weights", learner="optimal", max_depth=1, max_trees=150)
    reg.fit(np.round(X[:, :3], 2), y)
    assert reg.certified_
    assert reg.bound_ == pytest.approx(reg.objective_, rel=1e-6)


CHECKED = [
    DualBoostRegressor(max_trees=10),
    DualBoostRegressor("absolute", optimize="weights"),
    DualBoostRegressorCV(),
]


@parametrize_with_checks(every(CHECKED, CHECKED[:1]))
def test_scikit_learn_compatible(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateEnsembleWarning)
        check(estimator)
