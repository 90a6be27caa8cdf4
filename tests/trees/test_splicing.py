"""Leaves that are removed because they have too few rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost.trees.tree import constant_tree, without_leaf, without_light_leaves

from ..random_trees import random_tree


def some_rows(rng, n=60):
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(4, size=n)])
    X[rng.random(n) < 0.2, 0] = np.nan
    return X


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3]))
def test_rows_outside_a_leaf_vote_as_before_and_its_own_go_to_the_other_side(seed, n_outputs):
    rng = np.random.default_rng(seed)
    tree, X = random_tree(rng, n_outputs), some_rows(rng)
    leaf = int(rng.integers(tree.n_leaves))
    found, own = without_leaf(tree, leaf), tree.leaves(X) == leaf
    assert found.n_leaves == tree.n_leaves - 1
    np.testing.assert_array_equal(found.vote(X)[~own], tree.vote(X)[~own])
    above = np.flatnonzero((tree.left == ~leaf) | (tree.right == ~leaf))[0]
    sibling = int(tree.right[above] if tree.left[above] == ~leaf else tree.left[above])
    pending, beside = [sibling], set()
    while pending:
        node = pending.pop()
        if node < 0:
            beside.add(~node)
        else:
            pending += [int(tree.left[node]), int(tree.right[node])]
    assert {tuple(np.atleast_1d(vote)) for vote in found.vote(X)[own]} <= {
        tuple(np.atleast_1d(tree.votes[other])) for other in beside
    }


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 80.0))
def test_every_leaf_that_is_left_has_enough_rows(seed, least):
    rng = np.random.default_rng(seed)
    tree, X = random_tree(rng, 1), some_rows(rng)
    counts = rng.integers(1, 4, size=len(X)).astype(float)
    found = without_light_leaves(tree, X, counts, least)
    held = np.bincount(found.leaves(X), weights=counts, minlength=found.n_leaves)
    assert found.n_leaves == 1 or held.min() >= least
    before = np.bincount(tree.leaves(X), weights=counts, minlength=tree.n_leaves)
    assert (found is tree) == (before.min() >= least)


@pytest.mark.parametrize("vote", [0.0, 1.0])
def test_a_single_leaf_stays(vote):
    tree = constant_tree(vote)
    assert without_light_leaves(tree, np.zeros((3, 1)), np.ones(3), 10) is tree
