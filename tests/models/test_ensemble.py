"""Weighted sums of learners, compiled and one by one, with one output and with several."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from dualboost.learners import CartLearner, PricingContext, TrainingData
from dualboost.models.ensemble import Ensemble
from dualboost.trees.tree import constant_tree


class Forbidden:
    def vote(self, X):
        raise AssertionError("a learner of weight zero was evaluated")


class Contrary:
    def vote(self, X):
        return -np.ones(X.shape[0])


def constants(votes, weights):
    learners = [vote if hasattr(vote, "vote") else constant_tree(vote) for vote in votes]
    return Ensemble(learners, np.array(weights), -0.4, 1)


CASES = {
    "a learner without weight is skipped": ([1.0, Forbidden(), -1.0], [3.0, 0.0, 1.0], 0.5),
    "the empty ensemble has the balance": ([Forbidden()], [0.0], -0.4),
    "a tie is exactly zero": ([1.0, 1.0, 1.0, -1.0], [0.1, 0.2, 0.3, 0.6], 0.0),
    "learners that are not trees": ([1.0, Contrary()], [1.0, 3.0], -0.5),
}


@pytest.mark.parametrize(("votes", "weights", "expected"), CASES.values(), ids=CASES)
def test_scores(votes, weights, expected):
    np.testing.assert_array_equal(constants(votes, weights).decide(np.zeros((3, 1))), np.full(3, expected))


def test_importances_are_zero_without_a_split():
    np.testing.assert_array_equal(constants([1.0], [1.0]).feature_importances(), np.zeros(1))


def grown_ensemble(seed, categorical, n_outputs=1, **options):
    """Trees from the pricer, on data with missing values and categories."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 5)).round(1)
    X[:, 2] = rng.integers(0, 70, 300)
    X[rng.random(X.shape) < 0.1] = np.nan
    labels = rng.choice([-1.0, 1.0], 300)
    pricer = CartLearner(max_depth=4).pricer(TrainingData(X, [2] if categorical else []), PricingContext())
    trees = [pricer.price(rng.exponential(size=300) * labels, None).learner for _ in range(12)]
    weights = rng.exponential(size=12) * (rng.random(12) < 0.7)
    if n_outputs > 1:
        trees = [tree.with_votes(rng.uniform(-1, 1, (tree.n_leaves, n_outputs))) for tree in trees]
    return Ensemble(trees, weights, np.zeros(n_outputs), 5, **options), X


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_compiled_scores_are_those_of_the_trees(seed, categorical, n_outputs):
    ensemble, X = grown_ensemble(seed, categorical, n_outputs)
    one_by_one = next(ensemble.staged(X, [ensemble.weights], [ensemble.intercept]))
    assert one_by_one.shape == (300, n_outputs)
    for rows in (X, sparse.csc_matrix(X)):
        np.testing.assert_allclose(ensemble.scores(rows), one_by_one, atol=1e-14)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(ensemble)).scores(X), one_by_one, atol=1e-14)


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("intercept", [np.array([0.3]), np.array([0.3, -0.1, 0.0])], ids=len)
def test_intercepts_of_the_compiled_model_and_of_the_stages(intercept, normalised):
    ensemble, X = grown_ensemble(0, False, len(intercept), intercept=intercept, is_normalised=normalised)
    one_by_one = next(ensemble.staged(X, [ensemble.weights], [intercept]))
    np.testing.assert_allclose(ensemble.scores(X), one_by_one, atol=1e-14)
    total = ensemble.weights.sum() if normalised else 1.0
    expected = (np.einsum("ijk,j->ik", ensemble.votes(X), ensemble.weights) + intercept) / total
    np.testing.assert_allclose(one_by_one, np.clip(expected, -1, 1) if normalised else expected, atol=1e-12)
