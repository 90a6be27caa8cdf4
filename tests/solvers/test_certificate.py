"""A certificate is computed from w and u alone, and is honest about bad ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost.formulations import FORMULATIONS
from dualboost.solvers import Candidate, FallbackSolver, Precision, SolverOptions, certify, make_reoptimiser, n_used
from dualboost.solvers.base import drop_negligible, relative_gap
from dualboost.solvers.interior_point import InteriorPointSolver

from ..conftest import ALL_FORMULATIONS, stump_columns

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
