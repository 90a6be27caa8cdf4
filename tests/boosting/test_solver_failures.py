"""Solvers that raise, or return no numbers, end no fit with an error: real solvers, wrapped so that they do so."""

import numpy as np
import pytest

from dualboost import DualBoostClassifier, SolverOptions
from dualboost.datasets import make_twonorm
from dualboost.errors import SolverWarning
from dualboost.solvers import SOLVERS, Candidate, crossover
from dualboost.solvers import references as highs

from ..paper_programmes import PAPER

X, Y = make_twonorm(150, random_state=0)
EVERY = SolverOptions(reoptimize="every")


def fit(name, solver=EVERY):
    options = {"optimize": "weights", "max_depth": 1, "max_trees": 8, "calibration": "training"}
    return DualBoostClassifier(name, solver=solver, **options).fit(X, Y)


def raises(found):
    raise RuntimeError("the solver broke")


def without_numbers(found):
    return Candidate(*(np.nan * part for part in found))


def wrap_all(monkeypatch, spoil, n_good):
    """Every master solves ``n_good`` programmes, and spoils what it finds from then on."""
    n_solved = []
    for solver in SOLVERS.values():
        usual = solver.solve

        def solve(self, *arguments, usual=usual):
            found = usual(self, *arguments)
            n_solved.append(1)
            return found if len(n_solved) <= n_good else spoil(found)

        monkeypatch.setattr(solver, "solve", solve)


@pytest.mark.parametrize("n_good", [0, 3])
@pytest.mark.parametrize("spoil", [raises, without_numbers])
@pytest.mark.parametrize("name", ["lp", "cg", "nm", "erlp", "lexi"])
def test_the_best_ensemble_so_far_is_returned(name, spoil, n_good, monkeypatch):
    wrap_all(monkeypatch, spoil, n_good)
    with pytest.warns(SolverWarning, match="No solver reached"):
        clf = fit(name)
    assert clf.stop_reason_ == "solver_failed"
    for numbers in (clf.weights_, clf.duals_, clf.objective_, clf.gap_):
        assert np.isfinite(numbers).all()
    assert set(clf.predict(X)) <= set(Y)


def broken(solver, limits=None):
    raise RuntimeError("HiGHS broke")


@pytest.mark.parametrize("solver", [EVERY, SolverOptions()])
def test_without_a_vertex_the_interior_optimum_remains(solver, monkeypatch):
    monkeypatch.setattr(crossover, "run", broken)
    clf = fit("lp", solver)
    assert clf.gap_ <= 1e-6
    expected = PAPER["lp"](Y[:, None] * clf.votes(X), clf.formulation_.C)
    assert clf.objective_ == pytest.approx(expected, rel=1e-6)


def test_another_solver_takes_over(monkeypatch):
    monkeypatch.setattr(highs, "run", broken)
    assert fit("lp", SolverOptions(method="highs")).gap_ <= 1e-6
