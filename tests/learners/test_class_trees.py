"""Learners with a vote for each class, against all trees there are."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from dualboost import CartLearner, ClassifierLearner, OptimalLearner
from dualboost.learners import PricingContext, TrainingData, make_grower, make_pool
from dualboost.targets import BinaryTarget, MulticlassTarget


def residual_of(codes, n_classes, rng):
    """T'u for duals of random sizes, some of them zero."""
    operator = MulticlassTarget(np.arange(n_classes)).operator(codes.astype(float))
    return operator.adjoint(rng.exponential(size=len(codes) * (n_classes - 1)) * (rng.random() < 0.8))


def table(n_classes, seed, n_rows=80, n_features=3):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n_rows)
    X = np.round(rng.normal(size=(n_rows, n_features)) + rng.normal(size=(n_classes, n_features))[codes], 0)
    operator = MulticlassTarget(np.arange(n_classes)).operator(codes.astype(float))
    return np.asfortranarray(X), operator.adjoint(rng.exponential(size=n_rows * (n_classes - 1)))


def price(learner, X, residual, depth):
    pool = make_pool(learner, TrainingData(X, []), PricingContext(depth, n_outputs=residual.shape[1]))
    return pool, pool.price(residual, None)[0]


def splits_of(X):
    """Every cut of every feature, and no cut."""
    found = [np.zeros(len(X), dtype=bool)]
    for column in X.T:
        found += [column > cut for cut in np.unique(column)[:-1]]
    return found


def edge_of(leaves, residual):
    """The sum over the leaves of the largest sum of residuals."""
    return sum(residual[leaves == leaf].sum(axis=0).max() for leaf in np.unique(leaves))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("learner", [OptimalLearner(), CartLearner(criterion="edge")], ids=["optimal", "edge"])
def test_the_stump_of_the_largest_edge(learner, n_classes):
    for seed in range(5):
        X, residual = table(n_classes, seed)
        X[:: seed + 2, 0] = np.nan
        splits = [*splits_of(X), *((column > cut) | np.isnan(column) for column in X.T for cut in np.unique(column))]
        pool, offer = price(learner, X, residual, 1)
        assert pool.is_proven([offer])
        assert offer.edge == pytest.approx(max(edge_of(split, residual) for split in [*splits, np.isnan(X[:, 0])]))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_tree_of_depth_two_of_the_largest_edge(n_classes):
    for seed in range(3):
        X, residual = table(n_classes, seed, n_rows=40, n_features=2)
        splits = splits_of(X)
        best = max(
            edge_of(np.where(root, 1 + left, 3 + right), residual)
            for root, left, right in itertools.product(splits, splits, splits)
        )
        pool, offer = price("optimal", X, residual, 2)
        assert pool.is_proven([offer])
        assert offer.edge == pytest.approx(best)


def test_deeper_optimal_trees_are_better():
    pytest.importorskip("pystreed", reason="optimal trees need pystreed, the extra optimal")
    X, residual = table(4, seed=0, n_rows=60, n_features=2)
    edges = [price(OptimalLearner(n_thresholds=5), X, residual, depth)[1].edge for depth in (1, 2, 3)]
    assert edges[0] < edges[1] < edges[2]
    pool, offer = price(OptimalLearner(n_thresholds=5), X, residual, 3)
    assert pool.is_proven([offer])


@pytest.mark.parametrize("voting", ["hard", "confidence"])
@pytest.mark.parametrize(
    "learner",
    [CartLearner, OptimalLearner, lambda voting: ClassifierLearner(GaussianNB(), voting=voting)],
    ids=["cart", "optimal", "classifier"],
)
def test_votes_are_for_classes_and_have_the_edge_that_is_said(learner, voting):
    X, residual = table(4, seed=3)
    _, offer = price(learner(voting=voting), X, residual, 2)
    votes = offer.column.votes
    assert votes.shape == residual.shape
    np.testing.assert_allclose(votes.sum(axis=1), 1.0, atol=1e-6)
    assert offer.edge == pytest.approx((residual * votes).sum())
    assert offer.edge > 0
    differences = votes[:, :, None] - votes[:, None, :]  # the solver holds these in single precision
    np.testing.assert_array_equal(differences.astype(np.float32), differences)
    if voting == "hard":
        assert set(np.unique(votes)) == {0.0, 1.0}
    np.testing.assert_array_equal(offer.column.learner.vote(X), votes)


@pytest.mark.parametrize("learner", [CartLearner(criterion="edge"), OptimalLearner(), LogisticRegression()])
def test_of_two_classes_votes_are_those_of_two_classes(learner):
    rng = np.random.default_rng(0)
    X, codes, u = rng.normal(size=(90, 3)), rng.integers(0, 2, 90), rng.exponential(size=90)
    X = np.asfortranarray(X)
    signs = np.where(codes == 1, 1.0, -1.0)
    two = BinaryTarget(np.arange(2)).operator(signs).adjoint(u)
    many = MulticlassTarget(np.arange(2)).operator(codes.astype(float)).adjoint(u)
    of_two = make_pool(learner, TrainingData(X, []), PricingContext(1)).price(two, None)[0]
    of_many = price(learner, X, many, 1)[1]
    assert of_many.edge == pytest.approx(of_two.edge)


def test_one_class_left_is_voted_for():
    X, _ = table(3, seed=0)
    residual = np.tile([-0.5, 1.0, -0.5], (len(X), 1))
    for learner in (CartLearner(), OptimalLearner(), GaussianNB()):
        votes = price(learner, X, residual, 2)[1].column.votes
        assert (votes == [0.0, 1.0, 0.0]).all()


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
