"""One step a call, and the same optimum in the end."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from dualboost import DualBoostClassifier
from dualboost.formulations import FORMULATIONS, ConvexBoost
from dualboost.solvers import (
    SOLVERS,
    FallbackSolver,
    Precision,
    SolverOptions,
    Staged,
    WarmStartedSolver,
    make_reoptimiser,
)
from dualboost.solvers import interior_point as interleaved
from dualboost.solvers.interior_point import InteriorPointSolver

from ..conftest import stump_columns


def made(programme):
    """Our own master, interleaved: in stages, where the programme has them."""
    return make_reoptimiser(SolverOptions(method="ipm"), programme, "any", Precision(1e-6))


def optimum(columns, programme):
    """By our own master from the start."""
    fallback_solver = FallbackSolver([InteriorPointSolver], 1e-6)
    solver = fallback_solver if programme.stages is None else Staged(fallback_solver, warm_starts=False)
    return solver.solve(columns, programme).primal


def grown(name, n_columns=25, n_rows=200):
    """A master that has taken one step after each of several columns."""
    whole = stump_columns(n_rows=n_rows, n_columns=n_columns, formulation=name)
    columns = stump_columns(n_rows=n_rows, n_columns=1, formulation=name)
    formulation = FORMULATIONS[name]().resolve(whole.counts.sum())
    programme = formulation.programme_over(columns, 1)
    solver = made(programme)
    solver.solve(columns, programme)
    for new in range(1, n_columns):
        columns.take(whole, [new])
        solver.solve(columns, formulation.programme_over(columns, columns.n_columns))
    return solver, columns, formulation.programme_over(columns, n_columns)


def test_steps_between_columns_then_a_polish(formulation_name):
    solver, columns, programme = grown(formulation_name)
    expected = optimum(columns, programme)
    polished = solver.polish(columns, programme)
    assert polished.gap <= 1e-6
    assert polished.primal == pytest.approx(expected, rel=2e-6, abs=1e-9)


def test_calls_without_a_new_column_end_at_the_optimum(formulation_name):
    solver, columns, programme = grown(formulation_name)
    gaps = [solver.solve(columns, programme).gap for _ in range(30)]
    assert min(gaps) <= 1e-6


def test_every_step_is_certified(formulation_name):
    """However loose, the duals are feasible and the two values bracket the optimum."""
    solver, columns, programme = grown(formulation_name, n_columns=8)
    best = optimum(columns, programme)
    for _ in range(4):
        solution = solver.solve(columns, programme)
        slack = 1e-6 * max(1.0, abs(best))
        assert solution.dual - slack <= best <= solution.primal + slack
        assert (solution.u >= programme.lower - 1e-12).all()
        assert (solution.w >= 0).all()


def test_fewer_columns_than_before_are_solved_anew(formulation_name):
    solver, columns, _ = grown(formulation_name)
    columns.keep_first(5)
    programme = FORMULATIONS[formulation_name]().resolve(columns.counts.sum()).programme_over(columns, 5)
    solution = solver.polish(columns, programme)
    assert solution.gap <= 1e-6
    assert len(solution.w) == 5


def test_the_iterate_is_carried_to_another_C(formulation_name):
    """The neighbour's optimum is that of a solve from the start."""
    columns = stump_columns(n_rows=300, n_columns=15, formulation=formulation_name)
    formulation = FORMULATIONS[formulation_name]()
    grid = formulation.C_grid(float(columns.counts.sum()), 4)
    at = [replace(formulation, C=float(C)).resolve(columns.counts.sum()).programme_over(columns, 15) for C in grid]
    solver = made(at[0])
    for programme in at:
        solver.move_to(columns, programme)
        solution = solver.polish(columns, programme)
        assert solution.gap <= 1e-6
        assert solution.primal == pytest.approx(optimum(columns, programme), rel=2e-6, abs=1e-9)


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_only_our_own_master_is_interleaved(solver):
    columns = stump_columns(n_rows=10, n_columns=1)
    programme = FORMULATIONS["lp"](C=1.0).programme(columns.rows, 1)
    one = make_reoptimiser(SolverOptions(solver), programme, "lp", Precision(1e-6))
    assert isinstance(one, WarmStartedSolver) == (solver in ("auto", "ipm"))
    exact = make_reoptimiser(SolverOptions(solver, reoptimize="every"), programme, "lp", Precision(1e-6))
    assert isinstance(exact, FallbackSolver)
    assert np.isfinite(one.solve(columns, programme).primal)


class CountingLadder(FallbackSolver):
    """A ladder that counts how often it is asked."""

    n_solved = 0

    def solve(self, columns, programme):
        self.n_solved += 1
        return super().solve(columns, programme)


@pytest.mark.parametrize("name", ["lp", "cg", "erlp", "md"])
def test_the_ladders_optimum_is_found_once_for_the_same_columns(name, monkeypatch):
    """Where steps do not get there, here because none may be taken, the ladder does: once, until a column is new."""
    monkeypatch.setattr(interleaved, "POLISH_STEPS", 0)
    columns, whole = stump_columns(n_columns=10), stump_columns(n_columns=11)
    formulation = FORMULATIONS[name]().resolve(columns.counts.sum())
    fallback_solver = CountingLadder([InteriorPointSolver], 1e-6)
    solver, programme = WarmStartedSolver(fallback_solver), formulation.programme(columns.rows, 10)
    first = solver.polish(columns, programme)
    assert fallback_solver.n_solved == 1
    assert solver.polish(columns, programme) is first
    assert solver.solve(columns, programme) is first
    assert fallback_solver.n_solved == 1
    columns.take(whole, [10])
    second = solver.polish(columns, formulation.programme(columns.rows, 11))
    assert fallback_solver.n_solved == 2
    assert len(second.w) == 11
    assert second.primal == pytest.approx(optimum(whole, formulation.programme(whole.rows, 11)), rel=2e-6)
    columns.keep_first(10)
    assert solver.polish(columns, programme).primal == pytest.approx(first.primal, rel=2e-6)
    assert fallback_solver.n_solved == 3
    another = replace(formulation, C=0.7 * formulation.C).programme(columns.rows, 10)
    solver.move_to(columns, another)
    assert solver.polish(columns, another).primal == pytest.approx(optimum(columns, another), rel=2e-6)
    assert fallback_solver.n_solved == 4


def test_a_step_that_is_blocked_leaves_the_optimum_to_the_ladder_once(monkeypatch):
    """The same after steps: from where every step counts as blocked, the ladder is asked once for all calls."""
    monkeypatch.setattr(interleaved, "BLOCKED", 2.0)
    columns = stump_columns(n_rows=300, n_columns=25)
    programme = FORMULATIONS["lp"]().resolve(columns.counts.sum()).programme(columns.rows, 25)
    fallback_solver = CountingLadder([InteriorPointSolver], 1e-6)
    solver = WarmStartedSolver(fallback_solver)
    found = [solver.solve(columns, programme) for _ in range(40)]
    assert fallback_solver.n_solved == 1
    assert found[-1].gap <= 1e-6
    assert solver.polish(columns, programme) is found[-1]


def test_an_iterate_that_leaves_double_precision_is_given_up():
    """At this C, steps after the sixth stump went to weights of 1e71, and then to none that are numbers."""
    X, y = np.array([[3.0], [0.0], [0.0], [4.0]]), [0, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = DualBoostClassifier(ConvexBoost(loss="logistic", penalty="l2"), 1e-4, learner="optimal", max_depth=1)
        clf.fit(X, y)
    assert clf.gap_ <= 1e-6
    assert np.isfinite(clf.weights_).all()
