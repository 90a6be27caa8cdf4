"""Leaves as columns: products, sweeps, the optimum and elimination, against brute force and scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from dualboost.formulations import CGBoost, ConvexBoost, LogisticBoost, LPBoost
from dualboost.formulations.weight_sets import Free
from dualboost.matrix.leaves import LeafColumns
from dualboost.matrix.rows import Rows
from dualboost.solvers.leaf_elimination import Elimination
from dualboost.solvers.leaf_kinked import kinked_optimum
from dualboost.solvers.leaf_newton import optimum
from dualboost.solvers.leaf_points import LeafPoint
from dualboost.solvers.leaf_sweeps import sweep
from dualboost.targets.classes import BinaryOperator

SMOOTH = [
    LogisticBoost(C=50.0),
    ConvexBoost(C=0.3, loss="exponential"),
    ConvexBoost(C=0.3, loss="squared_hinge"),
    ConvexBoost(C=0.3, loss="huber"),
]
KINKED = [LPBoost(C=0.3), CGBoost(C=0.3)]


def leaf_columns(n_rows=150, sizes=(2, 4, 3, 5), seed=0, counts=None):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n_rows) < 0.4, 1.0, -1.0)
    columns = LeafColumns(Rows(np.ones(n_rows) if counts is None else counts), BinaryOperator(labels))
    for size in sizes:
        noisy = labels * rng.random(n_rows) + rng.normal(size=n_rows)
        columns.append(np.digitize(noisy, np.quantile(noisy, np.arange(1, size) / size)), size)
    return columns


def written_out(columns):
    """Z, one indicator a column."""
    return np.concatenate([np.eye(size)[columns.leaves(k)] for k, size in enumerate(columns.sizes)], axis=1)


def start(columns, formulation):
    programme = formulation.resolve(columns.rows.n_samples).programme(columns.rows, 1)
    programme = replace(programme, weight_set=Free(1.0), intercepts=columns.operator.intercepts())
    n = columns.n_columns
    return LeafPoint(programme, columns, np.zeros(n), 0.0, np.zeros(columns.rows.n_data))


@pytest.mark.parametrize("sizes", [(2,), (2, 3, 4), (8,) * 9, (300, 2, 2, 40, 40)])
def test_products_are_those_of_the_indicators(sizes):
    columns = leaf_columns(700, sizes)
    Z, rng = written_out(columns), np.random.default_rng(1)
    values, u = rng.normal(size=columns.n_columns), rng.random(700)
    y = columns.operator.targets
    np.testing.assert_allclose(columns.margins(values), y * (Z @ values), atol=1e-12)
    np.testing.assert_allclose(columns.edges(u), Z.T @ (y * u), atol=1e-10)
    with_ones = np.column_stack([Z, np.ones(700)])
    np.testing.assert_allclose(columns.gram(u), with_ones.T @ (u[:, None] * with_ones), rtol=1e-5, atol=1e-4)


def test_a_leaf_number_takes_one_byte():
    columns = leaf_columns(50, (2, 8, 200))
    assert [columns.leaves(k).dtype.itemsize for k in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("formulation", SMOOTH, ids=lambda one: getattr(one, "loss", one.name))
def test_smooth_optimum_is_that_of_a_general_minimiser(formulation):
    point = start(leaf_columns(), formulation)
    reached, solution = optimum(point, 1e-9)
    Z, n = written_out(point.columns), point.columns.n_columns

    def objective(x):
        return LeafPoint(point.programme, point.columns, x[:n], x[n], Z @ x[:n]).objective

    found = minimize(objective, np.zeros(n + 1), method="BFGS", options={"gtol": 1e-7})
    assert solution.gap <= 1e-9
    assert solution.primal == pytest.approx(found.fun, rel=1e-6)
    assert reached.objective == pytest.approx(solution.primal, rel=1e-12)
    assert solution.primal >= solution.dual - 1e-12 * abs(solution.primal)


@pytest.mark.parametrize("formulation", KINKED, ids=lambda one: one.name)
def test_kinked_optimum_is_certified_and_no_step_improves_it(formulation):
    point = start(leaf_columns(), formulation)
    reached, solution = kinked_optimum(point, 1e-7)
    assert solution.gap <= 1e-7
    rng = np.random.default_rng(2)
    for _ in range(50):
        values = reached.values + 1e-2 * rng.normal(size=len(reached.values))
        scores = point.columns.scores(values)
        other = LeafPoint(point.programme, point.columns, values, reached.intercept + 1e-2 * rng.normal(), scores)
        assert other.objective >= solution.primal * (1 - 1e-7)


def test_logistic_optimum_is_that_of_scikit_learn():
    columns = leaf_columns(300, (2, 4, 8), counts=np.random.default_rng(3).integers(1, 4, 300).astype(float))
    C = 40.0
    reached, _ = optimum(start(columns, LogisticBoost(C=C)), 1e-12)
    reference = LogisticRegression(C=C / columns.rows.n_samples, tol=1e-12, solver="newton-cholesky")
    reference.fit(written_out(columns), columns.operator.targets, sample_weight=columns.rows.counts)
    np.testing.assert_allclose(reached.values, reference.coef_[0], atol=1e-5)
    assert reached.intercept == pytest.approx(reference.intercept_[0], abs=1e-5)


def test_sweeps_lower_the_objective_towards_the_optimum():
    point = start(leaf_columns(400, (4,) * 12), LogisticBoost(C=400.0))
    best = optimum(point, 1e-10)[1].primal
    objectives = [point.objective]
    for _ in range(60):
        point = sweep(point)
        objectives.append(point.objective)
    assert np.all(np.diff(objectives) <= 0)
    assert objectives[-1] == pytest.approx(best, rel=1e-4)
    assert point.certified().dual <= best * (1 + 1e-10)


def test_optimum_from_a_sample_of_the_rows_is_that_of_all_rows():
    columns = leaf_columns(30_000, (8,) * 5)
    _, solution = optimum(start(columns, LogisticBoost(C=1000.0)), 1e-8)
    assert solution.gap <= 1e-8


def test_elimination_removes_the_tree_that_is_missed_least():
    columns = leaf_columns(500, (4, 4, 2, 8, 3))
    formulation = LogisticBoost(C=200.0)
    point, solution = optimum(start(columns, formulation), 1e-10)
    elimination = Elimination(point)
    predicted = elimination.costs()
    elimination.remove_down_to(4)
    rises = []
    for k in range(5):
        others = [j for j in range(5) if j != k]
        fewer = LeafColumns(columns.rows, columns.operator)
        fewer.hold([(columns.leaves(j), columns.sizes[j]) for j in others])
        rises.append(optimum(start(fewer, formulation), 1e-10)[1].primal - solution.primal)
    assert set(range(5)) - set(elimination.kept) == {int(np.argmin(rises))}
    np.testing.assert_allclose(predicted, rises, rtol=0.3)


def test_with_stumps_leaves_are_hard_votes_of_any_sign():
    """Two leaf values a, b with a ridge are a vote (a - b)/2 of either sign and a constant, which the intercept takes.

    At the optimum the values of a stump add up to zero, so that its ridge is twice that of the vote.
    """
    columns = leaf_columns(300, (2,) * 6)
    reached, _ = optimum(start(columns, LogisticBoost(C=60.0)), 1e-12)
    a, b = reached.values[0::2], reached.values[1::2]
    np.testing.assert_allclose(a + b, 0.0, atol=1e-5)
    votes = np.stack([np.where(columns.leaves(k) == 0, 1.0, -1.0) for k in range(6)], axis=1)
    reference = LogisticRegression(C=60.0 / 300 / 2, tol=1e-12, solver="newton-cholesky")
    reference.fit(votes, columns.operator.targets)
    np.testing.assert_allclose((a - b) / 2, reference.coef_[0], atol=1e-5)
    assert reached.intercept == pytest.approx(reference.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("formulation", KINKED, ids=lambda one: one.name)
def test_a_start_with_every_row_in_its_kink_leads_to_the_optimum(formulation):
    """Values that give every row a margin of exactly one, which leave no multiplier any size."""
    columns = leaf_columns(40, sizes=(2, 3))
    labels = columns.operator.targets
    columns.append((labels > 0).astype(int), 2)
    usual = start(columns, formulation)
    values = np.zeros(columns.n_columns)
    values[-2:] = -1.0, 1.0
    in_kinks = LeafPoint(usual.programme, columns, values, 0.0, columns.scores(values))
    wanted, found = (kinked_optimum(point, 1e-6)[1] for point in (usual, in_kinks))
    assert found.gap <= 1e-6
    assert found.primal == pytest.approx(wanted.primal, rel=2e-6)
