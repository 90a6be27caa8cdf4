"""The gap bounds the distance to the optimum however large C is, whether or not the tolerance is reached."""

import numpy as np
import pytest

from dualboost.formulations import FORMULATIONS
from dualboost.solvers import Precision, SolverFailed, SolverOptions, make_reoptimiser

from ..conftest import dense, stump_columns
from ..paper_programmes import paper_optimum

COLUMNS = stump_columns(30, 60, multiplicities=False)
"""Enough columns to separate nearly all rows: the optimal objective is small beside C."""
REFERENCE = 3e-6
"""How far the reference itself may be from the optimum, relative to it."""


def solved(programme, name, columns=COLUMNS, tolerance=1e-6):
    """The optimum, or the best that was found."""
    try:
        return make_reoptimiser(SolverOptions(), programme, name, Precision(tolerance)).polish(columns, programme)
    except SolverFailed as failure:
        return failure.best


@pytest.mark.parametrize("C", [1e2, 1e5, 1e6])
@pytest.mark.parametrize("name", ["md", "md-full", "lexi", "lp", "cg"])
def test_the_gap_is_true(name, C):
    formulation = FORMULATIONS[name](C=C)
    programme = formulation.programme(COLUMNS.rows, COLUMNS.n_columns)
    found = solved(programme, name)
    expected = paper_optimum(name, dense(COLUMNS), C, COLUMNS.labels)
    scale = max(abs(expected), abs(found.primal), abs(found.dual))
    assert abs(formulation.objective_sign * found.primal - expected) <= (found.gap + REFERENCE) * scale


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("C", [1e9, 1e11, 1e13])
def test_no_dual_value_is_better_by_rounding(C, seed):
    """A large C multiplies the last digits of the edges: with more digits the duals are worth no less."""
    columns = stump_columns(60, 5, seed=seed, multiplicities=False)
    found = solved(FORMULATIONS["md"](C=C).programme(columns.rows, columns.n_columns), "md", columns)
    u = found.u.astype(np.longdouble)
    edges = dense(columns).astype(np.longdouble).T @ u
    assert -C * edges.max() - ((u - 1.0) ** 2).sum() / 2.0 >= found.dual


@pytest.mark.parametrize("seed", range(5))
def test_nor_are_duals_feasible_by_rounding(seed):
    columns = stump_columns(60, 5, seed=seed, multiplicities=False)
    found = solved(FORMULATIONS["lp"](C=1e9).programme(columns.rows, columns.n_columns), "lp", columns)
    assert (dense(columns).astype(np.longdouble).T @ found.u.astype(np.longdouble)).max() <= 1.0


@pytest.mark.parametrize("name", ["md-full", "lp-nu", "hard"])
def test_the_objective_is_that_of_the_weights(name):
    """Loosely solved, the multiplier of the total is not the best one for the weights found."""
    programme = FORMULATIONS[name](C={"md-full": 50.0, "lp-nu": 0.3}.get(name)).resolve(60.0)
    programme = programme.programme(COLUMNS.rows, COLUMNS.n_columns)
    found = solved(programme, name, tolerance=1e-2)
    margins = dense(COLUMNS) @ found.w
    around = np.concatenate([margins, [margins.mean()], np.linspace(margins.min(), margins.max(), 50)])
    best = min(programme.primal_terms(found.w, margins, np.array([rho]))[0] for rho in around)
    assert found.primal <= best + 1e-9 * max(abs(best), 1e-3)
