"""The few sums that duals must have: restored inside the box, and refused where the box leaves no room for them."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost.errors import InvalidParameterError
from dualboost.formulations import Programme
from dualboost.formulations.terms import LinearTerm, QuadraticTerm
from dualboost.formulations.weight_sets import Equations, Simplex
from dualboost.matrix.rows import Rows

N_ROWS = 40
SCALES = st.sampled_from([1e-9, 1.0, 1e6])
SEEDS = st.integers(0, 10_000)


def programme_of(lower, upper, total=None, intercepts=None):
    term = LinearTerm(0.0, np.zeros(len(lower)))
    return Programme(Rows(np.ones(len(lower))), lower, upper, term, Simplex(), total, intercepts)


def box_around(rng, inside):
    """Bounds with these duals between them, some of them at a bound."""
    lower, upper = inside - rng.random(len(inside)), inside + rng.random(len(inside))
    at = rng.random(len(inside))
    return np.where(at < 0.2, inside, lower), np.where(at > 0.8, inside, upper)


def assert_restored(programme, u):
    restored = programme.feasible(u)
    assert (restored >= programme.lower).all()
    assert (restored <= programme.upper).all()
    E, t = programme.equations.matrix, programme.right_side
    size = np.abs(E).max() * max(np.abs(restored).sum(), np.abs(programme.lower).sum(), np.abs(programme.upper).sum())
    np.testing.assert_allclose(E @ restored, t, rtol=0, atol=1e-13 * size)
    return restored


@given(seed=SEEDS, scale=SCALES)
def test_a_total(seed, scale):
    rng = np.random.default_rng(seed)
    inside = rng.random(N_ROWS)
    programme = programme_of(*box_around(rng, inside), total=float(inside.sum()))
    assert_restored(programme, scale * rng.normal(size=N_ROWS))


@given(seed=SEEDS, scale=SCALES, has_total=st.booleans())
def test_an_intercept_and_both(seed, scale, has_total):
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(N_ROWS) < rng.integers(1, N_ROWS), 1.0, -1.0)
    inside = rng.random(N_ROWS)
    inside[labels > 0] *= inside[labels < 0].sum() / inside[labels > 0].sum()
    total = float(inside.sum()) if has_total else None
    programme = programme_of(*box_around(rng, inside), total, labels[None, :])
    restored = assert_restored(programme, scale * rng.normal(size=N_ROWS))
    if has_total:
        assert restored.sum() == pytest.approx(total, rel=1e-12)


@given(seed=SEEDS, scale=SCALES, has_total=st.booleans(), n_more=st.integers(1, 2))
def test_any_coefficients_of_three_kinds_of_rows(seed, scale, has_total, n_more):
    """Duals that satisfy the equations are known, so that the programme may not be refused."""
    rng = np.random.default_rng(seed)
    kinds, kind = rng.normal(size=(n_more, 3)), rng.permutation(np.arange(N_ROWS) % 3)
    sums = np.linalg.svd(kinds)[2][-1]  # of the kinds: in the kernel of the equations
    inside = rng.dirichlet(np.ones(N_ROWS)) * 3.0
    for k in range(3):
        inside[kind == k] *= sums[k] / inside[kind == k].sum()
    total = float(inside.sum()) if has_total else None
    programme = programme_of(*box_around(rng, inside), total, kinds[:, kind])
    assert_restored(programme, scale * rng.normal(size=N_ROWS))


@given(seed=SEEDS)
def test_what_satisfies_the_equations_is_left_alone(seed):
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(N_ROWS) % 3 == 0, 1.0, -1.0)
    inside = rng.random(N_ROWS)
    inside[labels > 0] *= inside[labels < 0].sum() / inside[labels > 0].sum()
    programme = programme_of(*box_around(rng, inside), intercepts=labels[None, :])
    np.testing.assert_allclose(programme.feasible(inside), inside, rtol=1e-12)


def test_a_class_without_room_leaves_the_other_none():
    """As in the first stage of a programme in two: the only duals with equal sums are zero."""
    labels = np.array([1.0, 1.0, -1.0, -1.0])
    programme = programme_of(np.zeros(4), np.where(labels > 0, 0.5, 0.0), intercepts=labels[None, :])
    np.testing.assert_allclose(programme.feasible(np.array([0.3, 0.1, 0.2, 0.7])), 0.0, atol=1e-16)


def test_without_bounds_rows_move_by_their_curvature():
    rng = np.random.default_rng(0)
    labels, curvature = np.where(np.arange(N_ROWS) % 3 == 0, 1.0, -1.0), rng.random(N_ROWS) + 0.5
    term = QuadraticTerm(0.0, curvature, np.zeros(N_ROWS))
    free = np.full(N_ROWS, np.inf)
    programme = Programme(Rows(np.ones(N_ROWS)), -free, free, term, Simplex(), 2.0, labels[None, :])
    u = rng.normal(size=N_ROWS)
    restored = programme.feasible(u)
    np.testing.assert_allclose(programme.equations.sums(restored), programme.right_side, atol=1e-12)
    for side in (labels > 0, labels < 0):
        moved = (restored - u)[side] * curvature[side]
        np.testing.assert_allclose(moved, moved[0], rtol=1e-9)


@pytest.mark.parametrize("total", [0.79, 10.1])
def test_a_total_out_of_reach_is_refused(total):
    with pytest.raises(InvalidParameterError, match=rf"add up to {total}.*smaller C"):
        programme_of(np.full(4, 0.2), np.full(4, 2.5), total)


def test_an_intercept_out_of_reach_is_refused():
    labels = np.array([1.0, -1.0, -1.0, -1.0])
    with pytest.raises(InvalidParameterError, match=r"free intercept.*smaller C"):
        programme_of(np.full(4, 1.0), np.full(4, 2.0), intercepts=labels[None, :])
    with pytest.raises(InvalidParameterError, match=r"add up to 3 .*free intercept.*smaller C"):
        programme_of(np.zeros(4), np.ones(4), 3.0, labels[None, :])


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_a_total_that_an_intercept_of_one_class_contradicts_is_refused(label):
    with pytest.raises(InvalidParameterError, match=r"add up to 1 .*free intercept.*smaller C"):
        programme_of(np.zeros(4), np.ones(4), 1.0, np.full((1, 4), label))


@given(seed=SEEDS)
def test_refused_are_those_that_an_independent_solver_finds_infeasible(seed):
    rng = np.random.default_rng(seed)
    kinds, kind = rng.normal(size=(2, 3)), np.arange(9) % 3
    lower = rng.normal(size=9)
    upper = lower + rng.random(9) * 3.0
    u = cp.Variable(9)
    distance = cp.Problem(cp.Minimize(cp.norm1(kinds[:, kind] @ u)), [u >= lower, u <= upper]).solve(solver=cp.HIGHS)
    if distance < 1e-9:
        assert_restored(programme_of(lower, upper, intercepts=kinds[:, kind]), rng.normal(size=9))
    else:
        with pytest.raises(InvalidParameterError, match="smaller C"):
            programme_of(lower, upper, intercepts=kinds[:, kind])


def test_sums_and_kinds():
    rng = np.random.default_rng(0)
    labels, u = rng.choice([-1.0, 1.0], N_ROWS), rng.normal(size=N_ROWS)
    equations = Equations.of(Rows(np.ones(N_ROWS)), 2.0, labels[None, :])
    np.testing.assert_allclose(equations.sums(u), [u.sum(), -labels @ u], rtol=1e-12)
    np.testing.assert_array_equal(equations.right_side, [2.0, 0.0])
    coefficients, rows = equations.groups
    for column, members in zip(coefficients.T, rows, strict=True):
        np.testing.assert_array_equal(equations.matrix[:, members], np.repeat(column[:, None], len(members), axis=1))
    assert sorted(np.concatenate(rows)) == list(range(N_ROWS))
    assert len(Equations.of(Rows(np.ones(N_ROWS)), None, None)) == 0
