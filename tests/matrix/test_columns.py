"""The matrix A: products against plain NumPy, growth, duplicates, side rows, and kinds of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost.learners import CartLearner, OptimalLearner, PricingContext, TrainingData, make_pool
from dualboost.matrix.columns import Columns, FeatureDifferences, MeanMargin, NoSideRows
from dualboost.matrix.pairs import Partition
from dualboost.matrix.rows import ROWS_PER_BLOCK, Rows

from ..conftest import OneFeature, dense, stump_columns


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


NAMES = ["cq", "spatial"]
SIZES = [120, ROWS_PER_BLOCK - 1, ROWS_PER_BLOCK + 300]


@pytest.mark.parametrize("n_rows", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_products_are_those_of_the_whole_matrix(name, n_rows):
    columns = stump_columns(n_rows=n_rows, formulation=name)
    A = columns.dense().T
    assert A.shape == (columns.n_rows, columns.n_columns) == (n_rows + columns.sides.n, 20)
    rng = np.random.default_rng(0)
    w, u, d = rng.random(20), rng.normal(size=len(A)), rng.random(len(A)) + 0.1
    for products, rounding in ((columns, 1e-12), (columns.single, 1e-5)):
        np.testing.assert_allclose(products.margins(w), A @ w, atol=rounding * 20)
        np.testing.assert_allclose(products.edges(u), A.T @ u, atol=rounding * n_rows)
        np.testing.assert_allclose(np.triu(products.gram(d)), np.triu((A.T * d) @ A), atol=rounding * n_rows)
    np.testing.assert_allclose(columns.edges_of_last(3, u), (A.T @ u)[-3:], atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_a_repeated_gram_is_extended_with_side_rows(name):
    whole, columns = stump_columns(formulation=name), stump_columns(n_columns=15, formulation=name)
    d = np.random.default_rng(0).random(columns.n_rows) + 0.1
    columns.gram(d)
    columns.take(whole, np.arange(15, 20))
    np.testing.assert_allclose(np.triu(columns.gram(d)), np.triu(whole.gram(d)), atol=1e-10)
    np.testing.assert_array_equal(columns.dense(), whole.dense())
    np.testing.assert_array_equal(whole.subset([3, 1]).dense(), whole.dense()[[3, 1]])


def test_entries_of_side_rows():
    labels, counts = np.array([1.0, -1.0, 1.0]), np.array([1.0, 2.0, 1.0])
    mean = Columns(Rows(counts), sides=MeanMargin(counts / 4))
    mean.append(labels)
    np.testing.assert_array_equal(mean.beside, [[0.0]])
    pairs = FeatureDifferences(np.array([0, 1]), np.array([1, 2]), 3, cost=1.0)
    differences = Columns(Rows(counts), sides=pairs)
    for feature in range(3):
        assert not differences.holds(labels, OneFeature(feature))
        differences.append(labels, OneFeature(feature))
        assert differences.holds(labels, OneFeature(feature))
    np.testing.assert_array_equal(differences.beside, [[1, 0], [-1, 1], [0, -1]])


def test_side_rows_are_never_merged():
    columns = stump_columns(n_rows=40, n_columns=2, formulation="spatial")
    first, kinds = columns.distinct(np.arange(columns.n_rows), np.arange(2), np.empty((0, columns.n_rows)))
    assert len(first) <= 4 + columns.sides.n
    np.testing.assert_array_equal(first[-columns.sides.n :], np.arange(40, columns.n_rows))
    assert len(np.unique(kinds[40:])) == columns.sides.n
    assert not set(kinds[:40]) & set(kinds[40:])


def test_duals_for_pricing():
    u, theta = np.array([1.0, 2.0, -3.0]), np.array([0.4])
    np.testing.assert_allclose(MeanMargin(np.array([0.5, 0.25, 0.25])).duals_seen(u, theta), [1.2, 2.1, -2.9])
    assert NoSideRows().duals_seen(u, np.zeros(0)) is u
    pairs = FeatureDifferences(np.array([0, 1]), np.array([1, 2]), 3, cost=1.0)
    theta = np.array([-0.2, 0.5])
    np.testing.assert_allclose(pairs.granted(theta), [-0.2, 0.7, -0.5])
    np.testing.assert_allclose(pairs.feature_multiplier(theta), [1 / 1.2, 1 / 0.3, 1 / 1.5])
    np.testing.assert_allclose(pairs.feature_multiplier(10 * theta), [1 / 3, 10.0, 1 / 6])
    assert pairs.learner_part(theta, OneFeature(1)) == pytest.approx(0.7)


@pytest.mark.parametrize(
    "learner",
    [CartLearner(), CartLearner(criterion="edge"), CartLearner(max_depth=2), OptimalLearner()],
    ids=str,
)
def test_a_favoured_feature_is_split_on(learner):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    X = np.asfortranarray(rng.normal(size=(300, 4)) + y[:, None] * [1.0, 0.8, 0.1, 0.1])
    pool = make_pool(learner, TrainingData(X, []), PricingContext())
    plain, favoured, again = (
        pool.price(y, feature_multiplier)[0] for feature_multiplier in (None, np.array([0.3, 3.0, 1, 1]), None)
    )
    assert plain.column.learner.feature[0] == 0
    assert favoured.column.learner.feature[0] == 1
    assert not favoured.column.is_proven
    np.testing.assert_array_equal(again.column.votes, plain.column.votes)
    alike = pool.price(y, np.ones(4))[0].column
    np.testing.assert_array_equal(alike.votes, plain.column.votes)
    np.testing.assert_allclose(alike.learner.gain, plain.column.learner.gain, rtol=1e-6)


def patterns(columns):
    return np.unique(np.transpose(columns), axis=0, return_inverse=True)


@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(1, 60),
    values=st.sampled_from([(-1.0, 1.0), (-0.5, 0.0, 0.25, 1.0)]),
)
def test_rows_are_of_a_kind_if_no_column_differs(seed, n_rows, values):
    rng = np.random.default_rng(seed)
    columns = rng.choice(values, (5, n_rows)).astype(np.float32)
    partition = Partition.trivial(n_rows)
    for j, entries in enumerate(columns, start=1):
        before = partition
        partition, parents = before.refined(entries)
        distinct, group = patterns(columns[:j])
        assert partition.n_kinds == len(distinct)
        pairs = set(zip(partition.kind.tolist(), group.tolist(), strict=True))
        assert len(pairs) == partition.n_kinds
        np.testing.assert_array_equal(parents[partition.kind], before.kind)
        np.testing.assert_array_equal(partition.kind[partition.examples], np.arange(partition.n_kinds))


def test_sums_are_over_the_rows_of_a_kind():
    partition, _ = Partition.trivial(4).refined(np.array([1.0, -1.0, 1.0, -1.0]))
    sums = partition.sums(np.array([1.0, 2.0, 4.0, 8.0]))
    assert sums[partition.kind] == pytest.approx([5.0, 10.0, 5.0, 10.0])
