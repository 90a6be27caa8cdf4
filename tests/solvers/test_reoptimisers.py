"""The interface of solvers that the loop calls, for each kind of them."""

import inspect
from dataclasses import replace

import pytest

from dualboost.formulations import FORMULATIONS
from dualboost.solvers import (
    ActiveRows,
    DistinctRows,
    FallbackSolver,
    Precision,
    Reoptimiser,
    SolverOptions,
    Staged,
    WarmStartedSolver,
    make_fallback_solver,
    make_reoptimiser,
)

from ..conftest import stump_columns

KINDS = {
    "fallback": (SolverOptions(reoptimize="every"), "lp", FallbackSolver),
    "fallback, quadratic programme": (SolverOptions(reoptimize="every"), "cg", FallbackSolver),
    "highs": (SolverOptions(method="highs", reoptimize="every"), "lp", FallbackSolver),
    "clarabel": (SolverOptions(method="clarabel"), "erlp", FallbackSolver),
    "interleaved": (SolverOptions(), "lp", WarmStartedSolver),
    "interleaved with a total": (SolverOptions(), "erlp", WarmStartedSolver),
    "staged": (SolverOptions(), "lexi", Staged),
    "staged to the end": (SolverOptions(reoptimize="every"), "lexi", Staged),
    "active rows": (SolverOptions(active_rows=40), "lp", ActiveRows),
    "active rows to the end": (SolverOptions(active_rows=40, reoptimize="every"), "cg", ActiveRows),
    "active rows by highs": (SolverOptions(active_rows=40, method="highs", reoptimize="every"), "lp", ActiveRows),
    "more active rows than there are": (SolverOptions(active_rows=10_000), "cg", ActiveRows),
    "distinct rows": (SolverOptions(), "lp", DistinctRows),
    "distinct rows with a total": (SolverOptions(), "erlp", DistinctRows),
    "distinct rows to the end": (SolverOptions(method="highs", reoptimize="every"), "nm", DistinctRows),
}
METHODS = ["solve", "polish", "move_to", "divide_rows", "forget"]


@pytest.fixture(params=KINDS)
def kind(request, monkeypatch):
    if KINDS[request.param][2] is DistinctRows:  # however few rows there are, and however few of them are alike
        monkeypatch.setattr("dualboost.solvers.LEAST_ROWS", 0)
        monkeypatch.setattr("dualboost.solvers.reduced_rows.MOST_DISTINCT", 1.0)
    return KINDS[request.param]


def programme_of(name, columns, factor=1.0):
    """At the default C, times a factor."""
    formulation = FORMULATIONS[name]().resolve(columns.counts.sum())
    return replace(formulation, C=factor * formulation.C).programme(columns.rows, columns.n_columns)


def optimum(name, programme, columns):
    """By a fallback solver from the start."""
    fallback_solver = make_fallback_solver("auto", programme, name, Precision(1e-6))
    solver = fallback_solver if programme.stages is None else Staged(fallback_solver, warm_starts=False)
    return solver.solve(columns, programme).primal


def test_it_has_the_interface_that_the_loop_calls(kind):
    options, name, expected = kind
    columns = stump_columns(n_rows=30, n_columns=3)
    solver = make_reoptimiser(options, programme_of(name, columns), name, Precision(1e-5))
    assert isinstance(solver, expected)
    assert isinstance(solver, Reoptimiser)
    for method in METHODS:
        names = list(inspect.signature(getattr(Reoptimiser, method)).parameters)[1:]
        assert list(inspect.signature(getattr(solver, method)).parameters) == names, method
    assert solver.tolerance == 1e-5
    can_interleave = options.method in ("auto", "ipm")
    assert solver.is_exact == (options.reoptimize == "every" or not can_interleave)


def test_another_C_is_that_of_a_solve_from_the_start(kind):
    """There and back: what was found for one C does not stay for another."""
    solver, name, _ = kind
    columns = stump_columns(n_rows=300, n_columns=15)
    solver = make_reoptimiser(solver, programme_of(name, columns), name, Precision(1e-6))
    solver.solve(columns, programme_of(name, columns))
    for factor in (1.0, 0.4, 2.5, 1.0):
        programme = programme_of(name, columns, factor)
        solver.move_to(columns, programme)
        solution = solver.polish(columns, programme)
        assert solution.gap <= 1e-6
        assert solution.primal == pytest.approx(optimum(name, programme, columns), rel=2e-6, abs=1e-9), factor


def test_forgotten_rows_and_columns_are_forgotten(kind):
    """The next programme is over other rows and fewer columns."""
    solver, name, _ = kind
    first, second = stump_columns(n_rows=300, n_columns=15), stump_columns(n_rows=250, n_columns=9, seed=1)
    solver = make_reoptimiser(solver, programme_of(name, first), name, Precision(1e-6))
    solver.polish(first, programme_of(name, first))
    solver.forget()
    programme = programme_of(name, second)
    solution = solver.polish(second, programme)
    assert solution.gap <= 1e-6
    assert solution.primal == pytest.approx(optimum(name, programme, second), rel=2e-6, abs=1e-9)


def test_calls_end_at_the_optimum_where_nothing_is_new(kind):
    solver, name, _ = kind
    columns = stump_columns(n_rows=300, n_columns=15)
    programme = programme_of(name, columns)
    solver = make_reoptimiser(solver, programme, name, Precision(1e-6))
    solutions = [solver.solve(columns, programme) for _ in range(1 if solver.is_exact else 40)]
    assert solutions[-1].gap <= 1e-6
    assert solutions[-1].primal == pytest.approx(optimum(name, programme, columns), rel=2e-6, abs=1e-9)
