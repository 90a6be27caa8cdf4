"""Weighted votes."""

import numpy as np

from dualboost.ensemble import Ensemble
from dualboost.trees import constant_tree


class Forbidden:
    def vote(self, X):
        raise AssertionError("a learner of weight zero was asked")


def test_learners_without_weight_are_skipped():
    ensemble = Ensemble([constant_tree(1.0), Forbidden(), constant_tree(-1.0)], np.array([3.0, 0.0, 1.0]), 0.0)
    np.testing.assert_allclose(ensemble.decide(np.zeros((4, 1))), 0.5)


def test_an_empty_ensemble_answers_the_balance():
    ensemble = Ensemble([Forbidden()], np.zeros(1), -0.4)
    np.testing.assert_array_equal(ensemble.decide(np.zeros((3, 1))), -0.4)


def test_a_tie_is_exactly_zero():
    trees = [constant_tree(v) for v in (1.0, 1.0, 1.0, -1.0)]
    ensemble = Ensemble(trees, np.array([0.1, 0.2, 0.3, 0.6]), 0.0)
    assert (ensemble.decide(np.zeros((2, 1))) == 0).all()


def test_importances_are_shares():
    ensemble = Ensemble([constant_tree(1.0)], np.ones(1), 0.0)
    np.testing.assert_array_equal(ensemble.feature_importances(3), np.zeros(3))
