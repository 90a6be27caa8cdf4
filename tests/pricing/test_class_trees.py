"""One tree for all classes: how far the splits of a few directions are from the best ones."""

import numpy as np
import pytest

from dualboost.pricing import PricingContext, TrainingData, make_grower
from dualboost.pricing.class_trees import ClassTrees

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
    return [column > cut for column in X.T for cut in np.unique(column)[:-1]]


def grower(X, depth):
    return ClassTrees(make_grower("cart", TrainingData(np.asfortranarray(X), []), PricingContext(depth)))


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10])
def test_a_stump_lowers_the_objective_nearly_as_much_as_the_best_one(n_classes):
    shares = []
    for seed in range(5):
        X, residual, curvature = noisy_classes(n_classes, seed)
        grown = grower(X, 1).grow(residual, curvature, RIDGE)
        best = max(fall_of(stump, residual, curvature) for stump in all_stumps(X))
        assert grown.fall(residual, curvature, RIDGE) == pytest.approx(fall_of(grown.leaves, residual, curvature))
        shares.append(fall_of(grown.leaves, residual, curvature) / best)
    assert min(shares) > (0.95 if n_classes <= 3 else 0.8)


def test_a_deeper_tree_is_better_than_the_best_stump():
    X, residual, curvature = noisy_classes(5, seed=0)
    fall = grower(X, 2).grow(residual, curvature, RIDGE).fall(residual, curvature, RIDGE)
    assert fall > max(fall_of(stump, residual, curvature) for stump in all_stumps(X))


def test_no_tree_without_a_residual():
    X, residual, curvature = noisy_classes(3, seed=0)
    assert grower(X, 2).grow(np.zeros_like(residual), curvature, RIDGE) is None
