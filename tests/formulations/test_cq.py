"""CqBoost: the paper's programme where it can be solved, and what happens where it cannot."""

import cvxpy as cp
import numpy as np
import pytest

from dualboost import DualBoostClassifier
from dualboost.errors import DegenerateEnsembleWarning
from dualboost.formulations import CqBoost
from dualboost.solvers import FallbackSolver
from dualboost.solvers.interior_point import InteriorPointSolver

from ..conftest import expanded, small_dataset, stump_columns


def solved(C):
    columns = stump_columns(formulation="cq")
    programme = CqBoost(C=C).programme_over(columns, columns.n_columns)
    return columns, FallbackSolver([InteriorPointSolver], 1e-6).solve(columns, programme)


@pytest.mark.parametrize("part", [0.01, 0.3, 0.8, 0.95])
def test_the_papers_programme_where_the_mean_margin_can_be_reached(part):
    """The requirement as it is printed, without a penalty."""
    A = expanded(stump_columns())
    C = part * float(A.mean(axis=0).max())
    w = cp.Variable(A.shape[1], nonneg=True)
    required = [cp.sum(w) == 1, cp.sum(A @ w) / len(A) >= C]
    least = cp.Problem(cp.Minimize(cp.sum_squares(A @ w) / len(A)), required).solve(solver=cp.CLARABEL)
    columns, solution = solved(C)
    assert solution.primal == pytest.approx(least, rel=1e-6, abs=1e-9)
    assert columns.counts @ columns.margins(solution.w)[:-1] / len(A) >= C * (1 - 1e-6)


def test_the_largest_mean_margin_where_more_is_asked_for():
    columns, solution = solved(1.0)
    best = expanded(columns).mean(axis=0).max()
    assert solution.margins[-1] == pytest.approx(best, abs=1e-3)
    assert solution.gap <= 1e-6


def test_no_dual_reaches_its_bound():
    columns, solution = solved(0.2)
    assert (np.abs(solution.u[:-1]) < 2.1 * columns.counts / columns.counts.sum()).all()


def test_duals_are_those_of_the_pricer():
    """At the optimum (b - 2 m_i) c_i/M, b being the dual of the mean margin: on a common line."""
    X, y = small_dataset("twonorm")
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    clf = DualBoostClassifier("cq", calibration="training", max_trees=30).fit(X, y, sample_weight=weights)
    of_mean = clf.duals_ / weights * weights.sum() + 2 * clf.margins(X, y)
    assert np.ptp(of_mean) < 1e-4
    assert of_mean.mean() > 0


def test_an_ensemble_that_falls_short_is_worth_a_warning():
    X, y = small_dataset("ringnorm")
    with pytest.warns(DegenerateEnsembleWarning, match=r"mean margin of C=0\.95"):
        clf = DualBoostClassifier("cq", C=0.95, calibration="training", max_trees=10).fit(X, y)
    assert clf.gap_ <= 1e-6
    assert clf.margins(X, y).mean() < 0.95


def test_the_bound_over_all_stumps_is_met():
    X, y = small_dataset("integers")
    clf = DualBoostClassifier("cq", learner="optimal", calibration="training", max_trees=300).fit(X, y)
    assert clf.stop_reason_ == "certified"
    assert clf.bound_ == pytest.approx(clf.objective_, rel=2e-6, abs=1e-9)
