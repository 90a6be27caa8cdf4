"""The vote matrix: products against plain NumPy, growth, and duplicates."""

import numpy as np
import pytest

from dualboost.matrix.columns import Columns
from dualboost.matrix.rows import ROWS_PER_BLOCK, Rows

from ..conftest import dense, stump_columns


@pytest.mark.parametrize("n_rows", [1, 50, ROWS_PER_BLOCK, ROWS_PER_BLOCK + 7])
def test_products(n_rows):
    rng = np.random.default_rng(0)
    labels = rng.choice([-1.0, 1.0], n_rows)
    votes = rng.uniform(-1, 1, (n_rows, 6)).astype(np.float32).astype(np.float64)
    columns = Columns(Rows(np.ones(n_rows)), capacity=2)
    for j in range(6):
        columns.append(labels * votes[:, j])
    A, w, u = labels[:, None] * votes, rng.random(6), rng.random(n_rows)
    np.testing.assert_allclose(columns.margins(w), A @ w, atol=1e-12)
    np.testing.assert_allclose(columns.edges(u), A.T @ u, atol=1e-12)
    np.testing.assert_allclose(columns.edges_of_last(2, u), (A.T @ u)[-2:], atol=1e-12)
    gram = np.triu(A.T @ (u[:, None] * A))
    np.testing.assert_allclose(np.triu(columns.gram(u)), gram, atol=1e-10)
    single, scale = columns.single, n_rows * columns.single.rounding
    np.testing.assert_allclose(single.margins(w), A @ w, atol=scale)
    np.testing.assert_allclose(single.edges(u), A.T @ u, atol=scale)
    np.testing.assert_allclose(np.triu(single.gram(u + 1.0)), np.triu(A.T @ ((u + 1.0)[:, None] * A)), atol=scale)


@pytest.mark.parametrize("in_single", [True, False])
def test_a_repeated_gram_is_extended(in_single):
    """The same d again: only the new columns are multiplied, with the same result; forgotten columns are forgotten."""
    whole = stump_columns(n_rows=300, n_columns=12)
    d = np.linspace(1.0, 2.0, 300)
    columns = Columns(Rows(whole.counts))
    for n, entries in enumerate(dense(whole).T, start=1):
        columns.append(entries)
        if n == 8:
            columns.keep_first(5)
        A = dense(columns)
        gram = (columns.single if in_single else columns).gram(d)
        np.testing.assert_allclose(np.triu(gram), np.triu(A.T @ (d[:, None] * A)), rtol=1e-6)


def test_margins_of_fewer_weights_use_the_first_columns():
    columns = stump_columns(n_columns=5)
    np.testing.assert_allclose(columns.margins(np.ones(2)), dense(columns)[:, :2].sum(axis=1))


def test_holds_only_identical_entries():
    columns = stump_columns(n_columns=3)
    entries = columns.entries(1).astype(float)
    assert columns.holds(entries)
    assert not columns.holds(-entries)
    assert not columns.holds(0.5 * entries)


def test_a_forgotten_column_is_not_held():
    columns = stump_columns(n_columns=3)
    entries = columns.entries(2).astype(float)
    columns.keep_first(2)
    assert not columns.holds(entries)


def test_distinct_rows_are_those_that_a_column_tells_apart():
    columns = stump_columns(n_rows=200, n_columns=4)
    marked, A = np.flatnonzero(columns.labels > 0), dense(columns)
    first, group = columns.distinct(marked, np.arange(columns.n_columns), np.empty((0, 200)))
    patterns = np.unique(A[marked], axis=0)
    assert len(first) == len(patterns) < len(marked)
    np.testing.assert_array_equal(A[first[group]], A[marked])


@pytest.mark.parametrize("n_coefficients", [1, 2, 3])
def test_rows_of_other_coefficients_are_distinct(n_coefficients):
    """As the programme over them has equations, rows are told apart by these too."""
    columns = stump_columns(n_rows=200, n_columns=3)
    coefficients = np.random.default_rng(0).choice([-1.0, 0.5, 1.0], (n_coefficients, 200))
    marked = np.flatnonzero(np.arange(200) % 3 > 0)
    first, group = columns.distinct(marked, np.arange(3), coefficients)
    told = np.column_stack([dense(columns), coefficients.T])
    assert len(first) == len(np.unique(told[marked], axis=0))
    np.testing.assert_array_equal(told[first[group]], told[marked])
