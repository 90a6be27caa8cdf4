"""Weak duality holds for any feasible pair, and ``feasible`` repairs any vector."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost.errors import InvalidParameterError
from dualboost.formulations import FORMULATIONS, Programme
from dualboost.formulations.terms import LinearTerm
from dualboost.formulations.weight_sets import Cone, Simplex
from dualboost.matrix.rows import Rows

from ..conftest import ALL_FORMULATIONS, stump_columns

COLUMNS = stump_columns(n_rows=60, n_columns=8)


@given(name=st.sampled_from(ALL_FORMULATIONS), seed=st.integers(0, 10_000), rho=st.floats(-1, 1))
def test_weak_duality(name, seed, rho):
    rng = np.random.default_rng(seed)
    programme = FORMULATIONS[name]().resolve(COLUMNS.counts.sum()).programme(COLUMNS.rows, COLUMNS.n_columns)
    rho = np.full(len(programme.right_side), rho)
    w = programme.weight_set.nearest(rng.normal(size=COLUMNS.n_columns))
    u = programme.feasible(rng.normal(size=COLUMNS.n_rows) * COLUMNS.counts)
    u = u * programme.weight_set.edge_scale(COLUMNS.edges(u))
    primal, size = programme.primal_terms(w, COLUMNS.margins(w), rho)
    assert programme.dual_value(u, COLUMNS.edges(u)) <= primal + 1e-9 * size


@given(name=st.sampled_from(ALL_FORMULATIONS), seed=st.integers(0, 10_000), scale=st.sampled_from([1e-9, 1.0, 1e6]))
def test_feasible_restores_box_and_total(name, seed, scale):
    rng = np.random.default_rng(seed)
    programme = FORMULATIONS[name]().resolve(COLUMNS.counts.sum()).programme(COLUMNS.rows, 4)
    u = programme.feasible(scale * rng.normal(size=COLUMNS.n_rows))
    assert (u >= programme.lower).all()
    assert (u <= programme.upper).all()
    if programme.total is not None:
        np.testing.assert_allclose(u.sum(), programme.total, rtol=0, atol=1e-13 * np.abs(u).sum())


@given(name=st.sampled_from(ALL_FORMULATIONS), seed=st.integers(0, 10_000), scale=st.sampled_from([1e-9, 1.0, 1e6]))
def test_with_an_intercept_both_classes_weigh_the_same(name, seed, scale):
    rng = np.random.default_rng(seed)
    programme = FORMULATIONS[name]().resolve(COLUMNS.counts.sum()).programme(COLUMNS.rows, 4)
    programme = programme.with_intercepts(COLUMNS.labels[None, :])
    u = programme.feasible(scale * rng.normal(size=COLUMNS.n_rows))
    assert (u >= programme.lower).all()
    assert (u <= programme.upper).all()
    np.testing.assert_allclose(programme.equations.sums(u), programme.right_side, rtol=0, atol=1e-13 * np.abs(u).sum())
    assert programme.is_feasible(programme.weight_set.nearest(np.ones(4)), u)


def test_an_intercept_that_the_box_leaves_no_room_for_is_refused():
    """One class so small that even its largest duals do not balance the other's smallest."""
    labels = np.array([1.0, -1.0, -1.0, -1.0])
    programme = FORMULATIONS["nm"](C=1.0).programme(Rows(np.ones(4)), 4)
    with pytest.raises(InvalidParameterError, match=r"free intercept.*smaller C"):
        programme.with_intercepts(labels[None, :])


def test_a_total_out_of_reach_is_refused():
    lower = np.zeros(4)
    with pytest.raises(InvalidParameterError, match="smaller C"):
        Programme(Rows(np.ones(4)), lower, np.full(4, 0.2), LinearTerm(0.0, lower), Simplex(), total=1.0)


@given(seed=st.integers(0, 10_000), ridge=st.sampled_from([0.0, 0.5, 2.0]))
def test_support_of_a_cone_bounds_every_weight(seed, ridge):
    rng = np.random.default_rng(seed)
    cone = Cone(cost=1.0, ridge=ridge)
    edges = rng.normal(size=5)
    edges = edges * cone.edge_scale(edges)
    w = np.abs(rng.normal(size=5))
    assert w @ edges - cone.value(w) <= cone.support(edges) + 1e-12


def test_support_of_a_cone_is_infinite_beyond_its_cost():
    assert Cone(cost=1.0).support(np.array([0.2, 1.1])) == np.inf


@given(seed=st.integers(0, 10_000), total=st.sampled_from([1.0, 20.0]))
def test_support_of_a_simplex_is_attained(seed, total):
    rng = np.random.default_rng(seed)
    simplex = Simplex(total)
    edges = rng.normal(size=5)
    w = simplex.nearest(rng.normal(size=5))
    np.testing.assert_allclose(w.sum(), total)
    assert w @ edges <= simplex.support(edges) + 1e-12
    best = np.eye(5)[np.argmax(edges)] * total
    np.testing.assert_allclose(best @ edges, simplex.support(edges))
    assert simplex.threshold(edges) == edges.max()
