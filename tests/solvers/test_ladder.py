"""When a solver fails, the next way is tried; when all fail, the best feasible solution is handed on.

The failures are real: HiGHS is allowed no simplex iteration, the interior-point method no step.
"""

from typing import ClassVar

import pytest

from dualboost.formulations import FORMULATIONS
from dualboost.solvers import FallbackSolver, SolverFailed, interior_point
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


def test_a_solver_that_cannot_is_passed_over():
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
    """HiGHS that notes the ways in which it is asked to solve."""

    asked: ClassVar[list[str]] = []

    def solve(self, columns, programme, tolerance, strategy):
        self.asked.append(strategy)
        return super().solve(columns, programme, tolerance, strategy)


@pytest.mark.parametrize("name", ["lp", "nm"])
def test_another_C_is_solved_in_the_usual_way(name, monkeypatch):
    """What HiGHS holds of one C is not in the way of the next: no other way is needed."""
    monkeypatch.setattr(NotedHighs, "asked", [])
    columns, fallback_solver = stump_columns(), FallbackSolver([NotedHighs], 1e-6)
    for n_solved, C in enumerate((0.05, 0.4, 0.05), start=1):
        programme = FORMULATIONS[name](C=C).programme(columns.rows, columns.n_columns)
        fallback_solver.move_to(columns, programme)
        fresh = FallbackSolver([InteriorPointSolver], 1e-6).solve(columns, programme)
        assert fallback_solver.solve(columns, programme).primal == pytest.approx(fresh.primal, rel=2e-6)
        assert NotedHighs.asked == [HighsSolver.strategies[0]] * n_solved
