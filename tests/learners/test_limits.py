"""How trees are held to limits while they are grown."""

from itertools import pairwise

import numpy as np
import pytest

from dualboost.learners import PricingContext, TrainingData, make_grower
from dualboost.learners.base import AllowedFeatures, TreeLimits


def problem(n_outputs, n=500):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(n, 4)))
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    residual = 0.5 * np.sign(score) - 0.1 * X[:, 3]
    if n_outputs > 1:
        residual = np.column_stack([residual, -residual, np.sin(X[:, 2])])
    return TrainingData(X, [], 1.0, np.ones(n)), residual, np.full_like(residual, 0.25)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_node_that_gains_most_is_split_first(n_outputs):
    """With one leaf more, one split is added to the tree, and the gains come in the order of a best-first search."""
    data, residual, curvature = problem(n_outputs)
    splits = []
    for most in range(2, 9):
        context = PricingContext(4, n_outputs=n_outputs, limits=TreeLimits(most_leaves=most))
        grown = make_grower("cart", data, context).grow(residual, curvature, 1.0)
        assert grown.tree.n_leaves == most
        np.testing.assert_array_equal(grown.leaves, grown.tree.leaves(data.X))
        splits.append(set(zip(grown.tree.feature.tolist(), grown.tree.threshold.tolist(), strict=True)))
    assert all(fewer < more and len(more - fewer) == 1 for fewer, more in pairwise(splits))


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_rows_that_others_stand_for_are_counted(n_outputs):
    data, residual, curvature = problem(n_outputs)
    n_each = np.random.default_rng(1).integers(1, 5, size=len(residual)).astype(float)
    data = data._replace(n_each=n_each, rows_each=float(n_each.mean()))
    context = PricingContext(5, n_outputs=n_outputs, limits=TreeLimits(fewest_rows=100))
    grown = make_grower("cart", data, context).grow(residual, curvature, 1.0)
    assert grown.tree.n_leaves > 3
    assert np.bincount(grown.leaves, weights=n_each).min() >= 100
    np.testing.assert_array_equal(grown.leaves, grown.tree.leaves(data.X))


def test_no_tree_is_grown_where_every_split_leaves_too_few_rows():
    for n_outputs in (1, 3):
        data, residual, curvature = problem(n_outputs)
        context = PricingContext(3, n_outputs=n_outputs, limits=TreeLimits(fewest_rows=251))
        assert make_grower("cart", data, context).grow(residual, curvature, 1.0) is None


def test_features_go_with_those_above_in_one_of_the_groups():
    groups = (frozenset({0, 1}), frozenset({1, 2, 3}), frozenset({4}))
    allowed = AllowedFeatures(TreeLimits(groups=groups), 5)
    paths = [frozenset(), frozenset({1}), frozenset({0}), frozenset({2, 3}), frozenset({4})]
    expected = [{0, 1, 2, 3, 4}, {0, 1, 2, 3}, {0, 1}, {1, 2, 3}, {4}]
    assert [set(np.flatnonzero(row)) for row in allowed.after(paths)] == expected


def test_a_path_with_as_many_features_as_it_may_have_goes_on_with_these():
    allowed = AllowedFeatures(TreeLimits(most_together=2), 4)
    assert allowed.is_limited
    paths = [frozenset(), frozenset({1}), frozenset({0, 3})]
    assert [set(np.flatnonzero(row)) for row in allowed.after(paths)] == [{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 3}]


def test_every_feature_is_drawn_as_often_as_any_other():
    allowed = AllowedFeatures(TreeLimits(n_features=2, seed=3), 5)
    drawn = allowed.after([frozenset()] * 4000)
    assert (drawn.sum(axis=1) == 2).all()
    np.testing.assert_allclose(drawn.mean(axis=0), 0.4, atol=0.03)


def test_draws_are_from_the_features_that_may_go_together():
    allowed = AllowedFeatures(TreeLimits(n_features=2, groups=(frozenset({0, 1}), frozenset({2, 3, 4}))), 5)
    drawn = allowed.after([frozenset({0})] * 5 + [frozenset({2})] * 50)
    assert (drawn[:5] == [True, True, False, False, False]).all()
    assert (drawn[5:, 2:].sum(axis=1) == 2).all()
    assert not drawn[5:, :2].any()
