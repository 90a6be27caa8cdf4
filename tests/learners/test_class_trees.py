"""One tree for all classes: its splits against all splits there are."""

import numpy as np
import pytest

from dualboost.learners import PricingContext, TrainingData, make_grower

RIDGE = 20.0


def fall_of(leaves, residual, curvature):
    """Half of the sum over leaves and classes of edge^2 / (curvature + ridge)."""
    edges = np.array([residual[leaves == leaf].sum(axis=0) for leaf in np.unique(leaves)])
    curvatures = np.array([curvature[leaves == leaf].sum(axis=0) for leaf in np.unique(leaves)])
    return 0.5 * (edges**2 / (curvatures + RIDGE)).sum()


def noisy_classes(n_classes, seed, n_rows=300):
    """Features with few values, and the residual and curvature of a softmax at even odds."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n_rows)
    X = np.round(rng.normal(size=(n_rows, 4)) + rng.normal(size=(n_classes, 4))[codes], 1)
    residual = np.eye(n_classes)[codes] - 1.0 / n_classes
    return X, residual, np.full(residual.shape, 1.0 / n_classes)


def all_stumps(X):
    """Every cut of every feature, missing values on either side."""
    stumps = []
    for column in X.T:
        missing = np.isnan(column)
        cuts = np.unique(column[~missing])[:-1]
        stumps += [missing] if missing.any() else []
        stumps += [column > cut for cut in cuts]
        stumps += [(column > cut) | missing for cut in cuts]
    return stumps


def vector_grower(X, depth):
    return make_grower("cart", TrainingData(np.asfortranarray(X), []), PricingContext(depth, n_outputs=2))


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10])
def test_a_stump_is_the_best_one(n_classes):
    for seed in range(5):
        X, residual, curvature = noisy_classes(n_classes, seed)
        X[:: seed + 2, 0] = np.nan
        grown = vector_grower(X, 1).grow(residual, curvature, RIDGE)
        # The mean curvature of a leaf must add up to one, and a row has one divided by the number of classes.
        stumps = [stump for stump in all_stumps(X) if n_classes <= stump.sum() <= len(X) - n_classes]
        best = max(fall_of(stump, residual, curvature) for stump in stumps)
        assert grown.objective_decrease(residual, curvature, RIDGE) == pytest.approx(best)
        assert fall_of(grown.leaves, residual, curvature) == pytest.approx(best)


def test_each_node_of_a_deeper_tree_has_its_best_split():
    X, residual, curvature = noisy_classes(4, seed=0)
    stump = vector_grower(X, 1).grow(residual, curvature, RIDGE)
    deep = vector_grower(X, 2).grow(residual, curvature, RIDGE)
    assert deep.tree.n_leaves == 4
    expected = 0.0
    for leaf in (0, 1):
        rows = stump.leaves == leaf
        expected += (
            vector_grower(X[rows], 1)
            .grow(residual[rows], curvature[rows], RIDGE)
            .objective_decrease(residual[rows], curvature[rows], RIDGE)
        )
    assert deep.objective_decrease(residual, curvature, RIDGE) == pytest.approx(expected)


def test_a_category_against_all_others():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 200).astype(float)
    residual = np.eye(3)[np.where(codes == 3, 0, rng.integers(1, 3, 200))] - 1 / 3
    data = TrainingData(np.asfortranarray(codes[:, None]), [0])
    grown = make_grower("cart", data, PricingContext(1, n_outputs=3)).grow(residual, np.full((200, 3), 0.3), RIDGE)
    assert len(np.unique(grown.leaves[codes == 3])) == 1
    assert set(grown.leaves[codes == 3]).isdisjoint(grown.leaves[codes != 3])


def test_a_deeper_tree_is_better_than_the_best_stump():
    X, residual, curvature = noisy_classes(5, seed=0)
    objective_decrease = (
        vector_grower(X, 2).grow(residual, curvature, RIDGE).objective_decrease(residual, curvature, RIDGE)
    )
    assert objective_decrease > max(fall_of(stump, residual, curvature) for stump in all_stumps(X))


def test_no_tree_without_a_residual():
    X, residual, curvature = noisy_classes(3, seed=0)
    assert vector_grower(X, 2).grow(np.zeros_like(residual), curvature, RIDGE) is None


@pytest.mark.parametrize("depth", [1, 3, 6, 80])
def test_leaves_are_those_that_the_tree_sends_rows_to(depth):
    X, residual, curvature = noisy_classes(4, seed=1)
    X[::5, 1] = np.nan
    grown = vector_grower(X, depth).grow(residual, curvature, RIDGE)
    np.testing.assert_array_equal(grown.leaves, grown.tree.leaves(X))
    assert len(np.unique(grown.leaves)) == grown.tree.n_leaves
