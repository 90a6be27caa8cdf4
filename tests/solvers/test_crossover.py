"""From any near-optimal interior point to a vertex of the same value."""

import numpy as np
import pytest

from dualboost.formulations import FORMULATIONS
from dualboost.formulations.programme import Programme
from dualboost.formulations.terms import LinearTerm
from dualboost.formulations.weight_sets import Simplex
from dualboost.solvers import Candidate, FallbackSolver, certify, n_used
from dualboost.solvers.crossover import to_vertex
from dualboost.solvers.interior_point import InteriorPointSolver
from dualboost.solvers.references import HighsSolver

from ..conftest import stump_columns


@pytest.mark.parametrize("name", ["lp", "nm"])
@pytest.mark.parametrize("seed", range(5))
def test_vertex_has_the_same_value(name, seed):
    columns = stump_columns(n_rows=600, n_columns=30, seed=seed)
    programme = FORMULATIONS[name](C=0.05).programme(columns.rows, 30)
    interior = certify(columns, programme, InteriorPointSolver().solve(columns, programme, 1e-8, "direct"))
    vertex = to_vertex(columns, programme, interior, 1e-9)
    assert vertex.gap <= 1e-9
    assert vertex.primal == pytest.approx(interior.primal, rel=1e-6)
    assert n_used(vertex.w) <= n_used(interior.w)


def test_a_poor_starting_point_still_ends_at_the_optimum():
    """Rows that were settled on the wrong side join the small programme until it is right."""
    columns = stump_columns(n_rows=900, n_columns=10, seed=1)
    programme = FORMULATIONS["lp"](C=0.1).programme(columns.rows, 10)
    poor = certify(columns, programme, Candidate(np.full(10, 0.2), programme.upper / 2))
    expected = FallbackSolver([HighsSolver], 1e-6).solve(columns, programme)
    assert to_vertex(columns, programme, poor, 1e-9).primal == pytest.approx(expected.primal, rel=1e-8)


def test_a_programme_with_a_total_crosses_over_too():
    """A capped distribution without a regulariser: rho is a variable of the small programme."""
    columns = stump_columns(n_rows=300, n_columns=15, seed=2, multiplicities=False)
    lower = np.zeros(300)
    programme = Programme(columns.rows, lower, np.full(300, 0.02), LinearTerm(0.0, lower), Simplex(), total=1.0)
    ladders = [FallbackSolver([solver], 1e-6) for solver in (InteriorPointSolver, HighsSolver)]
    ours, reference = (fallback_solver.solve(columns, programme) for fallback_solver in ladders)
    assert ours.primal == pytest.approx(reference.primal, rel=1e-6)
    assert ours.gap <= 1e-6
