"""The unit of y, the weights of rows and outliers: what a regressor's predictions may not depend on."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

from dualboost import DualBoostRegressor
from dualboost.errors import DataWarning, DegenerateEnsembleWarning
from dualboost.formulations import NUMBER_LOSSES, QuantileLoss

from ..thoroughness import how_many

X, Y = load_diabetes(return_X_y=True)
X, X_UNSEEN = X[:120], X[120:240]
TARGETS = {"whole": Y[:120], "any": Y[:120] + np.random.default_rng(0).normal(size=120)}
"""Targets with many ties, and without."""
SEVERAL = QuantileLoss(quantiles=[0.05, 0.5, 0.95])
"""Several quantiles need a value for each in every leaf, and refuse weights of whole trees."""
POSITIVE_ONLY = ("quantile",)
"""Losses under which a negative factor makes another programme."""
WITH_KINKS = ("absolute", "quantile", "epsilon_insensitive")
"""Losses whose weights of trees solve a linear programme, which magnifies the digits that a far centre costs y."""
TWO_SIDED = ("epsilon_insensitive", "weights")
"""A linear programme with two rows for each of the data, which a negative factor may put into another order."""
WEIGHTS = np.random.default_rng(1).uniform(0.1, 3.0, 120)


def predicted(loss, optimize, y, **more):
    loss = QuantileLoss(quantiles=0.8) if loss == "quantile" else loss
    return DualBoostRegressor(loss, optimize=optimize, max_depth=2, max_trees=4).fit(X, y, **more).predict(X_UNSEEN)


def apart(found, expected):
    """The largest difference, in deviations of the predictions."""
    return np.abs(found - expected).max() / np.std(expected)


@settings(max_examples=how_many(15, 1000))
@given(
    loss=st.sampled_from([SEVERAL, *(name for name in NUMBER_LOSSES if name != "poisson")]),
    optimize=st.sampled_from(["leaves", "weights"]),
    targets=st.sampled_from(list(TARGETS)),
    weights=st.sampled_from([None, WEIGHTS]),
    logarithm=st.floats(-9.0, 9.0),
    shift=st.floats(-3.0, 5.0),
    is_negative=st.booleans(),
)
def test_the_unit_of_y_changes_nothing(loss, optimize, targets, weights, logarithm, shift, is_negative):
    """Units are moved by up to 100,000 deviations, which costs y five of its sixteen digits."""
    assume((loss, optimize) != (SEVERAL, "weights"))
    y = TARGETS[targets]
    is_negative = is_negative and loss not in POSITIVE_ONLY
    a = -(10.0**logarithm) if is_negative else 10.0**logarithm
    b = a * y.std() * 10.0**shift
    found = (predicted(loss, optimize, a * y + b, sample_weight=weights) - b) / a
    is_far = shift > 2.0 and optimize == "weights" and loss in WITH_KINKS
    limit = 1e-6 if is_far or (is_negative and (loss, optimize) == TWO_SIDED) else 1e-9
    assert apart(found, predicted(loss, optimize, y, sample_weight=weights)) <= limit


@pytest.mark.parametrize("loss", ["squared", "absolute", SEVERAL])
def test_a_unit_far_from_zero_grows_the_same_trees_where_leaves_have_few_rows(loss):
    """Trees are grown on samples here, and many splits of small nodes are equally good."""
    y = TARGETS["any"]
    reg, far = (DualBoostRegressor(loss, max_depth=4, max_trees=8) for _ in range(2))
    reg.fit(X, y)
    far.fit(X, y + 2e5 * y.std())
    assert apart(far.predict(X_UNSEEN) - 2e5 * y.std(), reg.predict(X_UNSEEN)) <= 1e-9


@settings(max_examples=how_many(3, 200))
@given(optimize=st.sampled_from(["leaves", "weights"]), logarithm=st.floats(-9.0, 9.0))
def test_the_unit_of_counts_changes_nothing(optimize, logarithm):
    a, y = 10.0**logarithm, TARGETS["whole"]
    assert apart(predicted("poisson", optimize, a * y) / a, predicted("poisson", optimize, y)) <= 1e-9


@pytest.mark.parametrize("loss", [*NUMBER_LOSSES, SEVERAL])
def test_a_weight_of_two_is_the_row_twice_also_for_the_unit_of_y(loss):
    y = TARGETS["any"]
    weights = np.arange(len(X)) % 4
    reg, again = DualBoostRegressor(loss, max_depth=2, max_trees=4), DualBoostRegressor(loss, max_depth=2, max_trees=4)
    wild = np.where(weights > 0, y, 1e9)
    reg.fit(X, wild, weights)
    again.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert reg.fitted_.target.scale == pytest.approx(again.fitted_.target.scale, rel=1e-12)
    assert apart(reg.predict(X_UNSEEN), again.predict(X_UNSEEN)) <= 1e-9


def outliers(kind, rng):
    """Rows, targets with outliers, and unseen rows with what is to be found there."""
    X = rng.normal(size=(1000, 4))
    truth = 2 * np.sign(X[:, 0]) + X[:, 1]
    noise = {
        "none": 0.3 * rng.normal(size=1000),
        "cauchy": 0.3 * rng.standard_cauchy(1000),
        "one": np.where(np.arange(1000) == 3, 1e12, 0.3 * rng.normal(size=1000)),
        "many": np.where(rng.random(1000) < 0.05, 1e6, 0.3 * rng.normal(size=1000)),
    }[kind]
    return X[:500], (truth + noise)[:500], X[500:], truth[500:]


@pytest.mark.parametrize("kind", ["cauchy", "one", "many"])
@pytest.mark.parametrize("loss", ["absolute", "huber", "quantile", "epsilon_insensitive"])
def test_outliers_hardly_move_robust_losses(loss, kind):
    def error(kind):
        X, y, unseen, truth = outliers(kind, np.random.default_rng(0))
        reg = DualBoostRegressor(loss, max_depth=2, max_trees=8).fit(X, y)
        assert reg.gap_ <= 1e-6
        return np.median(np.abs(reg.predict(unseen) - truth))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert error(kind) < 2.5 * error("none")


def test_targets_out_of_reach_are_told():
    y = np.append(np.arange(119.0), 1e12)
    with pytest.warns(DataWarning, match=r"1 of 120 numbers of y are further than 3.7.e\+05 from their median, 59.5"):
        DualBoostRegressor("absolute", max_depth=2, max_trees=2).fit(X, y)


@pytest.mark.parametrize("loss", [name for name in NUMBER_LOSSES if name != "poisson"])
@pytest.mark.parametrize("optimize", ["leaves", "weights"])
def test_y_that_is_the_same_in_all_rows_is_predicted(loss, optimize):
    """Also under a tube, which is as wide as everything else in the standardised y, and has room for other numbers."""
    for value in (3.3, -5e-12, 0.0):
        reg = DualBoostRegressor(loss, optimize=optimize, max_trees=2)
        with pytest.warns(DegenerateEnsembleWarning, match="y is the same in all rows"):
            reg.fit(X, np.full(len(X), value))
        assert (reg.predict(X_UNSEEN) == value).all()


def test_intervals_of_a_constant_are_as_narrow_as_its_unit():
    reg = DualBoostRegressor("quantile", quantiles=[0.05, 0.95], calibrate="conformal", random_state=0)
    with pytest.warns(DegenerateEnsembleWarning):
        reg.fit(X, np.full(len(X), 7e-12))
    np.testing.assert_allclose(reg.predict_interval(X_UNSEEN), 7e-12, rtol=1e-5)
