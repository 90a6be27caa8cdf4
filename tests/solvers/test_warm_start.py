"""Iterates that are strictly inside their bounds after the problem changed."""

import numpy as np
import pytest

from dualboost.formulations import FORMULATIONS
from dualboost.solvers.interior_point import moved, raised, starting_point, with_new_columns
from dualboost.solvers.newton import Newton, mean_product

from ..conftest import stump_columns


def near_optimum(name, C=None, n_columns=10, n_steps=5):
    columns = stump_columns(n_rows=200, n_columns=n_columns, formulation=name)
    programme = FORMULATIONS[name](C=C).resolve(columns.counts.sum()).programme_over(columns, n_columns)
    point, newton = starting_point(columns, programme), Newton(columns, programme, 0.995)
    for _ in range(n_steps):
        point = newton.advance(point)
    return point, columns, programme


def assert_interior(point, columns, programme):
    assert len(point.w) == len(point.s) == len(point.edges) == columns.n_columns
    assert (point.w > 0).all()
    assert (point.s > 0).all()
    if programme.is_bounded:
        assert ((point.u > programme.lower) & (point.u < programme.upper)).all()
        assert (point.p > 0).all()
        assert (point.q > 0).all()
    if programme.total is not None:
        assert point.u.sum() == pytest.approx(programme.total, rel=1e-12)
    if programme.weight_set.total is not None:
        assert point.w.sum() == pytest.approx(programme.weight_set.total, rel=1e-12)
    np.testing.assert_allclose(point.margins, columns.margins(point.w), atol=1e-4 * point.w.sum())
    np.testing.assert_allclose(point.edges, columns.edges(point.u), atol=1e-4 * np.abs(point.u).sum())


def test_a_new_column_enters_with_a_weight(formulation_name):
    point, columns, programme = near_optimum(formulation_name)
    columns.take(stump_columns(n_rows=200, n_columns=12, formulation=formulation_name), [10, 11])
    grown = with_new_columns(point, columns, programme, 0.03)
    assert_interior(grown, columns, programme)
    assert (grown.w[10:] > 1e-3 * grown.w.mean()).all()


def test_raising_leaves_no_product_far_below_the_mean(formulation_name):
    point, columns, programme = near_optimum(formulation_name)
    higher = raised(point, columns, programme)
    assert_interior(higher, columns, programme)
    assert mean_product(higher, programme) >= mean_product(point, programme)


def test_another_C_begins_inside_its_own_bounds(formulation_name):
    point, columns, programme = near_optimum(formulation_name)
    grid = FORMULATIONS[formulation_name]().C_grid(float(columns.counts.sum()), 3)
    for C in grid:
        _, _, other = near_optimum(formulation_name, C=float(C), n_steps=0)
        assert_interior(moved(point, columns, programme, other), columns, other)
