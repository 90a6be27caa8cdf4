"""Values of leaves in order: against CVXPY, and certificates that bound every feasible point."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from dualboost.formulations import ConvexBoost, LogisticBoost, LPBoost
from dualboost.formulations.weight_sets import Free, Ordered
from dualboost.matrix.leaves import LeafColumns
from dualboost.matrix.rows import Rows
from dualboost.solvers.leaf_points import LeafPoint
from dualboost.solvers.leaf_solvers import leaf_solver_of
from dualboost.targets.classes import BinaryOperator
from dualboost.trees.ordering import LeafOrder

LOSSES = {
    "logistic": LogisticBoost(C=50.0),
    "squared hinge": ConvexBoost(C=0.3, loss="squared_hinge"),
    "hinge": LPBoost(C=0.3),
}


def some_order(size, rng):
    """A random partial order: pairs go from smaller to larger numbers, in a random numbering."""
    below = np.triu(rng.random((size, size)) < 0.4) | np.eye(size, dtype=bool)
    for _ in range(size):
        below = below @ below
    names = rng.permutation(size)
    return LeafOrder(below[np.ix_(names, names)])


def problem(formulation, seed, n_rows=120, sizes=(4, 2, 6, 5)):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n_rows) < 0.4, 1.0, -1.0)
    columns = LeafColumns(Rows(rng.integers(1, 4, size=n_rows).astype(float)), BinaryOperator(labels))
    for k, size in enumerate(sizes):
        noisy = labels * rng.random(n_rows) + rng.normal(size=n_rows)
        leaves = np.digitize(noisy, np.quantile(noisy, np.arange(1, size) / size))
        columns.append(leaves, size, some_order(size, rng) if k != 1 else None)
    programme = formulation.resolve(columns.rows.n_samples).programme(columns.rows, 1)
    programme = replace(programme, weight_set=Free(1.0), intercepts=columns.operator.intercepts()).in_order()
    return LeafPoint(programme, columns, np.zeros(columns.n_columns), 0.0, np.zeros(n_rows))


def in_order(values, columns):
    parts = np.split(values, columns.starts[1:-1])
    return all(
        order is None or (own[None, :] >= own[:, None])[order.below].all()
        for own, order in zip(parts, columns.orders, strict=True)
    )


def objective(point, values, intercept):
    """The loss by the programme's own terms, and the ridge: what a solver that knows the order is to minimise."""
    return point.at(values, intercept, point.columns.scores(values)).objective


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_is_in_order_and_no_point_in_order_is_better(loss, seed):
    point = problem(LOSSES[loss], seed)
    reached, solution = leaf_solver_of(point.programme).optimum(point, 1e-7)
    assert solution.gap <= 1e-7
    assert in_order(reached.values, point.columns)
    best = objective(point, reached.values, reached.intercept)
    assert best == pytest.approx(solution.primal, rel=1e-12)
    rng, weight_set = np.random.default_rng(seed), solution.programme.weight_set
    for scale in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(50):
            other = weight_set.nearest(reached.values + scale * rng.normal(size=len(reached.values)))
            assert in_order(other, point.columns)
            moved = objective(point, other, reached.intercept + scale * rng.normal())
            assert moved >= solution.dual - 1e-9 * abs(best)


@pytest.mark.parametrize("seed", range(3))
def test_the_logistic_optimum_is_that_of_another_solver(seed):
    point = problem(LOSSES["logistic"], seed)
    _, solution = leaf_solver_of(point.programme).optimum(point, 1e-8)
    columns, labels = point.columns, point.columns.operator.targets
    Z = np.concatenate([np.eye(size)[columns.leaves(k)] for k, size in enumerate(columns.sizes)], axis=1)
    values, intercept = cp.Variable(Z.shape[1]), cp.Variable()
    loss = point.programme.upper @ cp.logistic(-cp.multiply(labels, Z @ values + intercept))
    pairs = [
        (start + a, start + b)
        for start, order in zip(columns.starts.tolist(), columns.orders, strict=False)
        if order is not None
        for a, b in np.argwhere(order.below)
        if a != b
    ]
    order = [values[int(b)] >= values[int(a)] for a, b in pairs]
    best = cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(values)), order).solve(solver=cp.CLARABEL)
    assert solution.primal == pytest.approx(best, rel=1e-6)
    without = cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(values))).solve(solver=cp.CLARABEL)
    assert best > without * (1 + 1e-4), "the order must cost something, or nothing is tested"


@pytest.mark.parametrize("seed", range(5))
def test_the_support_is_the_most_that_values_in_order_gain(seed):
    rng = np.random.default_rng(seed)
    orders = [some_order(5, rng), None, some_order(3, rng)]
    edges, sizes = rng.normal(size=12), (5, 4, 3)
    weight_set = Ordered(2.0, sizes=sizes, orders=orders)
    values = cp.Variable(12)
    starts = np.cumsum([0, *sizes])
    pairs = [(s + a, s + b) for s, o in zip(starts, orders, strict=False) if o for a, b in np.argwhere(o.below)]
    order = [values[int(b)] >= values[int(a)] for a, b in pairs if a != b]
    gain = cp.Problem(cp.Maximize(edges @ values - cp.sum_squares(values)), order).solve(solver=cp.CLARABEL)
    assert weight_set.support(edges) == pytest.approx(gain, abs=1e-7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", ["logistic", "squared hinge"])
def test_a_sweep_stays_in_order_and_lowers_the_objective(loss, seed):
    point = problem(LOSSES[loss], seed)
    solver = leaf_solver_of(point.programme)
    before = point.objective
    for _ in range(3):
        point = solver.improved(point, None)
        assert in_order(point.values, point.columns)
        assert point.objective <= before
        before = point.objective
    best = solver.optimum(point, 1e-7)[1]
    found = solver.certified(point)
    assert found.dual <= best.primal * (1 + 1e-9)
    assert found.primal >= best.dual * (1 - 1e-9)
