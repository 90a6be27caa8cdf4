"""The regressor: losses, attributes, and odd data."""

import pickle
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, Ridge
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
    SolverWarning,
)
from dualboost.formulations import NUMBER_LOSSES, EpsilonInsensitiveLoss, HuberLoss, QuantileLoss

from ..number_programmes import optimum
from ..thoroughness import every, how_many

KINKED = ("absolute", "quantile", "epsilon_insensitive")


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return train_test_split(X, y, random_state=0)


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


@pytest.mark.parametrize("loss", [*NUMBER_LOSSES, QuantileLoss(quantiles=[0.05, 0.5, 0.95])])
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
    loss=st.sampled_from([*NUMBER_LOSSES, QuantileLoss(quantiles=[0.05, 0.5, 0.95])]),
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


# Odd data: few rows, few features, sizes at the ends of double precision, and refusals.

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.round(10 * (X[:, 0] + RNG.normal(size=60)))


def small(kind, **options):
    return kind(max_depth=2, max_trees=3, random_state=0, **options)


BOTH = pytest.mark.parametrize("kind", [DualBoostRegressor, DualBoostRegressorCV])


@BOTH
@pytest.mark.parametrize("n_rows", [2, 3])
def test_few_rows(kind, n_rows):
    assert np.isfinite(small(kind).fit(X[:n_rows], Y[:n_rows]).predict(X)).all()


def test_one_row_is_its_own_prediction_and_too_few_to_tune():
    with pytest.warns(DegenerateEnsembleWarning, match="y is the same in all rows"):
        reg = small(DualBoostRegressor).fit(X[:1], [3.0])
    np.testing.assert_array_equal(reg.predict(X), 3.0)
    with pytest.raises(InvalidDataError, match=r"validation_fraction=0.2 cannot be held out of 1 rows"):
        small(DualBoostRegressorCV).fit(X[:1], [3.0])


@BOTH
def test_features_that_say_nothing_leave_the_mean(kind):
    with pytest.warns(DegenerateEnsembleWarning, match="No split lowers the objective"):
        reg = small(kind).fit(np.ones((60, 1)), Y)
    np.testing.assert_allclose(reg.predict(np.ones((1, 1))), Y.mean())


@BOTH
def test_columns_are_flattened_as_scikit_learn_does(kind):
    with pytest.warns(UserWarning, match="column-vector y"):
        reg = small(kind).fit(X, Y[:, None])
    np.testing.assert_array_equal(reg.predict(X), small(kind).fit(X, Y).predict(X))


@pytest.mark.parametrize(
    "loss", ["squared", "absolute", "epsilon_insensitive", QuantileLoss(quantiles=[0.05, 0.5, 0.95])]
)
@pytest.mark.parametrize("C", [1e4, 1e8, 1e11, 1e15])
def test_the_gap_of_a_model_that_meets_all_targets_is_relative_to_its_objective(loss, C):
    """From some C on only the ridge is left, whose optimum does not depend on C."""
    rows, targets = X[:2], Y[:2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolverWarning)
        usual, reg = (DualBoostRegressor(loss, one, max_depth=5, max_trees=4).fit(rows, targets) for one in (1e5, C))
    values = [np.concatenate(one.fitted_.stages.stages[-1].values) for one in (usual, reg)]
    assert len(values[0]) == len(values[1])
    assert usual.gap_ <= 1e-6
    assert abs(reg.objective_ - usual.objective_) <= (reg.gap_ + 1e-3) * usual.objective_


@pytest.mark.parametrize("optimize", ["leaves", "weights"])
def test_duals_of_a_tube_are_one_a_row_and_add_up_to_zero(optimize):
    reg = DualBoostRegressor("epsilon_insensitive", optimize=optimize, max_depth=2, max_trees=3).fit(X, Y)
    assert reg.duals_.shape == (60,)
    assert abs(reg.duals_.sum()) <= 1e-9 * np.abs(reg.duals_).sum()
    inside = np.abs(Y - reg.predict(X)) < 0.09 * reg.fitted_.target.scale
    assert np.abs(reg.duals_[inside]).max(initial=0.0) < 1e-3 * np.abs(reg.duals_).max()
    outside = np.abs(Y - reg.predict(X)) > 0.11 * reg.fitted_.target.scale
    np.testing.assert_array_equal(np.sign(reg.duals_)[outside], np.sign(Y - reg.predict(X))[outside])


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e300])
def test_the_same_C_is_chosen_at_the_ends_of_double_precision(unit):
    one, other = (small(DualBoostRegressorCV, Cs=6).fit(X, y) for y in (Y, unit * Y))
    assert one.C_ == other.C_
    np.testing.assert_allclose(other.predict(X) / unit, one.predict(X), rtol=1e-9, atol=1e-9)


def test_predictions_that_hardly_differ_are_told():
    with pytest.warns(DegenerateEnsembleWarning, match="With C=1e-30 .* nearly the same prediction. A larger C"):
        reg = small(DualBoostRegressor, C=1e-30).fit(X, Y)
    assert reg.n_trees_ > 0
    assert np.ptp(reg.predict(X)) < 1e-3 * Y.std()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.ptp(small(DualBoostRegressor, C=1.0).fit(X, Y).predict(X)) > 1e-3 * Y.std()


def test_a_tube_around_all_rows_is_told_by_its_width():
    with pytest.warns(DegenerateEnsembleWarning, match="within epsilon=100 deviations of every y: a smaller epsilon"):
        small(DualBoostRegressor, loss=EpsilonInsensitiveLoss(epsilon=100)).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": -1}, "C=-1 is outside the range of loss 'squared'"),
        ({"C": 1e-200}, "C=1e-200 is outside .* it must be a number above 1e-100"),
        ({"learner": LinearRegression()}, "it is a regressor, and also for numbers learners vote -1 or [+]1"),
    ],
)
def test_messages_speak_of_what_regressors_have(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        small(DualBoostRegressor, **options).fit(X, Y)


def test_scores_of_classes_are_refused_alike():
    for reg in (
        small(DualBoostRegressorCV),
        small(DualBoostRegressor, validation_fraction=0.2),
    ):
        with pytest.raises(InvalidParameterError, match="scoring='roc_auc' needs classes, and y has numbers"):
            reg.set_params(scoring="roc_auc").fit(X, Y)


def test_one_row_and_rows_as_dicts_are_refused_with_what_to_pass():
    table = pd.DataFrame(X, columns=["a", "b"])
    reg = small(DualBoostRegressor).fit(table, Y)
    for rows, message in (
        (table.iloc[0], r"X is a Series, .*X\.iloc\[\[0\]\] for a row"),
        (table.to_dict("records"), r"X is a list of dicts: pass a table, as pandas\.DataFrame\(X\)"),
        (table.iloc[0].to_dict(), r"X is a dict: .*pandas\.DataFrame\(\[X\]\)"),
    ):
        for asked in (reg.predict, lambda rows: small(DualBoostRegressor).fit(rows, Y)):
            with pytest.raises(InvalidDataError, match=message):
                asked(rows)


def test_decimals_are_numbers():
    numbers = Y + 0.5
    decimals = [Decimal(str(number)) for number in numbers]
    expected = small(DualBoostRegressor).fit(X, numbers).predict(X)
    exact = pa.array(decimals, pa.decimal128(10, 1))
    in_pandas = pd.Series(decimals, dtype=pd.ArrowDtype(exact.type))
    for y in (decimals, np.array(decimals), pd.Series(decimals), exact, in_pandas):
        reg = small(DualBoostRegressor).fit(X, y)
        np.testing.assert_array_equal(reg.predict(X), expected)
    far = small(DualBoostRegressor).fit(X, [Decimal(2**70) + 2**60 * int(number) for number in Y])
    np.testing.assert_allclose(far.predict(X), 2.0**70 + 2.0**60 * small(DualBoostRegressor).fit(X, Y).predict(X))
    with pytest.raises(InvalidDataError, match="missing in 1 of 60 rows, row 2 first"):
        small(DualBoostRegressor).fit(X, [*decimals[:2], Decimal("nan"), *decimals[3:]])
    with pytest.raises(InvalidDataError, match=r"infinity.*Row 2 is the first"):
        small(DualBoostRegressor).fit(X, [*decimals[:2], Decimal("inf"), *decimals[3:]])


def test_counts_that_differ_in_lost_digits_are_told():
    with (
        pytest.warns(DataWarning, match=r"y varies by .* are multiples of 256\. Subtract a constant"),
        pytest.warns(DegenerateEnsembleWarning, match="y is the same in all rows, to the digits that a fit sees"),
    ):
        small(DualBoostRegressor, loss="poisson").fit(X, [2**60 + k for k in range(60)])


def test_whole_numbers_beyond_double_precision_are_learnt():
    far = Y.astype(int) + 2**60
    with pytest.warns(DataWarning, match="multiples of 256"):
        reg = small(DualBoostRegressorCV, Cs=6).fit(X, far)
    near = small(DualBoostRegressorCV, Cs=6).fit(X, Y)
    assert reg.C_ == near.C_
    assert reg.history_["train_score"][-1] == pytest.approx(near.history_["train_score"][-1], rel=1e-6)
    np.testing.assert_array_equal(reg.predict(X) % 256, 0.0)


@BOTH
@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        ([None, *Y[1:]], None, "NaN|y is None in row 0"),
        (pd.Series([None, *range(59)], dtype="Int64"), None, "NaN"),
        (["many"] * 60, None, "y is 'many' in row 0; every row needs a number"),
        (np.c_[Y, Y], None, "1d array"),
        (pd.Series(pd.date_range("2020", periods=60)), None, "y holds datetime64.*, not numbers"),
        (Y, np.zeros(60), "sample_weight is zero for every row; rows to train on"),
        (Y, ["a"] * 60, r"sample_weight=\['a', .*, \.\.\.\] must be one number"),
    ],
)
def test_data_that_cannot_be_learnt(kind, y, weights, message):
    with pytest.raises((InvalidDataError, ValueError), match=message):
        small(kind).fit(X, y, weights)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 61}, "cv=61 cannot divide 60 rows"),
        ({"cv": 1}, "cv=1 cannot divide 60 rows"),
        ({"cv": "a"}, "cv='a' cannot divide"),
        ({"scoring": "roc_auc"}, "scoring='roc_auc' needs classes, and y has numbers: use a score such as 'r2'"),
        ({"scoring": "accuracy"}, "scoring='accuracy' needs classes, and y has numbers"),
        ({"scoring": "best"}, "scoring='best' is not known; .*'r2'"),
        ({"Cs": [np.nan]}, "C=nan is outside"),
    ],
)
def test_options_that_cannot_be_tuned_by(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        small(DualBoostRegressorCV, **options).fit(X, Y)


def test_weights_of_zero_are_neither_trained_on_nor_scored():
    weights = np.repeat([1.0, 0.0], 30)
    wild = np.where(weights > 0, Y, 1e30)
    reg = small(DualBoostRegressorCV, Cs=4, cv=3).fit(X, wild, weights)
    own = small(DualBoostRegressorCV, Cs=4, cv=3).fit(X[:30], Y[:30])
    np.testing.assert_allclose(reg.scores_, own.scores_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(reg.predict(X), own.predict(X))
