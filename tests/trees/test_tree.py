"""Trees as arrays, from hand-made ones; ``pricing/test_lightgbm_text.py`` compares with LightGBM's."""

import numpy as np
from scipy import sparse

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
