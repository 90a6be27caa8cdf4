"""Dual strategies: the duals against an independent solver, and the guarantees of the papers."""

from dataclasses import replace
from functools import cache

import cvxpy as cp
import numpy as np
import pytest

from dualboost import DualBoostClassifier, OptimalLearner, SolverOptions
from dualboost.boosting.column_generation import ColumnGeneration
from dualboost.boosting.context import make_fit_context
from dualboost.boosting.dual_strategies import project, smoothed
from dualboost.datasets import make_twonorm
from dualboost.formulations import FORMULATIONS, ERLPBoost, MLPBoost, SoftBoost, TotalBoost
from dualboost.formulations.terms import EntropyTerm
from dualboost.formulations.weight_sets import Cone
from dualboost.learners import Pool, PricingContext, TrainingData
from dualboost.matrix.columns import Columns
from dualboost.matrix.rows import Rows
from dualboost.solvers import SOLVERS, FallbackSolver, Precision
from dualboost.targets.classes import BinaryTarget

from ..conftest import dense, small_dataset, stump_columns
from ..paper_programmes import PAPER
from ..thoroughness import every, how_many

COLUMNS = stump_columns(n_rows=80, n_columns=6)


def reference(upper, target):
    shares = COLUMNS.counts / COLUMNS.counts.sum()
    u = cp.Variable(COLUMNS.n_rows)
    constraints = [dense(COLUMNS).T @ u <= target, cp.sum(u) == 1, u >= 0, u <= upper]
    problem = cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(u, shares))), constraints)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.solution.opt_val), u.value


@pytest.mark.parametrize("above", [1e-6, 1e-3, 0.05, 1.0])
@pytest.mark.parametrize(("name", "C"), [("lp-nu", 0.7), ("lp-nu", 0.2), ("hard", None)])
def test_projection_is_the_nearest_distribution(name, C, above):
    """From targets that only just can be reached, some of them negative, to one that asks for nothing."""
    shares = COLUMNS.counts / COLUMNS.counts.sum()
    programme = FORMULATIONS[name](C=C).resolve(COLUMNS.counts.sum()).programme(COLUMNS.rows, COLUMNS.n_columns)
    inside = FallbackSolver(list(SOLVERS.values()), 1e-9).solve(COLUMNS, programme)
    target = float(inside.edges.max()) + above
    asked = replace(programme, term=EntropyTerm(shares, 1.0), weight_set=Cone(cost=target))
    u = project(COLUMNS, asked, inside, 1e-8)
    assert COLUMNS.edges(u).max() <= target + 1e-14
    assert (u >= 0).all()
    assert (u <= programme.upper).all()
    assert u.sum() == pytest.approx(1.0, abs=1e-13)
    least, nearest = reference(programme.upper, target)
    assert asked.term.value(u).sum() == pytest.approx(least, abs=1e-6)
    np.testing.assert_allclose(u, nearest, atol=1e-3 * programme.upper.max() if above < 1e-3 else 1e-4)


SHARES = COLUMNS.counts / COLUMNS.counts.sum()


@pytest.mark.parametrize("eta", [0.5, 20.0, 500.0])
@pytest.mark.parametrize("C", [0.05, 0.4, 1.0])
def test_smoothed_margin(C, eta):
    programme = replace(MLPBoost(C=C).programme(COLUMNS.rows, 6), term=EntropyTerm(SHARES, eta))
    w = np.arange(1.0, 7.0) / 21
    found = smoothed(COLUMNS, programme, w, eta)
    u = cp.Variable(COLUMNS.n_rows)
    objective = -(COLUMNS.margins(w) @ u) - cp.sum(cp.rel_entr(u, SHARES)) / eta
    problem = cp.Problem(cp.Maximize(objective), [cp.sum(u) == 1, u >= 0, u <= programme.upper])
    problem.solve(solver=cp.CLARABEL)
    reached = -(COLUMNS.margins(w) @ found.u) - programme.term.value(found.u).sum()
    assert found.value == pytest.approx(reached, abs=1e-9)
    np.testing.assert_allclose(found.u, u.value, atol=1e-4)


@pytest.mark.parametrize("n_rows", [100, 137, 150])
def test_duals_without_room(n_rows):
    """With C = 1 the bounds of the duals add up to one, or by rounding to a little less: the mean margin is wanted."""
    X, y = make_twonorm(n_rows, random_state=1)
    clf = DualBoostClassifier("mlp", C=1.0, calibration="training", max_trees=20, random_state=0).fit(X, y)
    assert clf.stop_reason_ == "converged"
    assert clf.objective_ == pytest.approx(PAPER["mlp"](y[:, None] * clf.votes(X), 1.0), rel=1e-6)


STRENGTHS = every([(0.3, 0.3), (0.3, 0.1), (0.05, 0.3), (0.05, 0.03)], few=[(0.3, 0.1), (0.05, 0.3)])
DATASETS = every(("breast_cancer", "integers", "twonorm"), few=("integers",))
N_ROWS = 150


class CountingPool(Pool):
    """A pool that counts how often it is asked."""

    n_asked = 0

    def price(self, residual, feature_multiplier):
        self.n_asked += 1
        return super().price(residual, feature_multiplier)


def generate(formulation, dataset, interleaved=False):
    """The loop with the best stumps, a row for every sample, after it ran."""
    X, y = small_dataset(dataset, N_ROWS)
    task, targets = BinaryTarget.read(np.asarray(y))
    pool = CountingPool([OptimalLearner().pricer(TrainingData(X, []), PricingContext())])
    columns = Columns(Rows(np.ones(N_ROWS), task.groups(targets)))
    solver = SolverOptions(reoptimize="as_needed" if interleaved else "every")
    fit_context = make_fit_context(task, targets, formulation, columns, solver, Precision(1e-6), pool)
    generation = ColumnGeneration(fit_context, max_trees=1000)
    generation.run()
    return generation


@cache
def best_margin(name, C, dataset):
    X, y = small_dataset(dataset, N_ROWS)
    clf = DualBoostClassifier(name, C=C, learner="optimal", calibration="training", max_trees=1000).fit(X, y)
    assert clf.certified_
    return clf.objective_


def assert_guarantee(generation, best, epsilon, most_pricings):
    trace = generation.trace
    assert trace.stop_reason in ("converged", "certified")
    assert trace.result.gap <= 1e-6
    assert best - epsilon <= trace.result.objective + 1e-6
    assert trace.result.objective <= best + 1e-6
    assert best <= trace.result.bound + 1e-6
    assert generation.fit_context.pool.n_asked <= most_pricings


@pytest.mark.parametrize(("C", "epsilon"), STRENGTHS)
@pytest.mark.parametrize("dataset", DATASETS)
def test_softboost(dataset, C, epsilon):
    generation = generate(SoftBoost(C=C, epsilon=epsilon), dataset)
    assert_guarantee(generation, best_margin("lp-nu", C, dataset), epsilon, 2 * np.log(1 / C) / epsilon**2)


@pytest.mark.parametrize("epsilon", [0.3, 0.1])
@pytest.mark.parametrize("dataset", DATASETS)
def test_totalboost(dataset, epsilon):
    generation = generate(TotalBoost(epsilon=epsilon), dataset)
    assert_guarantee(generation, best_margin("hard", None, dataset), epsilon, 2 * np.log(N_ROWS) / epsilon**2)


@pytest.mark.parametrize("dataset", DATASETS)
def test_totalboost_is_softboost_without_a_cap(dataset):
    total, soft = (generate(f, dataset).trace for f in (TotalBoost(epsilon=0.1), SoftBoost(1 / N_ROWS, 0.1)))
    np.testing.assert_array_equal([row.edge for row in total.iterations], [row.edge for row in soft.iterations])
    np.testing.assert_array_equal(total.final_weights(), soft.final_weights())


def test_a_smaller_epsilon_is_a_better_margin():
    margins = [
        generate(SoftBoost(C=0.1, epsilon=e), "twonorm").trace.result.objective
        for e in how_many((0.5, 0.1), (0.5, 0.1, 0.01))
    ]
    assert (np.diff(margins) > 0).all()


def test_an_interleaved_solver_goes_on_to_the_end():
    """The strategy needs the optimum after every column, from any solver."""
    exact, interleaved = (generate(SoftBoost(C=0.1, epsilon=0.1), "integers", way).trace for way in (False, True))
    assert [row.edge for row in interleaved.iterations] == pytest.approx([row.edge for row in exact.iterations])
    assert interleaved.result.objective == pytest.approx(exact.result.objective, rel=1e-6)


@pytest.mark.parametrize("dataset", DATASETS)
def test_erlpboost(dataset):
    C, epsilon = 0.1, 0.2
    generation = generate(ERLPBoost(C=C * N_ROWS, epsilon=epsilon), dataset)
    assert generation.fit_context.pool.n_asked <= max(4 / epsilon, 8 * np.log(1 / C) / epsilon**2)
    w = generation.trace.final_weights()
    worst = np.sort(generation.fit_context.columns.margins(w))[: round(C * N_ROWS)]
    assert worst.mean() >= best_margin("lp-nu", C, dataset) - epsilon


@pytest.mark.parametrize(("C", "epsilon"), STRENGTHS)
@pytest.mark.parametrize("dataset", DATASETS)
def test_mlpboost(dataset, C, epsilon):
    """The constants are those of ERLPBoost, a quarter of what its authors allow."""
    generation = generate(MLPBoost(C=C, epsilon=epsilon), dataset)
    most = max(4 / epsilon, 8 * np.log(1 / C) / epsilon**2)
    assert_guarantee(generation, best_margin("lp-nu", C, dataset), epsilon, most)
