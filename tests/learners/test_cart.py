"""CART: splits, votes and equally good splits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from dualboost.datasets import make_twonorm
from dualboost.learners import CartLearner, PricingContext, TrainingData


class Labelled:
    """A pricer for rows with labels, asked with the weight of each."""

    def __init__(self, pricer, labels):
        self.pricer, self.labels = pricer, labels

    def price(self, u):
        return self.pricer.price(u * self.labels, None)


def pricer_for(X, labels, depth, categorical=(), **context):
    data = TrainingData(X, list(categorical))
    return Labelled(CartLearner(max_depth=depth).pricer(data, PricingContext(**context)), labels)


def binary_data(n_rows=4440):
    """twonorm's features cut into quartiles, one indicator each: 80 binary features."""
    X, y = make_twonorm(n_rows, random_state=0)
    cuts = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    bins = (X[:, :, None] > cuts.T).sum(axis=2)
    return (bins[:, :, None] == np.arange(4)).reshape(n_rows, -1).astype(float), y.astype(float)


@pytest.mark.parametrize(("depth", "share"), [(1, 1.0), (2, 1.0), (3, 1.0), (5, 0.999)])
def test_equal_to_scikit_learn_on_binary_data(depth, share):
    X, y = binary_data()
    pricer = pricer_for(X, y, depth)
    rng = np.random.default_rng(depth)
    equal = []
    for _ in range(10):
        u = rng.exponential(size=len(y)) * (rng.random(len(y)) < 0.7)
        expected = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y, sample_weight=u).predict(X)
        equal.append(np.mean(pricer.price(u).votes == expected))
    assert np.mean(equal) >= share


def test_a_negative_weight_is_a_positive_one_on_the_flipped_label():
    X, y = binary_data(500)
    rng = np.random.default_rng(0)
    u = rng.normal(size=500)
    signed = pricer_for(X, y, 3).price(u)
    flipped = pricer_for(X, y * np.sign(u), 3).price(np.abs(u))
    np.testing.assert_array_equal(signed.votes, flipped.votes)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_scale_of_the_weights_does_not_matter(scale):
    X, y = binary_data(500)
    u = np.random.default_rng(0).random(500)
    np.testing.assert_array_equal(pricer_for(X, y, 3).price(scale * u).votes, pricer_for(X, y, 3).price(u).votes)


def test_votes_are_what_the_learner_says():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(200, 3)), rng.integers(0, 9, 200)])
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.choice([-1.0, 1.0], 200)
    pricer = pricer_for(X, y, 4, categorical=[3])
    for _ in range(20):
        column = pricer.price(rng.exponential(size=200) * (rng.random(200) < 0.5))
        np.testing.assert_array_equal(column.learner.vote(X), column.votes)
        assert set(np.unique(column.votes)) <= {-1.0, 1.0}


def test_the_number_of_threads_does_not_change_the_tree():
    X, y = make_twonorm(3000, random_state=0)
    u = np.random.default_rng(0).random(3000)
    one, two = (pricer_for(X, y.astype(float), 4, n_jobs=n).price(u) for n in (1, 2))
    np.testing.assert_array_equal(one.learner.threshold, two.learner.threshold)
    np.testing.assert_array_equal(one.votes, two.votes)


@pytest.mark.parametrize("constant", [True, False])
def test_nothing_to_split_gives_a_constant_learner(constant):
    X = np.ones((6, 2)) if constant else np.arange(12.0).reshape(6, 2)
    y = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0])
    u = np.ones(6) if constant else np.zeros(6)
    pricer = pricer_for(X, y, 2)
    for _ in range(2):
        column = pricer.price(u)
        assert column.learner.n_leaves == 1
        assert (column.votes == (1.0 if constant else -1.0)).all()


def test_constant_features_never_reach_lightgbm(capfd):
    """It would complain on the terminal, and fail."""
    from scipy import sparse

    y = np.array([1.0, 1.0, -1.0])
    for X in (np.full((3, 2), np.nan), np.ones((3, 2)), sparse.csc_matrix((3, 2))):
        assert (pricer_for(X, y, 1).price(np.ones(3)).votes == 1.0).all()
    assert capfd.readouterr() == ("", "")


def test_missing_values_may_decide():
    X = np.array([[np.nan], [np.nan], [1.0], [2.0]] * 5)
    y = np.array([1.0, 1.0, -1.0, -1.0] * 5)
    np.testing.assert_array_equal(pricer_for(X, y, 1).price(np.ones(20)).votes, y)


def test_categories_are_split_as_sets():
    X = np.tile(np.arange(6.0), 10)[:, None]
    y = np.where(np.isin(X.ravel(), [0.0, 3.0, 4.0]), 1.0, -1.0)
    np.testing.assert_array_equal(pricer_for(X, y, 1, categorical=[0]).price(np.ones(60)).votes, y)


def test_deep_trees_need_no_more_memory_than_rows():
    """LightGBM keeps a histogram a leaf: 2**30 leaves would not fit in any machine."""
    X, y = make_twonorm(400, random_state=0)
    column = pricer_for(X, y.astype(float), 30).price(np.ones(400))
    np.testing.assert_array_equal(column.votes, y)
    assert column.learner.n_leaves <= 400


@pytest.mark.parametrize("share", [0.5, 0.02, 0.001])
def test_a_light_leaf_is_not_refused(share):
    """LightGBM guesses row counts from weights: a row far lighter than the mean must still be split off."""
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0])
    np.testing.assert_array_equal(pricer_for(X, y, 1).price(np.array([1.0, 1.0, share])).votes, y)


def test_values_that_lightgbm_takes_for_zero_leave_a_constant_learner():
    X = np.array([[1e-300], [2e-300], [3e-300], [4e-300]])
    column = pricer_for(X, np.array([-1.0, -1.0, 1.0, -1.0]), 1).price(np.ones(4))
    np.testing.assert_array_equal(column.votes, -1.0)


@pytest.mark.parametrize("depth", [1, 3])
def test_rows_without_a_weight_may_be_left_out(depth):
    """The same tree, on the bins of all rows, whichever rows come next."""
    X, y = binary_data(1000)
    whole, part = (pricer_for(X, y, depth, leave_out_zeros=leave_out) for leave_out in (False, True))
    rng = np.random.default_rng(0)
    for share in (0.1, 0.1, 0.5, 1.0, 0.02):
        u = rng.exponential(size=1000) * (rng.random(1000) < share)
        signed = u * y
        assert signed @ part.price(u).votes == pytest.approx(signed @ whole.price(u).votes, rel=1e-6)
        assert part.price(u).votes.shape == y.shape


@given(seed=st.integers(0, 9_999), scale=st.sampled_from([1e-6, 1.0, 1e3]), ridge=st.sampled_from([0.1, 30.0]))
def test_of_equally_good_splits_that_of_the_first_feature_is_taken(seed, scale, ridge):
    """The second feature is the first one backwards, so that sums over its bins are added up in another order.

    Curvatures are alike, since LightGBM estimates numbers of rows by them, which decides whether a leaf has any.
    """
    rng = np.random.default_rng(seed)
    values, residual, curvature = rng.integers(0, 30, 80).astype(float), rng.normal(size=80), rng.uniform(0.9, 1.1, 80)
    grower = CartLearner(max_depth=3).grower(
        TrainingData(np.column_stack([values, -values]), []), PricingContext(max_depth=3)
    )
    grown = grower.grow(scale * residual, curvature, ridge)
    assert grown is not None
    assert (grown.tree.feature == 0).all()
