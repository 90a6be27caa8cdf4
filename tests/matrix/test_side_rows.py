"""Rows of A beside those of the data: the products, and what a pricer is told of them."""

import numpy as np
import pytest

from dualboost.learners import CartLearner, OptimalLearner, PricingContext, TrainingData, make_pool
from dualboost.matrix.columns import Columns, FeatureDifferences, MeanMargin, NoSideRows
from dualboost.matrix.rows import ROWS_PER_BLOCK, Rows

from ..conftest import OneFeature, stump_columns

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
def test_a_repeated_gram_is_extended(name):
    whole, columns = stump_columns(formulation=name), stump_columns(n_columns=15, formulation=name)
    d = np.random.default_rng(0).random(columns.n_rows) + 0.1
    columns.gram(d)
    columns.take(whole, np.arange(15, 20))
    np.testing.assert_allclose(np.triu(columns.gram(d)), np.triu(whole.gram(d)), atol=1e-10)
    np.testing.assert_array_equal(columns.dense(), whole.dense())
    np.testing.assert_array_equal(whole.subset([3, 1]).dense(), whole.dense()[[3, 1]])


def test_entries():
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


def test_what_a_pricer_sees():
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
