"""Paths of C: shared columns, and values of C that no solver can solve."""

from functools import cache

import numpy as np
import pytest

from dualboost import DualBoostClassifierCV
from dualboost.boosting.context import make_fit_context
from dualboost.boosting.history import HeldOut
from dualboost.boosting.leaf_context import LeafFitContext
from dualboost.boosting.paths import EXTRA_SHARE, ON_PATH, follow_path
from dualboost.datasets import make_twonorm
from dualboost.formulations import FORMULATIONS
from dualboost.learners import PricingContext, TrainingData, make_pool
from dualboost.matrix.columns import Columns
from dualboost.matrix.rows import Rows
from dualboost.solvers import SolverFailed, SolverOptions
from dualboost.targets.classes import BinaryTarget


def path_of(name, Cs, max_trees=40):
    X, y = make_twonorm(400, random_state=0)
    y = y.astype(float)
    task, targets = BinaryTarget.read(y[:300])
    rows = Rows(np.ones(300), task.groups(targets))
    columns = Columns(rows, sides=FORMULATIONS[name]().side_rows(rows, X.shape[1]))
    pool = make_pool("cart", TrainingData(X[:300], []), PricingContext())
    held_out = HeldOut(X[300:], y[300:], np.ones(100))
    fit_context = make_fit_context(task, targets, FORMULATIONS[name](), columns, SolverOptions(), ON_PATH, pool)
    return follow_path(fit_context, Cs, held_out, [max_trees]), columns


@cache
def path_on_the_grid(name):
    Cs = FORMULATIONS[name]().C_grid(300, 6)
    return Cs, *path_of(name, Cs)


def test_one_point_for_each_value_in_order(formulation_shape):
    Cs, points, columns = path_on_the_grid(formulation_shape)
    assert [point.C for point in points] == list(Cs)
    assert all(0 <= point.score <= 1 and 0 <= point.n_trees <= columns.n_columns for point in points)
    assert max(point.score for point in points) > 0.8


def test_columns_are_shared(formulation_shape):
    _, _, columns = path_on_the_grid(formulation_shape)
    assert columns.n_columns <= 40 + 5 * max(40 // EXTRA_SHARE, 1)


def test_stronger_regularisation_of_nm_uses_fewer_trees():
    points, _ = path_of("nm", np.array([1e-3, 1e-2, 0.1, 0.4]))
    assert points[-1].n_trees < points[0].n_trees


def test_a_single_value_is_a_path():
    points, _ = path_of("cg", np.array([0.05]))
    assert points[0].score == pytest.approx(0.93, abs=0.06)


@pytest.mark.parametrize("failing", [7, 9, 10])
def test_a_failure_at_one_point_of_a_leaf_path_leaves_the_others(failing, monkeypatch):
    """The seventh and the ninth optimum are solved after trees were eliminated, the tenth for another C."""
    usual, calls = LeafFitContext.optimum, []

    def optimum(self, point):
        calls.append(1)
        if len(calls) == failing:
            raise SolverFailed(None, ["the solver broke"])
        return usual(self, point)

    monkeypatch.setattr(LeafFitContext, "optimum", optimum)
    X, y = make_twonorm(150, random_state=0)
    options = {"Cs": 2, "max_trees": 6, "cv": 2, "select": "sparsest", "max_depth": 2, "random_state": 0}
    clf = DualBoostClassifierCV(**options).fit(X, y)
    assert len(calls) > failing
    assert clf.gap_ <= 1e-6
