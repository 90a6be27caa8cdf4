"""Failures of solvers and of growers."""

import lightgbm
import numpy as np
import pytest

from dualboost import CartLearner, DualBoostClassifier, SolverOptions
from dualboost.datasets import make_twonorm
from dualboost.errors import DualBoostError, GrowerWarning, GrowingError, SolverWarning
from dualboost.learners.lightgbm import with_heavier_leaves
from dualboost.solvers import SOLVERS, Candidate, crossover
from dualboost.solvers import references as highs

from ..paper_programmes import PAPER
from ..thinning.models import numbers

X, Y = make_twonorm(150, random_state=0)
EVERY = SolverOptions(reoptimize="every")


def fit(name, solver=EVERY):
    options = {"optimize": "weights", "max_depth": 1, "max_trees": 8, "calibration": "training"}
    return DualBoostClassifier(name, solver=solver, **options).fit(X, Y)


def raises(found):
    raise RuntimeError("the solver broke")


def without_numbers(found):
    return Candidate(*(np.nan * part for part in found))


def wrap_all(monkeypatch, spoil, n_good):
    """Every solver solves ``n_good`` programmes, and spoils what it finds from then on."""
    n_solved = []
    for solver in SOLVERS.values():
        usual = solver.solve

        def solve(self, *arguments, usual=usual):
            found = usual(self, *arguments)
            n_solved.append(1)
            return found if len(n_solved) <= n_good else spoil(found)

        monkeypatch.setattr(solver, "solve", solve)


@pytest.mark.parametrize("n_good", [0, 3])
@pytest.mark.parametrize("spoil", [raises, without_numbers])
@pytest.mark.parametrize("name", ["lp", "cg", "nm", "erlp", "lexi"])
def test_the_best_ensemble_so_far_is_returned(name, spoil, n_good, monkeypatch):
    wrap_all(monkeypatch, spoil, n_good)
    with pytest.warns(SolverWarning, match="No solver reached"):
        clf = fit(name)
    assert clf.stop_reason_ == "solver_failed"
    for found in (clf.weights_, clf.duals_, clf.objective_, clf.gap_):
        assert np.isfinite(found).all()
    assert set(clf.predict(X)) <= set(Y)


def broken(solver, limits=None):
    raise RuntimeError("HiGHS broke")


@pytest.mark.parametrize("solver", [EVERY, SolverOptions()])
def test_without_a_vertex_the_interior_optimum_remains(solver, monkeypatch):
    monkeypatch.setattr(crossover, "run", broken)
    clf = fit("lp", solver)
    assert clf.gap_ <= 1e-6
    expected = PAPER["lp"](Y[:, None] * clf.votes(X), clf.formulation_.C)
    assert clf.objective_ == pytest.approx(expected, rel=1e-6)


def test_another_solver_takes_over(monkeypatch):
    monkeypatch.setattr(highs, "run", broken)
    assert fit("lp", SolverOptions(method="highs")).gap_ <= 1e-6


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
