"""Both stages against an independent solver, with every master, and as columns come."""

import numpy as np
import pytest

from dualboost.formulations import LexiBoost
from dualboost.solvers import SOLVERS, FallbackSolver, InteriorPointSolver, SolverFailed, Staged, in_stages

from ..conftest import columns_of, dense, expanded, stump_columns
from ..paper_programmes import lexi

TOLERANCE = 1e-6


def programme_of(columns, C=5.0):
    return LexiBoost(C=C).programme(columns.rows, columns.n_columns)


def reference(columns, C=5.0, intercept=False):
    labels = np.repeat(columns.labels, columns.counts.astype(int))
    return lexi(expanded(columns), C, labels if intercept else None, labels)


def with_rare(n_rare, n_columns=15):
    """Only so many rows of the positive class are left."""
    whole = stump_columns(n_rows=200, n_columns=n_columns, multiplicities=False)
    kept = (whole.labels < 0) | (np.cumsum(whole.labels > 0) <= n_rare)
    votes = dense(whole) * whole.labels[:, None]
    return columns_of(whole.labels[kept], whole.counts[kept], votes[kept].T)


def solved(columns, programme, solver=InteriorPointSolver):
    """Both stages to the end, by that master alone."""
    return Staged(FallbackSolver([solver], TOLERANCE), warm_starts=False).solve(columns, programme)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.7, 1.5, 5.0, 50.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_optimum_of_both_stages(solver, C, intercept):
    columns = stump_columns()
    programme = programme_of(columns, C)
    programme = programme.with_intercepts(columns.labels[None, :]) if intercept else programme
    solution = solved(columns, programme, SOLVERS[solver])
    assert solution.primal == pytest.approx(reference(columns, C, intercept), rel=1e-6, abs=1e-8)
    assert solution.gap <= TOLERANCE


@pytest.mark.parametrize("n_rare", [1, 2, 5])
def test_a_class_of_few_rows(n_rare):
    columns = with_rare(n_rare)
    solution = solved(columns, programme_of(columns))
    assert solution.primal == pytest.approx(reference(columns), rel=1e-6, abs=1e-9)
    assert solution.gap <= TOLERANCE


def test_constant_columns_have_no_loss_in_their_class():
    columns = stump_columns(multiplicities=False)
    for vote in (-1.0, 1.0):
        columns.append(vote * columns.labels)
    solution = solved(columns, programme_of(columns))
    np.testing.assert_allclose(solution.programme.least, 0.0, atol=1e-9)
    assert solution.primal == pytest.approx(reference(columns), rel=1e-6)
    assert 0 < solution.primal < 1


def test_where_one_ensemble_is_best_for_both_the_class_weights_are_equal():
    columns = stump_columns(n_columns=1)
    solution = solved(columns, programme_of(columns))
    assert solution.programme.class_weights == (0.5, 0.5)
    assert solution.primal == pytest.approx(0.0, abs=1e-9)
    assert solution.gap <= TOLERANCE


def test_few_class_weights_are_tried():
    columns = stump_columns(n_rows=500, n_columns=40)
    fallback_solver, tried = FallbackSolver([InteriorPointSolver], 1e-7), []

    def solve(programme):
        tried.append(programme)
        return fallback_solver.solve(columns, programme)

    in_stages(columns, programme_of(columns), solve, TOLERANCE)
    assert len(tried) <= 20


def test_out_of_class_weights_the_best_is_handed_over():
    columns = stump_columns()
    fallback_solver = FallbackSolver([InteriorPointSolver], 1e-7)
    with pytest.raises(SolverFailed, match="class weights") as failed:
        in_stages(columns, programme_of(columns), lambda one: fallback_solver.solve(columns, one), 1e-300, n_searched=1)
    assert np.isfinite(failed.value.best.gap)
    assert failed.value.best.primal >= reference(columns) - 1e-9


def test_steps_between_columns_then_a_polish():
    whole, columns = stump_columns(n_columns=25), stump_columns(n_columns=1)
    solver = Staged(FallbackSolver([InteriorPointSolver], TOLERANCE), warm_starts=True)
    for new in range(1, 25):
        stepped = solver.solve(columns, programme_of(columns))
        assert stepped.primal >= stepped.dual - 1e-9
        columns.take(whole, [new])
    solution = solver.polish(columns, programme_of(columns))
    assert solution.gap <= TOLERANCE
    assert solution.primal == pytest.approx(reference(whole), rel=2e-6, abs=1e-9)


def test_calls_without_a_new_column_end_at_the_optimum():
    columns = stump_columns(n_columns=10)
    solver = Staged(FallbackSolver([InteriorPointSolver], TOLERANCE), warm_starts=True)
    solutions = [solver.solve(columns, programme_of(columns)) for _ in range(30)]
    assert solutions[-1].gap <= TOLERANCE
    assert solutions[-1].primal == pytest.approx(reference(columns), rel=2e-6, abs=1e-9)


def test_another_C_is_solved_anew():
    columns = stump_columns(n_columns=10)
    solver = Staged(FallbackSolver([InteriorPointSolver], TOLERANCE), warm_starts=True)
    for C in (2.0, 8.0):
        solver.move_to(columns, programme_of(columns, C))
        solution = solver.polish(columns, programme_of(columns, C))
        assert solution.primal == pytest.approx(reference(columns, C), rel=2e-6, abs=1e-9)
