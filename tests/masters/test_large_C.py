"""The gap bounds the distance to the optimum however large C is, whether or not the tolerance is reached."""

import pytest

from dualboost.formulations import FORMULATIONS
from dualboost.masters import MasterFailed, Precision, SolverOptions, make_reoptimiser

from ..conftest import dense, stump_columns
from ..paper_programmes import paper_optimum

COLUMNS = stump_columns(30, 60, multiplicities=False)
"""Enough columns to separate nearly all rows: the optimal objective is small beside C."""
REFERENCE = 3e-6
"""How far the reference itself may be from the optimum, relative to it."""


@pytest.mark.parametrize("C", [1e2, 1e5, 1e6])
@pytest.mark.parametrize("name", ["md", "md-full", "lexi", "lp", "cg"])
def test_the_gap_is_true(name, C):
    formulation = FORMULATIONS[name](C=C)
    programme = formulation.programme(COLUMNS.rows, COLUMNS.n_columns)
    try:
        found = make_reoptimiser(SolverOptions(), programme, name, Precision(1e-6)).polish(COLUMNS, programme)
    except MasterFailed as failure:
        found = failure.best
    expected = paper_optimum(name, dense(COLUMNS), C, COLUMNS.labels)
    scale = max(abs(expected), abs(found.primal), abs(found.dual))
    assert abs(formulation.objective_sign * found.primal - expected) <= (found.gap + REFERENCE) * scale
