"""The smoothed margin and its duals are those that an independent solver finds."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from dualboost import DualBoostClassifier
from dualboost.boosting.dual_strategies import smoothed
from dualboost.datasets import make_twonorm
from dualboost.formulations import MLPBoost
from dualboost.formulations.terms import EntropyTerm

from ...conftest import stump_columns
from ...paper_programmes import PAPER

COLUMNS = stump_columns(n_rows=80, n_columns=6)
SHARES = COLUMNS.counts / COLUMNS.counts.sum()


@pytest.mark.parametrize("eta", [0.5, 20.0, 500.0])
@pytest.mark.parametrize("C", [0.05, 0.4, 1.0])
def test_smoothed_margin(C, eta):
    programme = replace(MLPBoost(C=C).programme(COLUMNS.rows, 6), term=EntropyTerm(SHARES, eta))
    w = np.arange(1.0, 7.0) / 21
    found = smoothed(COLUMNS, programme, w, eta)
    u = cp.Variable(COLUMNS.n_rows)
    objective = -(COLUMNS.margins(w) @ u) - cp.sum(cp.rel_entr(u, SHARES)) / eta
    problem = cp.Problem(cp.Maximize(objective), [cp.sum(u) == 1, u >= 0, u <= programme.upper])
    problem.solve(solver=cp.CLARABEL)
    reached = -(COLUMNS.margins(w) @ found.u) - programme.term.value(found.u).sum()
    assert found.value == pytest.approx(reached, abs=1e-9)
    np.testing.assert_allclose(found.u, u.value, atol=1e-4)


@pytest.mark.parametrize("n_rows", [100, 137, 150])
def test_duals_without_room(n_rows):
    """With C = 1 the bounds of the duals add up to one, or by rounding to a little less: the mean margin is wanted."""
    X, y = make_twonorm(n_rows, random_state=1)
    clf = DualBoostClassifier("mlp", C=1.0, calibration="training", max_trees=20, random_state=0).fit(X, y)
    assert clf.stop_reason_ == "converged"
    assert clf.objective_ == pytest.approx(PAPER["mlp"](y[:, None] * clf.votes(X), 1.0), rel=1e-6)
