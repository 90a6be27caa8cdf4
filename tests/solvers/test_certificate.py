"""A certificate is computed from w and u alone: gaps of wrong candidates are large, and gaps are true at any C."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost.formulations import FORMULATIONS
from dualboost.solvers import (
    Candidate,
    FallbackSolver,
    Precision,
    SolverFailed,
    SolverOptions,
    certify,
    make_reoptimiser,
    n_used,
)
from dualboost.solvers.base import drop_negligible, relative_gap
from dualboost.solvers.interior_point import InteriorPointSolver

from ..conftest import ALL_FORMULATIONS, dense, stump_columns
from ..paper_programmes import paper_optimum

COLUMNS = stump_columns(n_rows=80, n_columns=10)


def programme_of(name):
    return FORMULATIONS[name]().resolve(COLUMNS.counts.sum()).programme(COLUMNS.rows, COLUMNS.n_columns)


def solved(name):
    solver, programme = SolverOptions(method="ipm", reoptimize="every"), programme_of(name)
    return make_reoptimiser(solver, programme, name, Precision(1e-6)).solve(COLUMNS, programme)


OPTIMA = {name: solved(name).primal for name in ALL_FORMULATIONS}


@given(name=st.sampled_from(ALL_FORMULATIONS), seed=st.integers(0, 10_000))
def test_any_candidate_brackets_the_optimum(name, seed):
    rng = np.random.default_rng(seed)
    rho = rng.normal(size=len(programme_of(name).right_side))
    candidate = Candidate(rng.normal(size=COLUMNS.n_columns), rng.normal(size=COLUMNS.n_rows), rho)
    solution = certify(COLUMNS, programme_of(name), candidate)
    slack = 1e-6 * max(1.0, abs(OPTIMA[name]))
    assert solution.dual - slack <= OPTIMA[name] <= solution.primal + slack


def test_gap_of_a_wrong_weight_vector_is_large(formulation_name):
    good = solved(formulation_name)
    worst = np.eye(COLUMNS.n_columns)[np.argmin(good.edges)] * max(good.w.sum(), 1.0)
    assert certify(COLUMNS, good.programme, Candidate(worst, good.u, good.rho)).gap > 1e-3


def test_relative_gap_falls_back_on_the_terms_when_they_cancel():
    assert relative_gap(2.0, 1.0, size=2.0) == 0.5
    assert relative_gap(1e-9, -1e-9, size=1000.0) == pytest.approx(2e-9)
    assert relative_gap(1.0, -np.inf, size=1.0) == np.inf


def test_negligible_weights_become_zero():
    programme = programme_of("cg")
    solution = FallbackSolver([InteriorPointSolver], 1e-6).solve(COLUMNS, programme)
    w = np.where(solution.w == 0, 1e-9 * solution.w.max(), solution.w)
    dusty = certify(COLUMNS, programme, Candidate(w, solution.u))
    clean = drop_negligible(COLUMNS, programme, dusty, 1e-6)
    assert (clean.w > 0).sum() == n_used(dusty.w) == n_used(solution.w)


def test_n_used_counts_relative_to_the_largest():
    assert n_used(np.array([1.0, 1e-3, 1e-7, 0.0])) == 2
    assert n_used(np.zeros(3)) == 0


SEPARABLE = stump_columns(30, 60, multiplicities=False)
"""Enough columns to separate nearly all rows: the optimal objective is small beside C."""
REFERENCE = 3e-6
"""How far the reference itself may be from the optimum, relative to it."""


def polished(programme, name, columns=SEPARABLE, tolerance=1e-6):
    """The optimum, or the best that was found."""
    try:
        return make_reoptimiser(SolverOptions(), programme, name, Precision(tolerance)).polish(columns, programme)
    except SolverFailed as failure:
        return failure.best


@pytest.mark.parametrize("C", [1e2, 1e5, 1e6])
@pytest.mark.parametrize("name", ["md", "md-full", "lexi", "lp", "cg"])
def test_the_gap_is_true(name, C):
    formulation = FORMULATIONS[name](C=C)
    programme = formulation.programme(SEPARABLE.rows, SEPARABLE.n_columns)
    found = polished(programme, name)
    expected = paper_optimum(name, dense(SEPARABLE), C, SEPARABLE.labels)
    scale = max(abs(expected), abs(found.primal), abs(found.dual))
    assert abs(formulation.objective_sign * found.primal - expected) <= (found.gap + REFERENCE) * scale


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("C", [1e9, 1e11, 1e13])
def test_no_dual_value_is_better_by_rounding(C, seed):
    """A large C multiplies the last digits of the edges: with more digits the duals are worth no less."""
    columns = stump_columns(60, 5, seed=seed, multiplicities=False)
    found = polished(FORMULATIONS["md"](C=C).programme(columns.rows, columns.n_columns), "md", columns)
    u = found.u.astype(np.longdouble)
    edges = dense(columns).astype(np.longdouble).T @ u
    assert -C * edges.max() - ((u - 1.0) ** 2).sum() / 2.0 >= found.dual


@pytest.mark.parametrize("seed", range(5))
def test_nor_are_duals_feasible_by_rounding(seed):
    columns = stump_columns(60, 5, seed=seed, multiplicities=False)
    found = polished(FORMULATIONS["lp"](C=1e9).programme(columns.rows, columns.n_columns), "lp", columns)
    assert (dense(columns).astype(np.longdouble).T @ found.u.astype(np.longdouble)).max() <= 1.0


@pytest.mark.parametrize("name", ["md-full", "lp-nu", "hard"])
def test_the_objective_is_that_of_the_weights(name):
    """Loosely solved, the multiplier of the total is not the best one for the weights found."""
    programme = FORMULATIONS[name](C={"md-full": 50.0, "lp-nu": 0.3}.get(name)).resolve(60.0)
    programme = programme.programme(SEPARABLE.rows, SEPARABLE.n_columns)
    found = polished(programme, name, tolerance=1e-2)
    margins = dense(SEPARABLE) @ found.w
    around = np.concatenate([margins, [margins.mean()], np.linspace(margins.min(), margins.max(), 50)])
    best = min(programme.primal_terms(found.w, margins, np.array([rho]))[0] for rho in around)
    assert found.primal <= best + 1e-9 * max(abs(best), 1e-3)
