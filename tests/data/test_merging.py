"""Merging identical rows: exact, reversible, and blind to the order of the data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from dualboost.data.merging import merge_rows

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
