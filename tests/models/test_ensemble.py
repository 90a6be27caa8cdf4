"""Weighted votes, compiled and one by one."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from dualboost.learners import CartLearner, PricingContext, TrainingData
from dualboost.models.ensemble import Ensemble
from dualboost.trees.tree import constant_tree


class Forbidden:
    def vote(self, X):
        raise AssertionError("a learner of weight zero was asked")


def test_learners_without_weight_are_skipped():
    ensemble = Ensemble([constant_tree(1.0), Forbidden(), constant_tree(-1.0)], np.array([3.0, 0.0, 1.0]), 0.0, 1)
    np.testing.assert_allclose(ensemble.decide(np.zeros((4, 1))), 0.5)


def test_an_empty_ensemble_answers_the_balance():
    ensemble = Ensemble([Forbidden()], np.zeros(1), -0.4, 1)
    np.testing.assert_array_equal(ensemble.decide(np.zeros((3, 1))), -0.4)


def test_a_tie_is_exactly_zero():
    trees = [constant_tree(v) for v in (1.0, 1.0, 1.0, -1.0)]
    ensemble = Ensemble(trees, np.array([0.1, 0.2, 0.3, 0.6]), 0.0, 1)
    assert (ensemble.decide(np.zeros((2, 1))) == 0).all()


def test_importances_are_shares():
    ensemble = Ensemble([constant_tree(1.0)], np.ones(1), 0.0, 3)
    np.testing.assert_array_equal(ensemble.feature_importances(), np.zeros(3))


def grown_ensemble(seed, categorical):
    """Trees from the pricer, on data with missing values and categories."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 5)).round(1)
    X[:, 2] = rng.integers(0, 70, 300)
    X[rng.random(X.shape) < 0.1] = np.nan
    labels = rng.choice([-1.0, 1.0], 300)
    pricer = CartLearner(max_depth=4).pricer(TrainingData(X, [2] if categorical else []), PricingContext())
    learners = [pricer.price(rng.exponential(size=300) * labels, None).learner for _ in range(12)]
    return Ensemble(learners, rng.exponential(size=12) * (rng.random(12) < 0.7), 0.0, 5), X


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_compiled_decisions_are_those_of_the_trees(seed, categorical):
    ensemble, X = grown_ensemble(seed, categorical)
    one_by_one = next(ensemble.staged(X, [ensemble.weights], [ensemble.intercept]))
    np.testing.assert_allclose(ensemble.decide(X), one_by_one, atol=1e-14)
    np.testing.assert_allclose(ensemble.decide(sparse.csc_matrix(X)), one_by_one, atol=1e-14)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(ensemble)).decide(X), one_by_one, atol=1e-14)


def test_the_compiled_intercept_is_that_of_the_stages():
    ensemble, X = grown_ensemble(0, False)
    for normalised in (True, False):
        with_intercept = replace(ensemble, intercept=0.3, is_normalised=normalised)
        one_by_one = next(with_intercept.staged(X, [ensemble.weights], [0.3]))
        np.testing.assert_allclose(with_intercept.decide(X), one_by_one, atol=1e-14)
        total = ensemble.weights.sum() if normalised else 1.0
        expected = (ensemble.votes(X) @ ensemble.weights + 0.3) / total
        np.testing.assert_allclose(one_by_one, np.clip(expected, -1, 1) if normalised else expected, atol=1e-12)


def test_other_learners_are_asked_one_by_one():
    class Contrary:
        def vote(self, X):
            return -np.ones(X.shape[0])

    ensemble = Ensemble([constant_tree(1.0), Contrary()], np.array([1.0, 3.0]), 0.0, 1)
    np.testing.assert_allclose(ensemble.decide(np.zeros((2, 1))), -0.5)
