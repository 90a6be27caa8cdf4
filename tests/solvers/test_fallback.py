"""Failures of solvers, and the step from an interior optimum to a vertex.

The failures are real: HiGHS is allowed no simplex iteration, the interior-point method no step.
"""

from typing import ClassVar

import numpy as np
import pytest

from dualboost.formulations import FORMULATIONS
from dualboost.formulations.programme import Programme
from dualboost.formulations.terms import LinearTerm
from dualboost.formulations.weight_sets import Simplex
from dualboost.solvers import Candidate, FallbackSolver, SolverFailed, certify, interior_point, n_used
from dualboost.solvers.crossover import to_vertex
from dualboost.solvers.interior_point import InteriorPointSolver
from dualboost.solvers.references import HighsSolver

from ..conftest import stump_columns


class LimitedHighs(HighsSolver):
    """HiGHS that gives up at once, by its own iteration limits."""

    limits: ClassVar[tuple[int, int]] = (0, 0)

    def __init__(self):
        super().__init__()
        self.solver.setOptionValue("presolve", "off")


def problem(name="nm"):
    columns = stump_columns()
    formulation = FORMULATIONS[name]().resolve(columns.counts.sum())
    return columns, formulation.programme(columns.rows, columns.n_columns)


def test_the_next_solver_takes_over():
    columns, programme = problem()
    expected = FallbackSolver([HighsSolver], 1e-6).solve(columns, programme).primal
    solution = FallbackSolver([LimitedHighs, InteriorPointSolver], 1e-6).solve(columns, programme)
    assert solution.primal == pytest.approx(expected, rel=1e-6)


def test_every_attempt_is_named_when_all_fail():
    with pytest.raises(SolverFailed, match=r"highs \(warm simplex\).*highs \(cold simplex\)") as caught:
        FallbackSolver([LimitedHighs], 1e-6).solve(*problem())
    assert caught.value.best is None


def test_the_best_feasible_solution_is_handed_on(monkeypatch):
    monkeypatch.setattr(interior_point, "MAX_STEPS", 6)
    columns, programme = problem("erlp")
    with pytest.raises(SolverFailed, match="ipm") as caught:
        FallbackSolver([InteriorPointSolver], 1e-9).solve(columns, programme)
    best = caught.value.best
    assert best.gap > 1e-9
    assert best.w.sum() == pytest.approx(1.0)
    assert best.u.sum() == pytest.approx(1.0)


def test_a_solver_without_support_is_passed_over():
    columns, programme = problem("md")
    assert FallbackSolver([HighsSolver, InteriorPointSolver], 1e-6).solve(columns, programme).gap <= 1e-6
    with pytest.raises(SolverFailed):
        FallbackSolver([HighsSolver], 1e-6).solve(columns, programme)


def test_without_clarabel_the_message_names_the_extra(monkeypatch):
    import sys

    from dualboost.errors import MissingDependencyError
    from dualboost.solvers.references import ClarabelSolver

    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(MissingDependencyError, match="pip install 'clarabel"):
        ClarabelSolver()
    columns, programme = problem("cg")
    assert FallbackSolver([ClarabelSolver, InteriorPointSolver], 1e-6).solve(columns, programme).gap <= 1e-6


class NotedHighs(HighsSolver):
    """HiGHS that notes the strategies of its calls."""

    strategies_used: ClassVar[list[str]] = []

    def solve(self, columns, programme, tolerance, strategy):
        self.strategies_used.append(strategy)
        return super().solve(columns, programme, tolerance, strategy)


@pytest.mark.parametrize("name", ["lp", "nm"])
def test_another_C_is_solved_in_the_usual_way(name, monkeypatch):
    """What HiGHS holds of one C is not in the way of the next: no other way is needed."""
    monkeypatch.setattr(NotedHighs, "strategies_used", [])
    columns, fallback_solver = stump_columns(), FallbackSolver([NotedHighs], 1e-6)
    for n_solved, C in enumerate((0.05, 0.4, 0.05), start=1):
        programme = FORMULATIONS[name](C=C).programme(columns.rows, columns.n_columns)
        fallback_solver.move_to(columns, programme)
        fresh = FallbackSolver([InteriorPointSolver], 1e-6).solve(columns, programme)
        assert fallback_solver.solve(columns, programme).primal == pytest.approx(fresh.primal, rel=2e-6)
        assert NotedHighs.strategies_used == [HighsSolver.strategies[0]] * n_solved


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
    solvers = [FallbackSolver([solver], 1e-6) for solver in (InteriorPointSolver, HighsSolver)]
    ours, reference = (fallback_solver.solve(columns, programme) for fallback_solver in solvers)
    assert ours.primal == pytest.approx(reference.primal, rel=1e-6)
    assert ours.gap <= 1e-6
