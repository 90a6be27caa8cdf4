"""Bundles relax the programme, their duals are feasible, and a sample stands for all rows."""

import numpy as np
import pytest

from dualboost.formulations import FORMULATIONS
from dualboost.matrix.columns import Columns
from dualboost.solvers.reduced_rows import rows_near, sample_of

from ..conftest import dense, stump_columns


@pytest.fixture
def columns():
    return stump_columns(n_rows=300, n_columns=12)


def reduced(reduction, columns):
    held = Columns(reduction.rows(columns.rows))
    for entries in dense(columns).T:
        held.append(reduction.averaged(entries))
    return held


@pytest.mark.parametrize("n_rows", [1, 30, 300, 1000])
def test_every_row_is_in_one_place(columns, n_rows, monkeypatch):
    monkeypatch.setattr("dualboost.solvers.reduced_rows.BUNDLE", 8)
    w = np.full(12, 0.2)
    reduction = rows_near(columns.margins(w), 1.0, columns.counts, n_rows)
    np.testing.assert_array_equal(np.sort(reduction.members), np.arange(300))
    assert reduction.alone.sum() >= min(n_rows, 300)
    assert reduction.sums(columns.counts).sum() == pytest.approx(columns.counts.sum())


def test_bundles_relax_and_their_duals_are_feasible(columns, monkeypatch):
    monkeypatch.setattr("dualboost.solvers.reduced_rows.BUNDLE", 8)
    rng = np.random.default_rng(0)
    programme = FORMULATIONS["lp"](C=0.1).programme(columns.rows, 12)
    chosen_at = rng.exponential(size=12) * 0.2
    reduction = rows_near(columns.margins(chosen_at), 1.0, columns.counts, 20)
    held = reduced(reduction, columns)
    part = reduction.programme(programme, held.rows)
    for scale in (0.0, 0.5, 1.0, 2.0):
        w = scale * chosen_at
        whole = programme.primal_terms(w, columns.margins(w), np.zeros(0))[0]
        bundled = part.primal_terms(w, held.margins(w), np.zeros(0))[0]
        assert bundled <= whole + 1e-6
        if scale in (0.0, 1.0):  # no bundle has rows on both sides of the kink
            assert bundled == pytest.approx(whole, rel=1e-6)
    u = part.lower + rng.random(len(part.lower)) * (part.upper - part.lower)
    spread = reduction.spread(u)
    assert (spread <= programme.upper * (1 + 1e-12)).all()
    np.testing.assert_allclose(columns.edges(spread), held.edges(u), atol=1e-5)
    assert spread.sum() == pytest.approx(u.sum())


def test_idle_rows_have_no_dual_unless_it_matters(columns):
    margins = columns.margins(np.full(12, 0.5))
    reduction = rows_near(margins, 1.0, columns.counts, 20)
    u = np.ones(len(reduction.starts))
    spread = reduction.spread(reduction.active(u, negligible=reduction.n_idle))
    np.testing.assert_array_equal(spread > 0, reduction.alone | (margins < 1.0))
    assert reduction.active(u, negligible=reduction.n_idle - 0.5) is u


def test_rows_that_changed_sides_join_and_without_any_all_do(columns):
    first = rows_near(columns.margins(np.full(12, 0.5)), 1.0, columns.counts, 20)
    moved = columns.margins(np.full(12, 0.3))
    second = rows_near(moved, 1.0, columns.counts, 20, first)
    assert second.alone[first.alone].all()
    assert second.alone[~first.alone & (first.is_below() != (moved < 1.0))].all()
    third = rows_near(moved, 1.0, columns.counts, 20, second)
    assert third.alone.all()


@pytest.mark.parametrize("n_rows", [2, 50, 1000])
def test_a_sample_stands_for_both_classes(columns, n_rows):
    sample = sample_of(columns.rows, n_rows)
    for of_class in (columns.labels > 0, columns.labels < 0):
        inside = of_class[sample.members]
        assert 1 <= inside.sum() <= max(n_rows // 2, 1)
        assert sample.sums(columns.counts)[inside].sum() == pytest.approx(columns.counts[of_class].sum())
    programme = FORMULATIONS["lp"](C=0.1).programme(columns.rows, 1)
    spread = sample.spread(sample.programme(programme, sample.rows(columns.rows)).upper)
    assert (spread <= programme.upper * (1 + 1e-12)).all()
