"""Which leaves are compared: by brute force over rows that differ by one feature."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dualboost.trees.ordering import leaf_order

from ..random_trees import random_tree


def compared(tree, signs, rng, n=400):
    """Pairs of leaves, lower first, that rows are found in which differ by one feature with a sign."""
    X = np.column_stack([rng.normal(scale=1.5, size=(n, 2)), rng.integers(4, size=n)])
    X[rng.random(n) < 0.15, 0] = np.nan
    X[rng.random(n) < 0.15, 1] = np.nan
    found = set()
    for feature, sign in enumerate(signs):
        if sign:
            low, high = X.copy(), X.copy()
            ends = np.sort(rng.normal(scale=2.0, size=(n, 2)), axis=1)
            low[:, feature], high[:, feature] = ends.T if sign > 0 else ends[:, ::-1].T
            found |= set(zip(tree.leaves(low).tolist(), tree.leaves(high).tolist(), strict=True))
    return {(a, b) for a, b in found if a != b}


@given(st.integers(0, 2**32 - 1), st.sampled_from([(1, 0, 0), (0, -1, 0), (1, -1, 0), (-1, -1, 0)]))
def test_leaves_that_rows_compare_are_ordered(seed, signs):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 1)
    order, found = leaf_order(tree, signs), compared(tree, signs, rng)
    if order is None:
        assert not found
        return
    assert all(order.below[a, b] for a, b in found)
    assert not (order.below & order.below.T & ~np.eye(tree.n_leaves, dtype=bool)).any(), "no leaf is above itself"
    lower, upper = order.pairs
    assert (order.levels[upper] >= order.levels[lower] + 1).all()


@given(st.integers(0, 2**32 - 1))
def test_values_put_in_order_make_a_monotone_tree(seed):
    rng = np.random.default_rng(seed)
    tree, signs = random_tree(rng, 1), (1, -1, 0)
    order = leaf_order(tree, signs)
    values = tree.votes if order is None else order.nearest(tree.votes)
    assert all(values[a] <= values[b] for a, b in compared(tree, signs, rng))
    if order is not None:
        np.testing.assert_array_equal(order.nearest(values), values)


def test_leaves_without_a_value_in_common_are_not_compared():
    """The tree splits by feature 1 first, then both sides by feature 0: leaves of both sides are not compared."""
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 1)
    while not (len(tree.feature) == 3 and tree.left[0] > 0 and tree.right[0] > 0 and not tree.categories):
        tree = random_tree(rng, 1)
    tree.feature[:] = [1, 0, 0]
    tree.threshold[:] = [0.0, -1.0, 1.0]
    lower, upper = leaf_order(tree, (1, 0, 0)).pairs
    expected = {(~int(tree.left[k]), ~int(tree.right[k])) for k in (1, 2)}
    assert set(zip(lower.tolist(), upper.tolist(), strict=True)) == expected
    assert leaf_order(tree, (0, 0, 0)) is None
