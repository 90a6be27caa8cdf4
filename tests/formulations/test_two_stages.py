"""The programme in two stages as data: its box, its constant, and what its values enclose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost.formulations import LexiBoost
from dualboost.matrix.rows import Rows
from dualboost.solvers import FallbackSolver, InteriorPointSolver, Staged

from ..conftest import stump_columns

COLUMNS = stump_columns(n_rows=90, n_columns=12)
PROGRAMME = LexiBoost(C=4.0).programme(COLUMNS.rows, 12)
SOLVED = Staged(FallbackSolver([InteriorPointSolver], 1e-6), warm_starts=False).solve(COLUMNS, PROGRAMME)
AFTER = SOLVED.programme


def test_it_knows_its_stages():
    assert PROGRAMME.stages is PROGRAMME
    assert AFTER.inner().stages is None


def test_shares_add_up_to_one_in_each_class():
    for positive in (True, False):
        assert PROGRAMME.shares[(COLUMNS.labels > 0) == positive].sum() == pytest.approx(1.0)
    np.testing.assert_allclose(PROGRAMME.at((0.2, 0.8)).upper.sum(), 1.0)


@given(seed=st.integers(0, 10_000), weight=st.floats(0.01, 0.99))
def test_any_weights_and_any_duals_at_any_class_weights_enclose_the_optimum(seed, weight):
    rng = np.random.default_rng(seed)
    programme = AFTER.at((1.0 - weight, weight))
    w, u = 4.0 * rng.dirichlet(np.ones(12)), rng.random(COLUMNS.n_rows) * programme.upper
    primal, _ = programme.primal_terms(w, COLUMNS.margins(w), np.zeros(0))
    assert programme.dual_value(u, COLUMNS.edges(u)) <= SOLVED.primal + 1e-9
    assert primal >= SOLVED.dual - 1e-9


@given(seed=st.integers(0, 10_000))
def test_no_weights_have_less_than_the_least_loss_of_a_class(seed):
    w = 4.0 * np.random.default_rng(seed).dirichlet(np.full(12, 0.3))
    assert (AFTER.losses(COLUMNS.margins(w), np.zeros(0)) >= AFTER.least[:, 0] - 1e-12).all()


def test_what_is_not_known_of_the_least_losses_is_in_the_gap():
    """The lower end counts for the primal value, the upper end for the dual one."""
    vague = AFTER.at(AFTER.class_weights, AFTER.least + np.array([-0.01, 0.02]))
    primal, _ = vague.primal_terms(SOLVED.w, SOLVED.margins, SOLVED.rho)
    assert primal == pytest.approx(SOLVED.primal + 0.01)
    assert vague.dual_value(SOLVED.u, SOLVED.edges) == pytest.approx(SOLVED.dual - 0.02)


def test_a_class_alone_leaves_the_other_out():
    alone = AFTER.alone(1)
    assert (alone.upper[COLUMNS.labels < 0] == 0).all()
    value, _ = alone.primal_terms(SOLVED.w, SOLVED.margins, SOLVED.rho)
    assert value == AFTER.losses(SOLVED.margins, SOLVED.rho)[1]
    assert (alone.inner().upper > 0).all()


@pytest.mark.parametrize("groups", [None, np.zeros(5, dtype=np.intp), np.ones(5, dtype=np.intp)], ids=str)
def test_rows_of_one_class_have_one_stage(groups):
    programme = LexiBoost(C=4.0).programme(Rows(np.ones(5), groups), 3)
    assert programme.stages is None
    np.testing.assert_allclose(programme.upper, 0.2)
    assert programme.dual_value(programme.upper, np.zeros(3)) == pytest.approx(1.0)
