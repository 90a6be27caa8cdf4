"""Standardised targets, outliers, and errors of predicted numbers."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import r2_score, root_mean_squared_error

from dualboost import DualBoostRegressor
from dualboost.errors import DataWarning, InvalidDataError
from dualboost.targets import CountTarget, NumericTarget, RobustTarget
from dualboost.targets.standardising import r_squared, root_mean_square

TASKS = [NumericTarget, RobustTarget, CountTarget]


@pytest.mark.filterwarnings("ignore::dualboost.errors.DataWarning")
@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, 3)), min_size=1).filter(lambda rows: any(w for _, w in rows))
)
def test_weights_are_repetitions(rows):
    y, weights = (np.array(part) for part in zip(*rows, strict=True))
    for kind in (NumericTarget, RobustTarget):
        weighted, _ = kind.read(y, weights.astype(float))
        repeated, _ = kind.read(np.repeat(y, weights))
        assert weighted.centre == pytest.approx(repeated.centre, rel=1e-12)
        assert weighted.scale == pytest.approx(repeated.scale, rel=1e-6)


@pytest.mark.parametrize("kind", TASKS)
def test_the_unit_of_weights_changes_nothing(kind):
    y, weights = np.arange(50.0), np.arange(50) % 4 / 4.0
    expected, targets = kind.read(y, weights)
    for unit in (1e-300, 1.3, 1e307):
        found, same = kind.read(y, unit * weights)
        assert (found.centre, found.scale) == pytest.approx((expected.centre, expected.scale), rel=1e-12)
        np.testing.assert_array_equal(same, targets)


def test_centre_and_scale_are_those_of_numpy_and_of_the_normal_distribution():
    y = np.random.default_rng(0).normal(5.0, 3.0, 20_001)
    task, targets = NumericTarget.read(y)
    assert (task.centre, task.scale) == pytest.approx((y.mean(), y.std()))
    np.testing.assert_allclose(targets, (y - y.mean()) / y.std(), atol=2.0**-32)
    task, _ = RobustTarget.read(y)
    assert task.centre == pytest.approx(np.median(y))
    assert task.scale == pytest.approx(3.0, rel=0.03)


@pytest.mark.parametrize("kind", [NumericTarget, RobustTarget])
@pytest.mark.parametrize("unit", [1e-320, 1e-300, 1e-12, 1.0, 1e12, 1e300, 1e305])
@pytest.mark.filterwarnings("ignore::dualboost.errors.DataWarning")
def test_numbers_of_any_size(kind, unit):
    y = np.arange(101.0) * unit
    task, targets = kind.read(y)
    expected = kind.read(np.arange(101.0))[1]
    np.testing.assert_allclose(targets, expected, atol=1e-3 if unit == 1e-320 else 1e-9)
    np.testing.assert_allclose(task.decode(targets), y, rtol=1e-8, atol=abs(unit) * (0.1 if unit == 1e-320 else 1e-7))


@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("value", [0.1, 7.0, 1e-300, 5e-324, 1e300, 2.0**60])
def test_constant_numbers(kind, value):
    task, targets = kind.read(np.full(50, value), np.linspace(0.0, 1.0, 50))
    assert len(np.unique(targets)) == 1
    if kind is not CountTarget:
        assert (task.centre, task.scale) == (value, value)
        np.testing.assert_array_equal(targets, 0.0)


BIG = [2**60 + k for k in range(101)]
WHOLE = {
    "int64": np.array(BIG),
    "uint64": np.array([2**63 + k for k in range(101)], dtype=np.uint64),
    "objects": np.array([10**20 + k for k in range(101)], dtype=object),
    "numpy's in objects": np.array([np.int64(-(2**62) + k) for k in range(101)], dtype=object),
    "decimals": np.array([Decimal(10**25 + k) for k in range(101)], dtype=object),
    "fractions": np.array([Fraction(2**70 + k) for k in range(101)], dtype=object),
    "pandas": NumericTarget.plain(pd.Series(BIG, dtype="Int64")),
}


@pytest.mark.parametrize("kind", [NumericTarget, RobustTarget])
@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_beyond_double_precision_keep_their_differences(kind, name):
    with pytest.warns(DataWarning, match=r"multiples of .*Subtract a constant"):
        task, targets = kind.read(WHOLE[name])
    unit = kind.read(np.arange(101))[0].scale
    np.testing.assert_allclose(np.diff(targets), 1.0 / unit, atol=1e-9)
    np.testing.assert_allclose(task.decode(targets), WHOLE[name].astype(float), rtol=1e-15)
    rounding = np.spacing(abs(task.centre)) / task.scale
    np.testing.assert_allclose(task.encode(WHOLE[name], 101), targets, atol=rounding)


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.float16, np.float32, np.longdouble, object, "boolean", "Float32"]
)
def test_types_of_numbers(dtype):
    y = np.arange(20) % 2
    own = NumericTarget.plain(pd.Series(y).astype(dtype)) if isinstance(dtype, str) else y.astype(dtype)
    task, targets = NumericTarget.read(np.asarray(own))
    assert (task.centre, task.scale) == (0.5, 0.5)
    np.testing.assert_array_equal(targets, 2.0 * y - 1.0)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([1.0, np.inf]), "y is inf in row 1"),
        (np.array([1, None], dtype=object), "y is None in row 1; every row needs a finite number"),
        (np.array(["1", "many"]), "y is .*many.* in row 1"),
        (np.array([1, 10**400], dtype=object), r"y is beyond the largest number, 1.8e\+308, in row 1"),
        (np.array([-1.7e308, 1.7e308]), r"further apart than 1.8e\+308"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), r"y holds datetime64\[D\], not numbers"),
        (np.array([1j]), "y holds complex128, not numbers"),
        (np.ones((2, 2)), "y has 2 dimensions"),
    ],
)
def test_what_is_no_number_is_named(y, message):
    with pytest.raises(InvalidDataError, match=message):
        NumericTarget.read(y)


# Warnings about outliers.

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(200, 2)), RNG.normal(size=200)


def with_one(far):
    return np.append(Y[:-1], far)


@pytest.mark.parametrize("far", [1e9, -1e9])
def test_one_number_that_hides_all_others_is_told_of(far):
    with pytest.warns(DataWarning, match=r"One number of y is 9\.95e\+08 from .*leave it out or take loss='huber'"):
        DualBoostRegressor(max_depth=1, max_trees=2).fit(X, with_one(far))


@pytest.mark.parametrize(
    "y",
    [
        with_one(30.0),  # far, but the others are learnt beside it
        np.append(np.zeros(199), 1e9),  # of the others there is nothing to learn
        np.append(Y[:-2], [1e9, -2e9]),  # two of them
    ],
    ids=["near", "others are equal", "two"],
)
def test_nothing_is_told_of_other_tails(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        DualBoostRegressor(max_depth=1, max_trees=2).fit(X, y)


def test_robust_losses_tell_of_those_that_count_as_nearer():
    with pytest.warns(DataWarning, match="1 of 200 numbers of y are further than"):
        DualBoostRegressor("huber", max_depth=1, max_trees=2).fit(X, with_one(1e9))


# R² and the root mean squared error.

TRUE = np.array([1.0, 2.0, 4.0, 7.0])
PREDICTED = np.array([1.5, 2.0, 3.0, 8.0])


@given(st.integers(-300, 300))
def test_the_unit_does_not_matter_even_where_squares_overflow(exponent):
    unit = 10.0**exponent
    assert r_squared(TRUE * unit, PREDICTED * unit) == pytest.approx(r2_score(TRUE, PREDICTED), rel=1e-9)
    expected = root_mean_squared_error(TRUE, PREDICTED)
    assert root_mean_square(TRUE * unit, PREDICTED * unit) == pytest.approx(expected * unit, rel=1e-9)


def test_weights_count():
    weights = np.array([1.0, 0.0, 2.0, 5.0])
    assert r_squared(TRUE, PREDICTED, weights) == pytest.approx(r2_score(TRUE, PREDICTED, sample_weight=weights))


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e-200, -3e200])
def test_a_constant_is_predicted_or_not(constant):
    true = np.full(3, constant)
    assert r_squared(true, true * (1.0 + 1e-14)) == 1.0
    assert r_squared(true, true + np.array([0.0, 0.0, abs(constant) or 1.0])) == 0.0
