"""XGBoost grows the trees that LightGBM grows, from the same gradients and Hessians."""

import sys

import numpy as np
import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor, XGBoostLearner
from dualboost.datasets import make_twonorm
from dualboost.errors import MissingDependencyError
from dualboost.learners import CartLearner, PricingContext, TrainingData
from dualboost.learners.base import TreeLimits
from dualboost.trees.tree import Tree


def binned(n_rows=3000, n_missing=0, seed=0):
    """twonorm's features in thirty bins each, and its labels."""
    X, y = make_twonorm(n_rows, random_state=seed)
    X = np.asfortranarray(np.floor(4.0 * X[:, :8]).clip(-15, 15) + 16.0)  # LightGBM cuts next to zero in its own way
    X.T.flat[:n_missing] = np.nan
    return X, y.astype(float)


def assert_same_trees(one: Tree, other: Tree, X):
    """The same splits and leaves, whatever order the nodes are in."""
    mine, theirs = one.leaves(X), other.leaves(X)
    pairs = np.unique(np.column_stack([mine, theirs]), axis=0)
    assert len(pairs) == one.n_leaves == other.n_leaves
    np.testing.assert_allclose(one.votes[pairs[:, 0]], other.votes[pairs[:, 1]], rtol=1e-5)
    for tree in (one, other):
        assert sorted(tree.feature) == sorted(one.feature)
    np.testing.assert_allclose(np.sort(one.threshold), np.sort(other.threshold))


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("n_missing", [0, 400])
def test_growers_agree_on_binned_data(depth, n_missing):
    X, y = binned(n_missing=n_missing)
    data, context = TrainingData(X, []), PricingContext(max_depth=depth)
    ours, theirs = XGBoostLearner().grower(data, context), CartLearner().grower(data, context)
    rng = np.random.default_rng(depth)
    for _ in range(10):
        residual, curvature = y * rng.random(len(y)), rng.uniform(0.01, 0.25, len(y))
        one, other = (grower.grow(residual, curvature, 5.0) for grower in (ours, theirs))
        np.testing.assert_array_equal(one.tree.leaves(X), one.leaves)
        assert_same_trees(one.tree, other.tree, X)


@pytest.mark.parametrize("depth", [1, 3])
def test_pricers_agree_on_binned_data(depth):
    X, y = binned()
    data, context = TrainingData(X, []), PricingContext(max_depth=depth)
    ours, theirs = XGBoostLearner().pricer(data, context), CartLearner().pricer(data, context)
    rng = np.random.default_rng(depth)
    for _ in range(10):
        residual = y * rng.exponential(size=len(y))
        one, other = (pricer.price(residual, None) for pricer in (ours, theirs))
        np.testing.assert_array_equal(one.votes, other.votes)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_cuts_are_in_double_precision(scale):
    """Values that single precision does not tell apart, and ones that LightGBM reads as zero, are told apart."""
    X = scale * np.array([[1.0], [1.0 + 1e-12], [1.0 + 2e-12], [1.0 + 3e-12]])
    residual = np.array([1.0, 1.0, -1.0, -1.0])
    column = (
        XGBoostLearner()
        .pricer(TrainingData(np.repeat(X, 5, axis=0), []), PricingContext())
        .price(np.repeat(residual, 5), None)
    )
    np.testing.assert_array_equal(column.learner.vote(X), residual)


def test_many_categories_and_missing_ones():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 400, 6000).astype(float), rng.normal(size=6000)])
    X[:60, 0] = np.nan
    residual = np.where(X[:, 0] == 399, 5.0, -0.1) + 0.01 * rng.normal(size=6000)
    column = XGBoostLearner(max_depth=1).pricer(TrainingData(X, [0]), PricingContext()).price(residual, None)
    np.testing.assert_array_equal(column.votes > 0, X[:, 0] == 399)
    np.testing.assert_array_equal(column.learner.vote(X), column.votes)


def test_missing_values_against_all_others():
    X = np.arange(600.0)[:, None]
    X[::3] = np.nan
    residual = np.where(np.isnan(X[:, 0]), 1.0, -1.0)
    column = XGBoostLearner().pricer(TrainingData(X, []), PricingContext()).price(residual, None)
    np.testing.assert_array_equal(column.votes, residual)
    np.testing.assert_array_equal(column.learner.vote(X), residual)


def test_the_number_of_threads_does_not_change_the_tree():
    X, y = make_twonorm(20_000, random_state=0)
    rng = np.random.default_rng(0)
    residual, curvature = y * rng.random(len(y)), rng.uniform(0.01, 0.25, len(y))
    trees = [
        XGBoostLearner()
        .grower(TrainingData(X, []), PricingContext(max_depth=4, n_jobs=n))
        .grow(residual, curvature, 1.0)
        for n in (1, 2)
    ]
    for name in ("feature", "threshold", "votes", "gain"):
        np.testing.assert_array_equal(*(getattr(grown.tree, name) for grown in trees))


def test_limits_are_kept():
    X, y = binned()
    rng = np.random.default_rng(0)
    residual, curvature = y * rng.random(len(y)), np.full(len(y), 0.2)
    groups = (frozenset({0, 1}), frozenset(range(2, 8)))
    limits = TreeLimits(fewest_rows=200, most_leaves=6, n_features=3, groups=groups, signs=(1,) * 8)
    data = TrainingData(X, [])
    grown = XGBoostLearner().grower(data, PricingContext(max_depth=4, limits=limits)).grow(residual, curvature, 1.0)
    assert 2 <= grown.tree.n_leaves <= 6
    assert np.bincount(grown.leaves).min() >= 200
    np.testing.assert_array_equal(grown.tree.leaves(X), grown.leaves)
    assert any(set(grown.tree.feature.tolist()) <= group for group in groups)
    assert grown.order is not None


def test_others_leave_the_leading_features_out():
    X, y = binned()
    pricer = XGBoostLearner().pricer(TrainingData(X, []), PricingContext(max_depth=1))
    leading = [int(column.learner.feature[0]) for column in pricer.others(y, None) if len(column.learner.feature)]
    assert len(set(leading)) == len(leading) == 7
    assert int(pricer.price(y, None).learner.feature[0]) not in leading


def test_the_objective_is_that_of_cart():
    X, y = binned(600)
    for options in ({"max_depth": 2, "max_trees": 5}, {"formulation": "lp", "max_trees": 15, "max_depth": 1}):
        fits = [
            DualBoostClassifier(learner=one, calibration="training", **options).fit(X, y) for one in ("cart", "xgboost")
        ]
        assert fits[0].gap_ <= 1e-6
        assert fits[1].gap_ <= 1e-6
        assert fits[1].objective_ == pytest.approx(fits[0].objective_, rel=1e-3)


def test_several_classes_and_numbers():
    X, _ = make_twonorm(300, random_state=0)
    classes = np.digitize(X[:, 0], [-1.0, 1.0])
    assert DualBoostClassifier(learner="xgboost", max_trees=4, max_depth=2).fit(X, classes).score(X, classes) > 0.9
    assert DualBoostRegressor(learner="xgboost", max_trees=8, max_depth=2).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9


def test_without_xgboost_an_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    X, y = make_twonorm(60, random_state=0)
    with pytest.raises(MissingDependencyError, match=r"learner='xgboost' needs XGBoost: pip install 'xgboost"):
        DualBoostClassifier(learner="xgboost", max_trees=2).fit(X, y)
