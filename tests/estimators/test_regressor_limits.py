"""Odd data for regressors: few rows, few features, sizes at the ends of double precision, and what is refused."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression

from dualboost import DualBoostRegressor, DualBoostRegressorCV
from dualboost.errors import (
    DataWarning,
    DegenerateEnsembleWarning,
    InvalidDataError,
    InvalidParameterError,
    SolverWarning,
)
from dualboost.formulations import EpsilonInsensitiveLoss, QuantileLoss

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.round(10 * (X[:, 0] + RNG.normal(size=60)))

SEVERAL = QuantileLoss(quantiles=[0.05, 0.5, 0.95])


def made(kind, **options):
    return kind(max_depth=2, max_trees=3, random_state=0, **options)


BOTH = pytest.mark.parametrize("kind", [DualBoostRegressor, DualBoostRegressorCV])


@BOTH
@pytest.mark.parametrize("n_rows", [2, 3])
def test_few_rows(kind, n_rows):
    assert np.isfinite(made(kind).fit(X[:n_rows], Y[:n_rows]).predict(X)).all()


def test_one_row_is_its_own_prediction_and_too_few_to_tune():
    with pytest.warns(DegenerateEnsembleWarning, match="y is the same in all rows"):
        reg = made(DualBoostRegressor).fit(X[:1], [3.0])
    np.testing.assert_array_equal(reg.predict(X), 3.0)
    with pytest.raises(InvalidDataError, match=r"validation_fraction=0.2 cannot be held out of 1 rows"):
        made(DualBoostRegressorCV).fit(X[:1], [3.0])


@BOTH
def test_features_that_say_nothing_leave_the_mean(kind):
    with pytest.warns(DegenerateEnsembleWarning, match="No split lowers the objective"):
        reg = made(kind).fit(np.ones((60, 1)), Y)
    np.testing.assert_allclose(reg.predict(np.ones((1, 1))), Y.mean())


@BOTH
def test_columns_are_flattened_as_scikit_learn_does(kind):
    with pytest.warns(UserWarning, match="column-vector y"):
        reg = made(kind).fit(X, Y[:, None])
    np.testing.assert_array_equal(reg.predict(X), made(kind).fit(X, Y).predict(X))


@pytest.mark.parametrize("loss", ["squared", "absolute", "epsilon_insensitive", SEVERAL])
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
    one, other = (made(DualBoostRegressorCV, Cs=6).fit(X, y) for y in (Y, unit * Y))
    assert one.C_ == other.C_
    np.testing.assert_allclose(other.predict(X) / unit, one.predict(X), rtol=1e-9, atol=1e-9)


def test_predictions_that_hardly_differ_are_told():
    with pytest.warns(DegenerateEnsembleWarning, match="With C=1e-30 .* nearly the same prediction. A larger C"):
        reg = made(DualBoostRegressor, C=1e-30).fit(X, Y)
    assert reg.n_trees_ > 0
    assert np.ptp(reg.predict(X)) < 1e-3 * Y.std()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.ptp(made(DualBoostRegressor, C=1.0).fit(X, Y).predict(X)) > 1e-3 * Y.std()


def test_a_tube_around_all_rows_is_told_by_its_width():
    with pytest.warns(DegenerateEnsembleWarning, match="within epsilon=100 deviations of every y: a smaller epsilon"):
        made(DualBoostRegressor, loss=EpsilonInsensitiveLoss(epsilon=100)).fit(X, Y)


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
        made(DualBoostRegressor, **options).fit(X, Y)


def test_scores_of_classes_are_refused_alike():
    for reg in (made(DualBoostRegressorCV), made(DualBoostRegressor, validation_fraction=0.2)):
        with pytest.raises(InvalidParameterError, match="scoring='roc_auc' needs classes, and y has numbers"):
            reg.set_params(scoring="roc_auc").fit(X, Y)


def test_one_row_and_rows_as_dicts_are_refused_with_what_to_pass():
    table = pd.DataFrame(X, columns=["a", "b"])
    reg = made(DualBoostRegressor).fit(table, Y)
    for rows, message in (
        (table.iloc[0], r"X is a Series, .*X\.iloc\[\[0\]\] for a row"),
        (table.to_dict("records"), r"X is a list of dicts: pass a table, as pandas\.DataFrame\(X\)"),
        (table.iloc[0].to_dict(), r"X is a dict: .*pandas\.DataFrame\(\[X\]\)"),
    ):
        for asked in (reg.predict, lambda rows: made(DualBoostRegressor).fit(rows, Y)):
            with pytest.raises(InvalidDataError, match=message):
                asked(rows)


def test_decimals_are_numbers():
    numbers = Y + 0.5
    decimals = [Decimal(str(number)) for number in numbers]
    expected = made(DualBoostRegressor).fit(X, numbers).predict(X)
    exact = pa.array(decimals, pa.decimal128(10, 1))
    in_pandas = pd.Series(decimals, dtype=pd.ArrowDtype(exact.type))
    for y in (decimals, np.array(decimals), pd.Series(decimals), exact, in_pandas):
        reg = made(DualBoostRegressor).fit(X, y)
        np.testing.assert_array_equal(reg.predict(X), expected)
    far = made(DualBoostRegressor).fit(X, [Decimal(2**70) + 2**60 * int(number) for number in Y])
    np.testing.assert_allclose(far.predict(X), 2.0**70 + 2.0**60 * made(DualBoostRegressor).fit(X, Y).predict(X))
    with pytest.raises(InvalidDataError, match="missing in 1 of 60 rows, row 2 first"):
        made(DualBoostRegressor).fit(X, [*decimals[:2], Decimal("nan"), *decimals[3:]])
    with pytest.raises(InvalidDataError, match=r"infinity.*Row 2 is the first"):
        made(DualBoostRegressor).fit(X, [*decimals[:2], Decimal("inf"), *decimals[3:]])


def test_counts_that_differ_in_lost_digits_are_told():
    with (
        pytest.warns(DataWarning, match=r"y varies by .* are multiples of 256\. Subtract a constant"),
        pytest.warns(DegenerateEnsembleWarning, match="y is the same in all rows, to the digits that a fit sees"),
    ):
        made(DualBoostRegressor, loss="poisson").fit(X, [2**60 + k for k in range(60)])


def test_whole_numbers_beyond_double_precision_are_learnt():
    far = Y.astype(int) + 2**60
    with pytest.warns(DataWarning, match="multiples of 256"):
        reg = made(DualBoostRegressorCV, Cs=6).fit(X, far)
    near = made(DualBoostRegressorCV, Cs=6).fit(X, Y)
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
        made(kind).fit(X, y, weights)


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
        made(DualBoostRegressorCV, **options).fit(X, Y)


def test_weights_of_zero_are_neither_trained_on_nor_scored():
    weights = np.repeat([1.0, 0.0], 30)
    wild = np.where(weights > 0, Y, 1e30)
    reg = made(DualBoostRegressorCV, Cs=4, cv=3).fit(X, wild, weights)
    own = made(DualBoostRegressorCV, Cs=4, cv=3).fit(X[:30], Y[:30])
    np.testing.assert_allclose(reg.scores_, own.scores_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(reg.predict(X), own.predict(X))
