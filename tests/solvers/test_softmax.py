"""Leaves with a value for each class: products, the optimum and its certificate, against CVXPY and scikit-learn."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from dualboost.formulations import LogisticBoost
from dualboost.matrix.leaves import LeafColumns, VectorLeafColumns
from dualboost.matrix.rows import Rows
from dualboost.solvers.leaf_elimination import Elimination
from dualboost.solvers.leaf_newton import optimum
from dualboost.solvers.leaf_points import LeafPoint, SoftmaxPoint
from dualboost.solvers.leaf_sweeps import softmax_sweep
from dualboost.targets.classes import BinaryOperator


def leaves_of(codes, sizes, rng):
    """For each size, the leaf of each row in a tree that tells something of the class."""
    for size in sizes:
        noisy = codes * rng.random(len(codes)) + rng.normal(size=len(codes))
        yield np.digitize(noisy, np.quantile(noisy, np.arange(1, size) / size))


def start(C, n_rows=150, n_classes=3, sizes=(2, 4, 3, 5), seed=0):
    """A point whose leaves are all zero."""
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    rows = Rows(rng.integers(1, 4, n_rows).astype(float), codes)
    columns = VectorLeafColumns(rows, n_classes)
    for size, leaves in zip(sizes, leaves_of(codes, sizes, rng), strict=True):
        columns.append(leaves, size)
    empty = SoftmaxPoint.start(LogisticBoost(C=C).over_leaves(rows, None, n_classes), columns)
    return empty.at(np.zeros((columns.n_columns, n_classes)), empty.intercept, empty.scores)


def written_out(columns):
    return np.concatenate([np.eye(size)[columns.leaves(k)] for k, size in enumerate(columns.sizes)], axis=1)


def test_products_are_those_of_the_indicators():
    point = start(1.0)
    Z, rng = written_out(point.columns), np.random.default_rng(1)
    values, rows = rng.normal(size=point.values.shape), rng.normal(size=point.scores.shape)
    np.testing.assert_allclose(point.columns.scores(values), Z @ values, atol=1e-12)
    np.testing.assert_allclose(point.columns.sums(rows), Z.T @ rows, atol=1e-12)


@pytest.mark.parametrize("C", [1.0, 30.0, 1e4])
def test_the_optimum_is_that_of_cvxpy(C):
    point = start(C)
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


def test_the_optimum_is_that_of_scikit_learn():
    point = start(C := 40.0, n_rows=300)
    reached, _ = optimum(point, 1e-12)
    rows = point.columns.rows
    reference = LogisticRegression(C=C / rows.n_samples, tol=1e-12, solver="newton-cg", max_iter=1000)
    reference.fit(written_out(point.columns), point.programme.codes, sample_weight=rows.counts)
    np.testing.assert_allclose(reached.values, reference.coef_.T, atol=1e-4)


def test_two_classes_have_the_optimum_of_the_two_class_programme():
    """Values of opposite sign halve the ridge: at half of C, the objective is half of that for one score a row."""
    point = start(C := 25.0, n_classes=2)
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
    point = start(C, n_rows, n_classes, sizes, seed)
    best = optimum(point, 1e-6)[1]
    assert best.gap <= 1e-6
    for other in (point, softmax_sweep(point)):
        solution = other.certified()
        assert solution.dual <= best.primal * (1 + 1e-9)
        assert solution.primal >= best.dual * (1 - 1e-9)


def test_sweeps_lower_the_objective_towards_the_optimum():
    point = start(400.0, 400, 4, sizes=(4,) * 12)
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


def test_the_tree_that_says_nothing_is_eliminated_first():
    point = start(100.0, 400, 3, sizes=(4, 4, 4))
    noise = np.random.default_rng(5).integers(0, 4, 400)
    point.columns.hold([*((point.columns.leaves(k), 4) for k in range(3)), (noise.astype(np.uint8), 4)])
    point = point.at(np.zeros((16, 3)), point.intercept, np.zeros((400, 3)))
    elimination = Elimination(optimum(point, 1e-8)[0])
    assert np.argmin(elimination.costs()) == 3
    elimination.remove_down_to(3)
    assert elimination.kept == [0, 1, 2]
    assert elimination.values_of(0).shape == (4, 3)
    assert elimination.intercept.shape == (3,)
