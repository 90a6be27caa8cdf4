"""The vote matrix: products against plain NumPy, growth, and duplicates."""

import numpy as np
import pytest

from dualboost.columns import ROWS_PER_BLOCK, Columns

from .conftest import stump_columns


@pytest.mark.parametrize("n_rows", [1, 50, ROWS_PER_BLOCK, ROWS_PER_BLOCK + 7])
def test_products(n_rows):
    rng = np.random.default_rng(0)
    labels = rng.choice([-1.0, 1.0], n_rows)
    votes = rng.uniform(-1, 1, (n_rows, 6))
    columns = Columns(labels, np.ones(n_rows), capacity=2)
    for j in range(6):
        columns.append(votes[:, j])
    A, w, u = labels[:, None] * votes, rng.random(6), rng.random(n_rows)
    np.testing.assert_allclose(columns.margins(w), A @ w, atol=1e-12)
    np.testing.assert_allclose(columns.edges(u), A.T @ u, atol=1e-12)
    np.testing.assert_allclose(columns.edges_of_last(2, u), (A.T @ u)[-2:], atol=1e-12)
    np.testing.assert_allclose(np.triu(columns.gram(u)), np.triu(A.T @ (u[:, None] * A)), atol=1e-10)


def test_margins_of_fewer_weights_use_the_first_columns():
    columns = stump_columns(n_columns=5)
    np.testing.assert_allclose(columns.margins(np.ones(2)), columns.signed[:2].sum(axis=0))


def test_holds_only_identical_votes():
    columns = stump_columns(n_columns=3)
    votes = columns.labels * columns.signed[1]
    assert columns.holds(votes)
    assert not columns.holds(-votes)
    assert not columns.holds(0.5 * votes)


def test_distinct_rows_are_those_that_a_column_tells_apart():
    columns = stump_columns(n_rows=200, n_columns=4)
    marked = columns.labels > 0
    first, group = columns.distinct(marked)
    patterns = np.unique(columns.signed[:, marked], axis=1)
    assert len(first) == patterns.shape[1] < marked.sum()
    np.testing.assert_array_equal(columns.signed[:, first[group]], columns.signed[:, marked])
