"""The projection is the distribution that an independent solver finds for the paper's programme."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from dualboost.boosting.dual_strategies import project
from dualboost.formulations import FORMULATIONS
from dualboost.formulations.terms import EntropyTerm
from dualboost.formulations.weight_sets import Cone
from dualboost.solvers import SOLVERS, FallbackSolver

from ...conftest import dense, stump_columns

COLUMNS = stump_columns(n_rows=80, n_columns=6)


def reference(upper, target):
    shares = COLUMNS.counts / COLUMNS.counts.sum()
    u = cp.Variable(COLUMNS.n_rows)
    constraints = [dense(COLUMNS).T @ u <= target, cp.sum(u) == 1, u >= 0, u <= upper]
    problem = cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(u, shares))), constraints)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.solution.opt_val), u.value


@pytest.mark.parametrize("above", [1e-6, 1e-3, 0.05, 1.0])
@pytest.mark.parametrize(("name", "C"), [("lp-nu", 0.7), ("lp-nu", 0.2), ("hard", None)])
def test_projection_is_the_nearest_distribution(name, C, above):
    """From targets that only just can be reached, some of them negative, to one that asks for nothing."""
    shares = COLUMNS.counts / COLUMNS.counts.sum()
    programme = FORMULATIONS[name](C=C).resolve(COLUMNS.counts.sum()).programme(COLUMNS.rows, COLUMNS.n_columns)
    inside = FallbackSolver(list(SOLVERS.values()), 1e-9).solve(COLUMNS, programme)
    target = float(inside.edges.max()) + above
    asked = replace(programme, term=EntropyTerm(shares, 1.0), weight_set=Cone(cost=target))
    u = project(COLUMNS, asked, inside, 1e-8)
    assert COLUMNS.edges(u).max() <= target + 1e-14
    assert (u >= 0).all()
    assert (u <= programme.upper).all()
    assert u.sum() == pytest.approx(1.0, abs=1e-13)
    least, nearest = reference(programme.upper, target)
    assert asked.term.value(u).sum() == pytest.approx(least, abs=1e-6)
    np.testing.assert_allclose(u, nearest, atol=1e-3 * programme.upper.max() if above < 1e-3 else 1e-4)
