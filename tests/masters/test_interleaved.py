"""One step a call, and the same optimum in the end."""

from dataclasses import replace

import numpy as np
import pytest

from dualboost.formulations import FORMULATIONS
from dualboost.masters import MASTERS, Interleaved, Ladder, make_reoptimiser
from dualboost.masters.interior_point import InteriorPointMaster

from ..conftest import stump_columns


def grown(name, n_columns=25, n_rows=200):
    """A master that has taken one step after each of several columns."""
    whole = stump_columns(n_rows=n_rows, n_columns=n_columns, formulation=name)
    columns = stump_columns(n_rows=n_rows, n_columns=1, formulation=name)
    formulation = FORMULATIONS[name]().resolve(whole.counts.sum())
    master = Interleaved(Ladder([InteriorPointMaster], 1e-6))
    master.solve(columns, formulation.programme_over(columns, 1))
    for new in range(1, n_columns):
        columns.take(whole, [new])
        master.solve(columns, formulation.programme_over(columns, columns.n_columns))
    return master, columns, formulation.programme_over(columns, n_columns)


def test_steps_between_columns_then_a_polish(formulation_name):
    master, columns, programme = grown(formulation_name)
    expected = Ladder([InteriorPointMaster], 1e-6).solve(columns, programme)
    polished = master.polish(columns, programme)
    assert polished.gap <= 1e-6
    assert polished.primal == pytest.approx(expected.primal, rel=2e-6, abs=1e-9)


def test_calls_without_a_new_column_end_at_the_optimum(formulation_name):
    master, columns, programme = grown(formulation_name)
    gaps = [master.solve(columns, programme).gap for _ in range(30)]
    assert min(gaps) <= 1e-6


def test_every_step_is_certified(formulation_name):
    """However loose, the sample weights are feasible and the two values bracket the optimum."""
    master, columns, programme = grown(formulation_name, n_columns=8)
    optimum = Ladder([InteriorPointMaster], 1e-6).solve(columns, programme).primal
    for _ in range(4):
        solution = master.solve(columns, programme)
        slack = 1e-6 * max(1.0, abs(optimum))
        assert solution.dual - slack <= optimum <= solution.primal + slack
        assert (solution.u >= programme.lower - 1e-12).all()
        assert (solution.w >= 0).all()


def test_fewer_columns_than_before_are_solved_anew(formulation_name):
    master, columns, _ = grown(formulation_name)
    columns.keep_first(5)
    programme = FORMULATIONS[formulation_name]().resolve(columns.counts.sum()).programme_over(columns, 5)
    solution = master.polish(columns, programme)
    assert solution.gap <= 1e-6
    assert len(solution.w) == 5


def test_the_iterate_is_carried_to_another_C(formulation_name):
    """The neighbour's optimum is that of a solve from the start."""
    columns = stump_columns(n_rows=300, n_columns=15, formulation=formulation_name)
    formulation = FORMULATIONS[formulation_name]()
    grid = formulation.C_grid(float(columns.counts.sum()), 4)
    master = Interleaved(Ladder([InteriorPointMaster], 1e-6))
    for C in grid:
        programme = replace(formulation, C=float(C)).resolve(columns.counts.sum()).programme_over(columns, 15)
        master.move_to(columns, programme)
        solution = master.polish(columns, programme)
        expected = Ladder([InteriorPointMaster], 1e-6).solve(columns, programme)
        assert solution.gap <= 1e-6
        assert solution.primal == pytest.approx(expected.primal, rel=2e-6, abs=1e-9)


@pytest.mark.parametrize("master", ["auto", *MASTERS])
def test_only_our_own_master_is_interleaved(master):
    columns = stump_columns(n_rows=10, n_columns=1)
    programme = FORMULATIONS["lp"](C=1.0).programme(columns.counts, 1)
    made = make_reoptimiser(master, "as_needed", programme, "lp", 1e-6)
    assert isinstance(made, Interleaved) == (master in ("auto", "ipm"))
    assert isinstance(make_reoptimiser(master, "every", programme, "lp", 1e-6), Ladder)
    assert np.isfinite(made.solve(columns, programme).primal)
