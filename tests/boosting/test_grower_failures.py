"""A grower that fails is told, and does not look like convergence."""

import lightgbm
import numpy as np
import pytest

from dualboost import CartLearner, DualBoostClassifier
from dualboost.errors import DualBoostError, GrowerWarning, GrowingError
from dualboost.learners.lightgbm import with_heavier_leaves

from ..thinning.models import numbers


def failing_below(weight):
    """What LightGBM does with too light leaves: it raises its own error."""

    def grow(smallest_leaf):
        if smallest_leaf < weight:
            lightgbm.Booster(model_str="no model")
        return smallest_leaf

    return grow


class Tiring:
    """Asks another part, and fails as LightGBM does after some calls."""

    def __init__(self, part, n_calls):
        self.part, self.n_left = part, n_calls

    def __getattr__(self, name):
        return getattr(self.part, name)

    def _tire(self):
        self.n_left -= 1
        with_heavier_leaves(failing_below(0.0 if self.n_left >= 0 else np.inf), [1e-6, 1e-3])

    def price(self, residual, feature_multiplier):
        self._tire()
        return self.part.price(residual, feature_multiplier)

    def grow(self, residual, curvature, ridge):
        self._tire()
        return self.part.grow(residual, curvature, ridge)


class TiringLearner(CartLearner):
    """CART that grows so many trees and no more."""

    n_trees = 5

    def pricer(self, data, context):
        return Tiring(super().pricer(data, context), self.n_trees)

    def grower(self, data, context):
        return Tiring(super().grower(data, context), self.n_trees)


class TiredLearner(TiringLearner):
    n_trees = 0


def test_heavier_leaves_are_tried_before_giving_up():
    assert with_heavier_leaves(failing_below(1e-3), [1e-6, 1e-3, 1e-1]) == 1e-3
    with pytest.raises(GrowingError, match="LightGBM failed to grow a tree: ") as caught:
        with_heavier_leaves(failing_below(1.0), [1e-6, 1e-3, 1e-1])
    assert isinstance(caught.value, DualBoostError)


@pytest.mark.parametrize("formulation", ["nm", "logistic"])
def test_the_ensemble_so_far_is_returned_with_a_warning(formulation):
    X, y = numbers()
    clf = DualBoostClassifier(formulation, learner=TiringLearner(), max_depth=2, max_trees=20)
    with pytest.warns(GrowerWarning, match=r"LightGBM failed .* ensemble of [45] iterations is returned") as warned:
        clf.fit(X, y)
    assert [warning.filename for warning in warned] == [__file__]
    assert clf.stop_reason_ == "grower_failed"
    assert 0 < clf.n_trees_ <= 5
    assert clf.gap_ <= clf.tol
    assert clf.score(X, y) == pytest.approx(clf.history_["train_score"][-1])


def test_trees_that_cannot_be_grown_again_stay():
    X, y = numbers()
    clf = DualBoostClassifier(learner=TiringLearner(), max_depth=2, max_trees=3)  # five are grown, and two removed
    with pytest.warns(GrowerWarning):
        clf.fit(X, y)
    assert (clf.n_trees_, clf.stop_reason_) == (3, "grower_failed")
    assert clf.gap_ <= clf.tol


@pytest.mark.parametrize("formulation", ["nm", "logistic"])
def test_without_a_tree_the_failure_is_an_error(formulation):
    X, y = numbers()
    with pytest.raises(GrowingError, match="LightGBM failed to grow a tree"):
        DualBoostClassifier(formulation, learner=TiredLearner()).fit(X, y)


@pytest.mark.parametrize("formulation", ["nm", "logistic"])
def test_an_error_of_lightgbm_is_not_taken_for_convergence(formulation, monkeypatch):
    X, y = numbers()
    update, n_left = lightgbm.Booster.update, iter(range(5))

    def failing_at_last(booster, *arguments, **options):
        if next(n_left, None) is None:
            lightgbm.Booster(model_str="no model")
        return update(booster, *arguments, **options)

    monkeypatch.setattr(lightgbm.Booster, "update", failing_at_last)
    with pytest.warns(GrowerWarning):
        clf = DualBoostClassifier(formulation, max_depth=2, max_trees=20).fit(X, y)
    assert clf.stop_reason_ == "grower_failed"
    assert 0 < clf.n_trees_ <= 5
