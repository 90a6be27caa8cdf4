"""Leaves as columns: products, sweeps, optima and elimination for one score a row and for several.

The references are brute force, CVXPY and scikit-learn.
"""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from dualboost.formulations import CGBoost, ConvexBoost, LogisticBoost, LPBoost
from dualboost.formulations.weight_sets import Free
from dualboost.matrix.leaves import LeafColumns, RoundLeafColumns, VectorLeafColumns
from dualboost.matrix.rows import Rows
from dualboost.solvers.leaf_elimination import Elimination
from dualboost.solvers.leaf_kinked import kinked_optimum
from dualboost.solvers.leaf_newton import hessian_product, improved, optimum
from dualboost.solvers.leaf_points import LeafPoint, SoftmaxPoint
from dualboost.solvers.leaf_sweeps import softmax_sweep, sweep
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


def leaves_of(codes, sizes, rng):
    """For each size, the leaf of each row in a tree whose leaves depend on the class."""
    for size in sizes:
        noisy = codes * rng.random(len(codes)) + rng.normal(size=len(codes))
        yield np.digitize(noisy, np.quantile(noisy, np.arange(1, size) / size))


def class_start(C, n_rows=150, n_classes=3, sizes=(2, 4, 3, 5), seed=0):
    """A point whose leaves are all zero."""
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    rows = Rows(rng.integers(1, 4, n_rows).astype(float), codes)
    columns = VectorLeafColumns(rows, n_classes)
    for size, leaves in zip(sizes, leaves_of(codes, sizes, rng), strict=True):
        columns.append(leaves, size)
    empty = SoftmaxPoint.start(LogisticBoost(C=C).over_leaves(rows, None, n_classes), columns)
    return empty.at(np.zeros((columns.n_columns, n_classes)), empty.intercept, empty.scores)


def test_products_with_matrices_are_those_of_the_indicators():
    point = class_start(1.0)
    Z, rng = written_out(point.columns), np.random.default_rng(1)
    values, rows = rng.normal(size=point.values.shape), rng.normal(size=point.scores.shape)
    np.testing.assert_allclose(point.columns.scores(values), Z @ values, atol=1e-12)
    np.testing.assert_allclose(point.columns.sums(rows), Z.T @ rows, atol=1e-12)


@pytest.mark.parametrize("C", [1.0, 30.0, 1e4])
def test_the_softmax_optimum_is_that_of_cvxpy(C):
    point = class_start(C)
    reached, solution = optimum(point, 1e-8)
    Z, programme = written_out(point.columns), point.programme
    V, b = cp.Variable(point.values.shape), cp.Variable((1, 3))
    scores = Z @ V + np.ones((len(Z), 1)) @ b
    own = cp.sum(cp.multiply(np.eye(3)[programme.codes], scores), axis=1)
    loss = programme.prices @ (cp.log_sum_exp(scores, axis=1) - own)
    found = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(V) + loss)).solve(solver=cp.CLARABEL)
    assert solution.primal == pytest.approx(found, rel=1e-6)
    assert solution.gap <= 1e-8
    assert reached.objective == solution.primal


def test_the_softmax_optimum_is_that_of_scikit_learn():
    point = class_start(C := 40.0, n_rows=300)
    reached, _ = optimum(point, 1e-12)
    rows = point.columns.rows
    reference = LogisticRegression(C=C / rows.n_samples, tol=1e-12, solver="newton-cg", max_iter=1000)
    reference.fit(written_out(point.columns), point.programme.codes, sample_weight=rows.counts)
    np.testing.assert_allclose(reached.values, reference.coef_.T, atol=1e-4)


def test_two_classes_have_the_optimum_of_the_two_class_programme():
    """Values of opposite sign halve the ridge: at half of C, the objective is half of that for one score a row."""
    point = class_start(C := 25.0, n_classes=2)
    _, solution = optimum(point, 1e-9)
    rows, codes = point.columns.rows, point.programme.codes
    columns = LeafColumns(rows, BinaryOperator(2.0 * codes - 1.0))
    columns.hold([(point.columns.leaves(k), size) for k, size in enumerate(point.columns.sizes)])
    programme = LogisticBoost(C=2 * C).programme(rows, 1).over_leaves(columns.operator.intercepts())
    single = LeafPoint(programme, columns, np.zeros(columns.n_columns), 0.0, np.zeros(rows.n_data))
    reached, expected = optimum(single, 1e-9)
    assert 2 * solution.primal == pytest.approx(expected.primal, rel=1e-6)
    np.testing.assert_allclose(solution.w[:, 1] - solution.w[:, 0], reached.values, atol=1e-4)


@given(
    C=st.floats(1e-2, 1e4),
    n_rows=st.integers(12, 80),
    n_classes=st.integers(2, 12),
    sizes=st.lists(st.integers(1, 9), max_size=4),
    seed=st.integers(0, 99),
)
def test_every_point_has_a_dual_below_it_and_the_optimum_meets_it(C, n_rows, n_classes, sizes, seed):
    point = class_start(C, n_rows, n_classes, sizes, seed)
    best = optimum(point, 1e-6)[1]
    assert best.gap <= 1e-6
    for other in (point, softmax_sweep(point)):
        solution = other.certified()
        assert solution.dual <= best.primal * (1 + 1e-9)
        assert solution.primal >= best.dual * (1 - 1e-9)


def test_softmax_sweeps_lower_the_objective_towards_the_optimum():
    point = class_start(400.0, 400, 4, sizes=(4,) * 12)
    best = optimum(point, 1e-10)[1].primal
    for k in range(120):
        lower = softmax_sweep(point, newest=k % 12)
        assert lower.objective <= point.objective
        point = lower
    assert point.objective == pytest.approx(best, rel=2e-3)


def test_a_class_without_rows_has_no_probability():
    rows = Rows(np.ones(20), np.arange(20) % 2)
    programme = LogisticBoost(C=5.0).over_leaves(rows, None, 3)
    point, solution = optimum(SoftmaxPoint.start(programme, VectorLeafColumns(rows, 3)), 1e-6)
    assert solution.gap <= 1e-6
    assert point.probabilities[:, 2].max() < 1e-6


def test_a_tree_of_noise_is_eliminated_first():
    point = class_start(100.0, 400, 3, sizes=(4, 4, 4))
    noise = np.random.default_rng(5).integers(0, 4, 400)
    point.columns.hold([*((point.columns.leaves(k), 4) for k in range(3)), (noise.astype(np.uint8), 4)])
    point = point.at(np.zeros((16, 3)), point.intercept, np.zeros((400, 3)))
    elimination = Elimination(optimum(point, 1e-8)[0])
    assert np.argmin(elimination.costs()) == 3
    elimination.remove_down_to(3)
    assert elimination.kept == [0, 1, 2]
    assert elimination.values_of(0).shape == (4, 3)
    assert elimination.intercept.shape == (3,)


def round_start(C, n_rows=200, n_classes=3, sizes=(3, 2, 4), seed=0):
    """A point of rounds whose leaves are all zero; each class has its own trees."""
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    rows = Rows(rng.integers(1, 4, n_rows).astype(float), codes)
    columns = RoundLeafColumns(rows, n_classes)
    columns.hold([([next(leaves_of(codes == k, (size,), rng)) for k in range(n_classes)], size) for size in sizes])
    empty = SoftmaxPoint.start(LogisticBoost(C=C).over_leaves(rows, None, n_classes), columns)
    return empty.at(np.zeros((columns.n_columns, n_classes)), empty.intercept, empty.scores)


POINTS = {
    "one score": lambda: start(leaf_columns(200), LogisticBoost(C=40.0)),
    "vectors": lambda: class_start(40.0),
    "rounds": lambda: round_start(40.0),
}


@pytest.fixture(params=POINTS)
def point(request):
    return POINTS[request.param]()


def somewhere(point, seed=0):
    """A point that is no optimum, and a direction with its change of the scores."""
    rng, n = np.random.default_rng(seed), len(point.values)
    for length in (0.3, 0.0):
        direction = rng.normal(size=(n + 1, *point.values.shape[1:]))
        change = point.columns.scores(direction[:-1])
        point = point.moved(direction, change, length)
    return point, direction, change


def test_descent_and_the_hessian_are_the_derivatives_of_the_objective(point):
    point, direction, change = somewhere(point)
    lower, upper = (point.moved(direction, change, length) for length in (-1e-4, 1e-4))
    slope = (upper.objective - lower.objective) / 2e-4
    assert -np.vdot(point.descent, direction) == pytest.approx(slope, rel=1e-6)
    moved, image = hessian_product(point, direction)
    np.testing.assert_allclose(moved, change)
    np.testing.assert_allclose(image, (lower.descent - upper.descent) / 2e-4, rtol=1e-4, atol=1e-5)


def test_the_optimum_has_no_descent_and_bounds_every_point(point):
    best, solution = optimum(point, 1e-10)
    assert solution.gap <= 1e-10
    assert np.abs(best.descent).max() < 1e-4 * np.abs(point.descent).max()
    for other in (point, somewhere(point)[0]):
        found = other.certified()
        assert found.primal >= solution.dual * (1 - 1e-9)
        assert found.dual <= solution.primal * (1 + 1e-9)


@pytest.mark.parametrize("name", ["vectors", "rounds"])
def test_a_few_iterations_lower_the_objective_towards_the_optimum(name):
    point = POINTS[name]()
    best = optimum(point, 1e-10)[1].primal
    for _ in range(20):
        lower = improved(point)
        assert lower.objective <= point.objective
        point = lower
    assert point.objective == pytest.approx(best, rel=1e-6)


def test_elimination_predicts_the_rise_of_the_objective(point):
    """The rises are found by an optimum without each tree; the values left come close to that optimum."""
    best, solution = optimum(point, 1e-11)
    elimination, n = Elimination(best), best.columns.n_trees
    predicted, rises = elimination.costs(), []
    elimination.remove_down_to(n - 1)
    trees = TREES_OF[type(best.columns)](best.columns)
    for k in range(n):
        best.columns.hold([*trees[:k], *trees[k + 1 :]])
        zeros = np.zeros((best.columns.n_columns, *best.values.shape[1:]))
        fewer = optimum(best.at(zeros, best.intercept, best.columns.scores(zeros)), 1e-11)[1]
        rises.append(fewer.primal - solution.primal)
    assert elimination.kept == [k for k in range(n) if k != np.argmin(rises)]
    np.testing.assert_allclose(predicted, rises, rtol=0.5)
    best.columns.hold([trees[k] for k in elimination.kept])
    values = np.concatenate([elimination.values_of(k) for k in elimination.kept])
    assert values.shape == (best.columns.n_columns, *best.values.shape[1:])
    left = best.at(values, elimination.intercept, best.columns.scores(values))
    assert left.objective - solution.primal <= 2.0 * min(rises)


def trees_of(columns):
    return [(columns.leaves(k), size) for k, size in enumerate(columns.sizes)]


def rounds_of(columns):
    return [([own.leaves(k) for own in columns.of_class], size) for k, size in enumerate(columns.of_class[0].sizes)]


TREES_OF = {LeafColumns: trees_of, VectorLeafColumns: trees_of, RoundLeafColumns: rounds_of}
