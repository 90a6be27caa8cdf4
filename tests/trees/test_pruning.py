"""Trees made smaller: splits between equal leaves, and leaves with too few rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost import DualBoostClassifier, load_model
from dualboost.trees.growing import Branch, Split, build_tree
from dualboost.trees.tree import Tree, constant_tree, n_leaves, pruned, without_leaf, without_light_leaves

from ..random_trees import random_tree
from ..thinning.models import numbers

N_FEATURES = 3
CATEGORICAL = 2
"""The feature that is split by category."""
VALUES = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 7.0, np.nan])
SPLITS = st.one_of(
    st.builds(Split, st.integers(0, 1), st.sampled_from([-0.5, 0.5, 1.0]), missing_left=st.booleans()),
    st.builds(Split, st.just(CATEGORICAL), category=st.integers(0, 2), missing_left=st.booleans()),
)


def branches(inner):
    return st.builds(Branch, SPLITS, st.floats(0, 5), inner, inner)


@st.composite
def trees(draw):
    tree = build_tree(draw(st.recursive(st.none(), branches, max_leaves=20)))
    votes = draw(st.lists(st.sampled_from([-1.0, 1.0, 0.25]), min_size=tree.n_leaves, max_size=tree.n_leaves))
    tree = tree.with_votes(np.array(votes))
    rows = draw(st.lists(st.tuples(*[VALUES] * N_FEATURES), min_size=1, max_size=30))
    X = np.array(rows)
    return (tree.with_covers(X, np.ones(len(X))) if draw(st.booleans()) else tree), X


@given(trees())
def test_it_votes_as_before_and_no_split_is_left_between_equal_leaves(drawn):
    tree, X = drawn
    smaller = pruned(tree)
    np.testing.assert_array_equal(smaller.vote(X), tree.vote(X))
    assert len(smaller.feature) == smaller.n_leaves - 1 == len(smaller.top_down())
    for a, b in zip(smaller.left, smaller.right, strict=True):
        assert a >= 0 or b >= 0 or smaller.votes[~a] != smaller.votes[~b]
    assert all(smaller.feature[node] == CATEGORICAL for node in smaller.categories)
    assert len(smaller.categories) == (smaller.feature == CATEGORICAL).sum()
    assert pruned(smaller) is smaller
    if tree.covers is None:
        assert smaller.covers is None
    else:
        np.testing.assert_array_equal(smaller.covers, smaller.with_covers(X, np.ones(len(X))).covers)


def test_a_split_above_goes_too():
    """x0 <= 0 ? +1 : (x1 <= 0 ? (x2 <= 0 ? -1 : -1) : -1) is one split."""
    deep = Branch(Split(0, 0.0), 4.0, None, Branch(Split(1, 0.0), 2.0, Branch(Split(2, 0.0), 1.0)))
    tree = build_tree(deep)
    votes = np.full(4, -1.0)
    votes[~tree.left[0]] = 1.0
    smaller = pruned(tree.with_votes(votes))
    assert smaller.n_leaves == 2
    assert smaller.feature.tolist() == [0]
    assert smaller.gain.tolist() == [4.0]


def test_a_tree_that_says_one_thing_is_a_leaf():
    tree = build_tree(Branch(Split(0, 0.0), 1.0, Branch(Split(1, 0.0), 1.0)))
    tree = tree.with_votes(np.ones(3)).with_covers(np.zeros((5, 2)), np.ones(5))
    smaller = pruned(tree)
    assert smaller.n_leaves == 1
    assert smaller.covers.tolist() == [5.0]
    assert pruned(constant_tree(1.0)).n_leaves == 1


def test_a_fit_counts_its_leaves_after_pruning(tmp_path):
    X, y = numbers()
    clf = DualBoostClassifier("nm", max_depth=3, max_trees=12).fit(X, y)
    used = [tree for tree, weight in zip(clf.estimators_, clf.weights_, strict=True) if weight]
    assert all(pruned(tree) is tree for tree in used)
    assert clf.n_leaves_ == sum(tree.n_leaves for tree in used) == len(clf.rules())
    clf.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").n_leaves_ == clf.n_leaves_


def test_a_learner_that_is_no_tree_counts_as_one_leaf():
    assert n_leaves(object()) == 1
    assert n_leaves(Tree(*[np.zeros(0)] * 5, {}, np.zeros(0), np.ones(1))) == 1


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
