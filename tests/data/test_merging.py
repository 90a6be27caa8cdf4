"""Numbers of rows from weights, held-out rows, and merging of identical rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.data.merging import hold_out, in_rows, merge_rows, numbers_of_rows
from dualboost.errors import InvalidDataError

VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, np.nan, 1e300])


@given(X=hnp.arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=VALUES), seed=st.integers(0, 99))
def test_merged_rows_are_the_distinct_ones(X, seed):
    rng = np.random.default_rng(seed)
    labels = rng.choice([-1.0, 1.0], len(X))
    weights = rng.integers(0, 3, len(X)).astype(float)
    weights[0] = 1.0
    rows = merge_rows(X, labels, weights)
    expected = {}
    for x, label, weight in zip(X, labels, weights, strict=True):
        if weight > 0:
            key = (*("nan" if np.isnan(v) else v + 0.0 for v in x), label)
            expected[key] = expected.get(key, 0.0) + weight
    found = {
        (*("nan" if np.isnan(v) else v + 0.0 for v in x), label): count
        for x, label, count in zip(rows.X, rows.targets, rows.counts, strict=True)
    }
    assert found == expected
    assert len(rows.targets) == len(expected)


@given(seed=st.integers(0, 999))
def test_order_of_the_data_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (40, 2)).astype(float)
    labels, weights = rng.choice([-1.0, 1.0], 40), rng.integers(0, 3, 40).astype(float)
    order = rng.permutation(40)
    one, other = merge_rows(X, labels, weights), merge_rows(X[order], labels[order], weights[order])
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.targets, other.targets)
    np.testing.assert_allclose(one.counts, other.counts)


@given(seed=st.integers(0, 999))
def test_the_last_digits_of_targets_do_not_move_rows(seed):
    rng = np.random.default_rng(seed)
    X, targets = rng.integers(0, 9, (40, 2)).astype(float), np.round(rng.normal(size=40), 2)
    X = np.column_stack([X, np.arange(40)])
    one, other = (merge_rows(X, values, np.ones(40)) for values in (targets, targets + 1e-9 * rng.normal(size=40)))
    np.testing.assert_array_equal(other.X, one.X)
    np.testing.assert_array_equal(other.keys, one.keys)


@given(seed=st.integers(0, 999))
def test_targets_of_the_opposite_sign_have_the_same_order(seed):
    """Also those of size one, which the targets of two classes are."""
    rng = np.random.default_rng(seed)
    X, targets = np.arange(40.0)[:, None], np.round(rng.normal(size=40), 1)
    one, other = (merge_rows(X, values, np.ones(40)) for values in (targets, -targets))
    np.testing.assert_array_equal(other.X, one.X)


@given(seed=st.integers(0, 999))
def test_targets_that_differ_by_their_last_digits_are_not_merged(seed):
    rng = np.random.default_rng(seed)
    X, targets, weights = np.zeros((20, 1)), 0.5 + 1e-9 * rng.integers(0, 5, 20), rng.uniform(1.0, 2.0, 20)
    merged, order = merge_rows(X, targets, weights), rng.permutation(20)
    np.testing.assert_array_equal(np.sort(merged.targets), np.unique(targets))
    np.testing.assert_array_equal(merged.targets[merged.group], targets)
    np.testing.assert_array_equal(merge_rows(X, targets[order], weights[order]).targets, merged.targets)


def test_weights_equal_repetition():
    rng = np.random.default_rng(0)
    X, labels, weights = rng.normal(size=(20, 2)), rng.choice([-1.0, 1.0], 20), rng.integers(0, 4, 20)
    weighted = merge_rows(X, labels, weights.astype(float))
    repeated = merge_rows(np.repeat(X, weights, axis=0), np.repeat(labels, weights), np.ones(weights.sum()))
    np.testing.assert_array_equal(weighted.X, repeated.X)
    np.testing.assert_array_equal(weighted.counts, repeated.counts)


def test_spread_divides_by_weight_and_leaves_absent_rows_at_zero():
    X = np.array([[1.0], [2.0], [1.0], [3.0]])
    rows = merge_rows(X, np.ones(4), np.array([1.0, 1.0, 3.0, 0.0]))
    u = np.where(rows.X.ravel() == 1.0, 8.0, 5.0)
    np.testing.assert_allclose(rows.spread(u), [2.0, 5.0, 6.0, 0.0])


@pytest.mark.parametrize("density", [0.1, 0.6])
def test_sparse_rows_merge_like_dense_ones(density):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (60, 5)) * (rng.random((60, 5)) < density) * 1.0
    labels = rng.choice([-1.0, 1.0], 60)
    dense, thin = (merge_rows(form, labels, np.ones(60)) for form in (X, sparse.csc_matrix(X)))
    np.testing.assert_array_equal(thin.X.toarray(), dense.X)
    np.testing.assert_array_equal(thin.counts, dense.counts)
    assert len(dense.counts) < 60


def test_rows_survive_a_collision_of_hashes(monkeypatch):
    from dualboost.data import merging as module

    monkeypatch.setattr(module, "_hashes_of_features", lambda X: np.zeros(X.shape[0], dtype=np.uint64))
    X = np.arange(5.0)[:, None]
    rows = merge_rows(X, np.ones(5), np.arange(1.0, 6.0))
    np.testing.assert_array_equal(np.sort(rows.X.ravel()), X.ravel())
    np.testing.assert_allclose(rows.spread(rows.counts), np.arange(1.0, 6.0))


# Numbers of rows from weights.

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


# Held-out rows.


def test_rows_are_held_out_by_class_and_never_without_weight():
    labels = np.repeat([-1.0, 1.0], [80, 20])
    weights = np.ones(100)
    weights[::2] = 0.0
    held = hold_out(labels, weights, 0.2, np.random.RandomState(0))
    assert len(held) == 10
    assert (weights[held] > 0).all()
    assert (labels[held] > 0).sum() == 2


def test_without_strata_any_rows_are_held_out():
    assert len(hold_out(None, np.ones(50), 0.1, np.random.RandomState(0))) == 5


def test_too_few_rows_to_hold_out():
    with pytest.raises(InvalidDataError, match=r"validation_fraction=0\.1 cannot be held out of 3 rows"):
        hold_out(np.array([1.0, 1.0, -1.0]), np.ones(3), 0.1, np.random.RandomState(0))
