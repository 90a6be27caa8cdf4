"""Trees as arrays: built from splits, followed, and read."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from dualboost.datasets import make_twonorm
from dualboost.learners import CartLearner, PricingContext, TrainingData, make_pool
from dualboost.trees.growing import Branch, Split, build_tree, leaf_votes
from dualboost.trees.tree import Tree, constant_tree


def example():
    """x0 <= 1 ? (x1 in {0, 2} ? +1 : -1) : -0.5, missing x0 to the left, missing x1 to the right."""
    return Tree(
        feature=np.array([0, 1]),
        threshold=np.array([1.0, 0.0]),
        left=np.array([1, ~0]),
        right=np.array([~2, ~1]),
        missing_left=np.array([True, False]),
        categories={1: np.array([0, 2])},
        gain=np.array([3.0, 1.0]),
        votes=np.array([1.0, -1.0, -0.5]),
    )


def test_paths():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [0.5, 1.0], [2.0, 0.0], [np.nan, 2.0], [0.0, np.nan], [0.0, 99.0]])
    np.testing.assert_array_equal(example().vote(X), [1.0, 1.0, -1.0, -0.5, 1.0, -1.0, -1.0])
    np.testing.assert_array_equal(example().leaves(sparse.csc_matrix(X)), example().leaves(X))


def test_gain_shares():
    np.testing.assert_allclose(example().feature_gains(3), [0.75, 0.25, 0.0])


def test_constant_tree():
    tree = constant_tree(-1.0)
    np.testing.assert_array_equal(tree.vote(np.zeros((3, 2))), [-1.0, -1.0, -1.0])
    np.testing.assert_array_equal(tree.feature_gains(2), [0.0, 0.0])


def test_new_votes_leave_the_old_tree_alone():
    tree = example()
    changed = tree.with_votes(np.zeros(3))
    assert (changed.vote(np.zeros((1, 2))) == 0).all()
    assert tree.vote(np.zeros((1, 2))) == 1.0


def test_a_nested_tree():
    root = Branch(Split(0, 0.5), 2.0, Branch(Split(1, category=3), 1.0), None)
    tree = build_tree(root)
    X = np.array([[0.0, 3.0], [0.0, 1.0], [1.0, 3.0], [np.nan, 3.0]])
    leaves = tree.leaves(X)
    assert tree.n_leaves == 3
    assert len(set(leaves[:3].tolist())) == 3
    assert leaves[2] == leaves[3]
    np.testing.assert_allclose(tree.feature_gains(2), [2 / 3, 1 / 3])


def test_no_split_is_a_constant():
    assert build_tree(None).n_leaves == 1


def test_confident_leaves_vote_their_balance():
    np.testing.assert_array_equal(leaf_votes(np.array([1e-16, -1e-16, 1e-9]), np.full(3, 2.0), "hard"), [-1, -1, 1])
    votes = leaf_votes(np.array([1.0, -3.0, 0.0, 0.0]), np.array([2.0, 3.0, 5.0, 0.0]), "confidence")
    np.testing.assert_allclose(votes, [0.5, -1.0, 0.0, 0.0])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_confidence_is_that_of_scikit_learns_leaves(depth):
    """On binary features the splits are the same, and so are the proportions in the leaves."""
    X, y = make_twonorm(1000, random_state=0)
    X, y = np.asfortranarray((X > 0).astype(float)), y.astype(float)
    u = np.random.default_rng(depth).exponential(size=1000)
    tree = DecisionTreeClassifier(max_depth=depth).fit(X, y, sample_weight=u)
    pool = make_pool(CartLearner(depth, voting="confidence"), TrainingData(X, []), PricingContext())
    (column, _), *_ = pool.price(u * y, None)
    np.testing.assert_allclose(column.votes, 2.0 * tree.predict_proba(X)[:, 1] - 1.0, atol=1e-6)
