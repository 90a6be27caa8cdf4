"""Rows that no column tells apart, as one row: the same optimum, certified over all rows."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from dualboost import DualBoostClassifier, SolverOptions
from dualboost.datasets import make_ringnorm
from dualboost.errors import InterruptedFitWarning, UnsupportedFormulationError
from dualboost.formulations import FORMULATIONS, LPBoost
from dualboost.formulations.terms import LinearTerm
from dualboost.solvers import DistinctRows, FallbackSolver, Precision, WarmStartedSolver, make_reoptimiser
from dualboost.solvers import reduced_rows as module
from dualboost.solvers.interior_point import InteriorPointSolver

from ..conftest import columns_of, small_dataset, stump_columns
from ..thoroughness import MECHANISMS, every

PRECISION = Precision(1e-6)
MERGING = [name for name in FORMULATIONS if not FORMULATIONS[name].has_sides and name != "lexi"]


def few_kinds(n_rows=600, n_columns=6, seed=0):
    """Columns of stumps on three binary features, so that most rows are of the same few kinds."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n_rows) < 0.45, 1.0, -1.0)
    X = np.where(rng.random((n_rows, n_columns)) < 0.5 + 0.15 * labels[:, None], 1.0, -1.0)
    return columns_of(labels, rng.integers(1, 4, n_rows).astype(float), X.T)


def solved(solver, columns, name, C=None):
    formulation = FORMULATIONS[name](C=C).resolve(columns.rows.n_samples)
    return solver.polish(columns, formulation.programme(columns.rows, columns.n_columns))


@pytest.mark.parametrize("warm_starts", [True, False])
@pytest.mark.parametrize("name", every(MERGING, [name for name in MECHANISMS if name in MERGING]))
def test_the_optimum_is_that_of_all_rows(name, warm_starts):
    columns = few_kinds()
    fallback_solver = FallbackSolver([InteriorPointSolver], 1e-6)
    merged = DistinctRows(
        WarmStartedSolver(FallbackSolver([InteriorPointSolver], 1e-6)) if warm_starts else fallback_solver
    )
    solution, expected = (
        solved(merged, columns, name),
        solved(FallbackSolver([InteriorPointSolver], 1e-6), columns, name),
    )
    assert solution.primal == pytest.approx(expected.primal, rel=2e-6, abs=1e-9)
    assert solution.gap <= 1e-6
    assert len(solution.u) == len(solution.margins) == columns.n_rows
    np.testing.assert_allclose(solution.margins, columns.margins(solution.w), atol=1e-9)
    np.testing.assert_allclose(solution.edges, columns.edges(solution.u), atol=1e-6 * np.abs(solution.u).sum())


@pytest.mark.parametrize("name", every(MERGING, [name for name in MECHANISMS if name in MERGING]))
def test_steps_while_columns_divide_the_rows(name):
    """After each column a step over the rows that differ so far; what it says of itself holds over all rows."""
    whole = few_kinds()
    columns = whole.subset(np.arange(1))
    formulation = FORMULATIONS[name]().resolve(whole.rows.n_samples)
    solver = DistinctRows(WarmStartedSolver(FallbackSolver([InteriorPointSolver], 1e-6)))
    for new in range(1, whole.n_columns + 1):
        programme = formulation.programme(columns.rows, columns.n_columns)
        solution = solver.solve(columns, programme)
        np.testing.assert_allclose(solution.margins, columns.margins(solution.w), atol=1e-4 * solution.w.sum())
        dual = programme.dual_value(solution.u, solution.edges)
        assert dual == pytest.approx(solution.dual, rel=1e-6, abs=1e-6 * np.abs(solution.u).sum())
        if new < whole.n_columns:
            columns.take(whole, np.array([new]))
    expected = solved(FallbackSolver([InteriorPointSolver], 1e-6), whole, name)
    assert solver.polish(columns, programme).primal == pytest.approx(expected.primal, rel=2e-6, abs=1e-9)


def test_few_rows_take_part():
    columns, seen = few_kinds(), []

    class Seen(WarmStartedSolver):
        def solve(self, columns, programme):
            seen.append(columns.n_rows)
            return super().solve(columns, programme)

    solver = DistinctRows(Seen(FallbackSolver([InteriorPointSolver], 1e-6)))
    solver.solve(columns, FORMULATIONS["nm"](C=0.1).programme(columns.rows, columns.n_columns))
    assert max(seen) <= 2**columns.n_columns < columns.n_rows


def test_rows_that_differ_are_kept_apart(monkeypatch):
    """Beyond the share of distinct rows the inner master goes on over all rows, from where it is."""
    whole = few_kinds(n_rows=80, n_columns=9)
    columns = whole.subset(np.arange(1))
    monkeypatch.setattr(module, "MOST_DISTINCT", 0.3)
    formulation = FORMULATIONS["lp"](C=0.3)
    solver = DistinctRows(WarmStartedSolver(FallbackSolver([InteriorPointSolver], 1e-6)))
    for new in range(1, whole.n_columns):
        solver.solve(columns, formulation.programme(columns.rows, columns.n_columns))
        columns.take(whole, np.array([new]))
    found = solver.polish(columns, formulation.programme(columns.rows, columns.n_columns))
    assert found.primal == pytest.approx(
        solved(FallbackSolver([InteriorPointSolver], 1e-6), whole, "lp", 0.3).primal, rel=2e-6
    )


@pytest.mark.parametrize(("name", "merges"), [("lp", True), ("cq", False), ("lexi", False), ("spatial", False)])
def test_only_what_can_be_merged_is(name, merges, monkeypatch):
    monkeypatch.setattr("dualboost.solvers.LEAST_ROWS", 10)
    columns = stump_columns(formulation=name)
    programme = FORMULATIONS[name]().resolve(columns.rows.n_samples).programme_over(columns, 20)
    made = make_reoptimiser(SolverOptions(), programme, name, PRECISION)
    assert isinstance(made, DistinctRows) == merges


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("name", ["nm", "qrlp", "lp", "cg", "erlp", "md"])
def test_fits_are_certified_over_all_rows(name, depth, monkeypatch):
    monkeypatch.setattr("dualboost.solvers.LEAST_ROWS", 10)
    X, y = small_dataset("integers", 400)
    options = {"max_depth": depth, "max_trees": 15, "calibration": "training"}
    merged = DualBoostClassifier(name, **options).fit(X, y)
    monkeypatch.setattr("dualboost.solvers.LEAST_ROWS", 10**9)
    plain = DualBoostClassifier(name, solver=SolverOptions(reoptimize="every"), **options).fit(X, y)
    assert merged.gap_ <= 1e-6
    is_same = merged.objective_ == pytest.approx(plain.objective_, rel=1e-5)  # ties may be decided otherwise
    assert is_same or merged.score(X, y) == pytest.approx(plain.score(X, y), abs=0.03)


@pytest.mark.parametrize("place", ["divide_rows", "_enter", "_advance"])
def test_an_interrupt_between_two_states_leaves_a_certified_ensemble(place, monkeypatch):
    """What the master held halfway is forgotten; the ensemble so far is solved from the start."""
    monkeypatch.setattr("dualboost.solvers.LEAST_ROWS", 10)
    usual, calls = getattr(WarmStartedSolver, place), []

    def interrupted(self, *arguments):
        calls.append(place)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return usual(self, *arguments)

    monkeypatch.setattr(WarmStartedSolver, place, interrupted)
    X, y = small_dataset("integers", 400)
    with pytest.warns(InterruptedFitWarning, match="interrupted"):
        clf = DualBoostClassifier("qrlp", max_depth=2, max_trees=30).fit(X, y)
    assert clf.stop_reason_ == "interrupted"
    assert clf.gap_ <= 1e-6


@dataclass
class CostlyClass(LPBoost):
    """A formulation that treats the classes apart: slack in the second class costs five times as much."""

    name: ClassVar[str] = "costly"

    def programme(self, rows, n_columns):
        programme = super().programme(rows, n_columns)
        return replace(programme, upper=programme.upper * np.where(rows.groups > 0, 5.0, 1.0))


@dataclass
class WideClass(LPBoost):
    """A formulation whose loss bends at another margin in the second class."""

    name: ClassVar[str] = "wide"

    def programme(self, rows, n_columns):
        programme = super().programme(rows, n_columns)
        return replace(programme, term=LinearTerm(np.where(rows.groups > 0, 2.0, 1.0), programme.lower))


@pytest.mark.parametrize("kind", [CostlyClass, WideClass])
def test_rows_that_the_formulation_tells_apart_are_not_merged(kind, monkeypatch):
    """The same fits as without merging, and active rows are refused where there is no single kink."""
    X, y = make_ringnorm(600, random_state=0)
    fits = []
    for least in (10, 10**9):
        monkeypatch.setattr("dualboost.solvers.LEAST_ROWS", least)
        fits.append(DualBoostClassifier(kind(C=0.1), max_trees=12).fit(X, y))
    assert fits[0].gap_ <= 1e-6
    np.testing.assert_array_equal(fits[0].weights_, fits[1].weights_)
    if kind is WideClass:
        with pytest.raises(UnsupportedFormulationError, match="active_rows"):
            DualBoostClassifier(kind(C=0.1), solver=SolverOptions(active_rows=50)).fit(X, y)
