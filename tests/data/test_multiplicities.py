"""How many rows weights and repeated rows stand for, and that fits trust rows that are there many times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.data.merging import in_rows, merge_rows, numbers_of_rows

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("weights", "numbers"),
    [
        ([1, 2, 0, 5], [1, 2, 0, 5]),
        ([3, 3, 3], [1, 1, 1]),
        ([0.1, 0.3, 0.2], [1, 3, 2]),
        ([0.5, 0.7, 0], [1, 1, 0]),
        ([1e-300, 1e300], [1, 1]),
        ([5e-324, 1.0], [1, 1]),
        ([1e-10, 0.123456789, 0.7071067811865476], [1, 1, 1]),
        ([1e-10, 3e-10, 0.1], [1, 3, 1e9]),
        ([0, 0], [0, 0]),
        ([], []),
    ],
)
def test_weights_are_numbers_of_rows_where_they_can_be(weights, numbers):
    np.testing.assert_array_equal(numbers_of_rows(np.array(weights, dtype=float)), numbers)


@given(ROWS, st.sampled_from([0.001, 3.0, 1e6]), st.integers(1, 3))
def test_the_mean_number_of_rows_is_that_of_any_way_to_say_it(rows, scale, times):
    """Weights, the same weights in another unit, and rows that are repeated so often."""
    values, counts = np.array(rows, dtype=float).T
    counts[0] = 1.0
    plain = np.repeat(values, times * counts.astype(int))
    told = [(values, counts), (values, scale * counts), (plain, np.ones(len(plain)))]
    merged = [merge_rows(own[:, None], np.ones(len(own)), weights) for own, weights in told]
    assert merged[0].rows_each >= 1.0
    np.testing.assert_allclose([one.rows_each for one in merged], merged[0].rows_each, rtol=1e-12)


@given(ROWS, st.floats(1e-3, 1e4), st.booleans())
def test_weights_as_numbers_of_rows_have_no_unit(rows, scale, are_whole):
    weights = np.array([count if are_whole else np.sqrt(count + value / 7) for value, count in rows], dtype=float)
    found = in_rows(scale * weights)
    np.testing.assert_allclose(found, in_rows(weights), rtol=1e-12)
    np.testing.assert_allclose(found / found.sum(), weights / weights.sum(), rtol=1e-12)
    assert found.sum() == pytest.approx(numbers_of_rows(weights).sum())


def cells():
    """1,000 rows of 50 kinds, with a probability for each kind."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 5, 1000), rng.integers(0, 10, 1000)]).astype(float)
    p = rng.choice([0.02, 0.98], (5, 10))[X[:, 0].astype(int), X[:, 1].astype(int)]
    return X, p, rng.random(1000) < p


def test_twenty_rows_of_a_kind_are_twenty_rows_to_a_classifier():
    """Counted as one row of each kind and class, no leaf of depth 5 could hold fewer than four of them."""
    X, p, y = cells()
    clf = DualBoostClassifier().fit(X, y)
    assert clf.formulation_.C == 1000 / 25
    np.testing.assert_array_equal(clf.predict(X), p > 0.5)


def test_counts_of_a_kind_are_rows_to_a_regressor():
    X, _, y = cells()
    counts = y.astype(float) + 1.0
    reg = DualBoostRegressor("poisson").fit(X, counts)
    assert reg.formulation_.C == 1000 / 20
