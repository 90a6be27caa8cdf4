"""How the formulations relate: limits, changes of scale, and special cases of one another."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from dualboost import DualBoostClassifier
from dualboost.errors import InvalidParameterError
from dualboost.formulations import (
    ConvexBoost,
    CqBoost,
    ERLPBoost,
    HardMarginBoost,
    LexiBoost,
    LPBoost,
    MDBoost,
    MDFullBoost,
    NuLPBoost,
)
from dualboost.formulations.convex import LOSSES
from dualboost.solvers import SOLVERS, FallbackSolver, Precision, SolverOptions, WarmStartedSolver, make_reoptimiser
from dualboost.solvers.interior_point import InteriorPointSolver

from ..conftest import columns_of, dense, expanded, stump_columns
from ..paper_programmes import convex
from ..thoroughness import every, how_many

PENALTIES = ("l1", "l2", "linf")


def optimum(formulation, columns, tolerance=1e-6):
    resolved = formulation.resolve(columns.counts.sum())
    programme = resolved.programme_over(columns, columns.n_columns)
    solver = SolverOptions(method="ipm", reoptimize="every")
    return make_reoptimiser(solver, programme, resolved.name, Precision(tolerance)).solve(columns, programme)


def separable_columns(n_rows=40):
    """Every row is right in more than half of the columns."""
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(n_rows) < 0.5, 1.0, -1.0)
    return columns_of(labels, votes=[np.where(np.arange(n_rows) % 9 == k, -labels, labels) for k in range(9)])


@pytest.mark.parametrize("nu", [0.5, 0.6, 0.8])
def test_lp_and_lp_nu_give_the_same_ensemble_up_to_scale(nu):
    """The ensemble of lp-nu, divided by its margin, is optimal for lp; and the other way round."""
    columns = stump_columns()
    n_samples = columns.counts.sum()
    soft = optimum(NuLPBoost(C=nu), columns)
    value, margin = -soft.primal, float(soft.rho[0])
    cost = 1.0 / (nu * n_samples * value)
    hard = optimum(LPBoost(C=cost), columns)
    scaled = soft.w / margin
    slack = columns.counts @ np.maximum(1.0 - columns.margins(scaled), 0.0)
    assert scaled.sum() + cost * slack == pytest.approx(hard.primal, rel=1e-6)
    assert hard.primal == pytest.approx(1.0 / value, rel=1e-6)
    shares = hard.w / hard.w.sum()
    missing = columns.counts @ np.maximum(1.0 / hard.w.sum() - columns.margins(shares), 0.0)
    assert 1.0 / hard.w.sum() - missing / (nu * n_samples) == pytest.approx(value, rel=1e-6)


def test_erlp_approaches_lp_nu():
    columns = stump_columns()
    n_samples = columns.counts.sum()
    limit = -optimum(NuLPBoost(C=0.3), columns).primal
    distances = [
        abs(-optimum(ERLPBoost(C=0.3 * n_samples, epsilon=epsilon), columns).primal - limit)
        for epsilon in (1.0, 0.1, 0.01, 0.001)
    ]
    assert (np.diff(distances) < 0).all()
    assert distances[-1] < 1e-3
    assert distances[0] > 1e-2


def test_hard_is_lp_nu_that_gives_up_no_row():
    columns = separable_columns()
    worst = -optimum(HardMarginBoost(), columns).primal
    assert worst == pytest.approx(7 / 9)
    assert -optimum(NuLPBoost(C=1.0 / columns.n_rows), columns).primal == pytest.approx(worst, rel=1e-6)
    assert -optimum(NuLPBoost(C=1.0), columns).primal > worst


def test_lp_nu_at_one_is_the_mean_margin():
    columns = stump_columns()
    best = columns.edges(columns.counts / columns.counts.sum()).max()
    assert -optimum(NuLPBoost(C=1.0), columns).primal == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("C", [0.5, 2, None])
def test_hard_has_no_hyperparameter(C):
    if C is None:
        assert HardMarginBoost(C=C).resolve(10.0).C == 1.0
        return
    with pytest.raises(InvalidParameterError, match=r"no hyperparameter.*lp-nu"):
        HardMarginBoost(C=C).resolve(10.0)


def test_convex_reaches_the_limit_of_adaboost():
    """The least exponential loss over the same columns, as the cost of the weights goes to zero."""
    columns = stump_columns()
    w = cp.Variable(columns.n_columns, nonneg=True)
    least = cp.Problem(cp.Minimize(cp.sum(cp.exp(-expanded(columns) @ w)))).solve(solver=cp.CLARABEL)
    losses = []
    for C in (1.0, 100.0, 1e4):
        solution = optimum(ConvexBoost(C=C), columns)
        losses.append(float(columns.counts @ np.exp(-columns.margins(solution.w))))
    assert losses[0] > losses[1] > least
    assert losses[2] == pytest.approx(least, rel=1e-5)


def test_md_full_is_md_on_columns_of_mean_zero():
    rng = np.random.default_rng(0)
    labels = np.repeat([1.0, -1.0], 50)
    columns = columns_of(labels, votes=[labels * rng.permutation(np.repeat([1.0, -1.0], 50)) for _ in range(8)])
    full, plain = optimum(MDFullBoost(C=3.0), columns), optimum(MDBoost(C=3.0), columns)
    assert full.primal == pytest.approx(plain.primal, rel=1e-6)
    np.testing.assert_allclose(full.w, plain.w, atol=1e-3)


@pytest.mark.parametrize("C", [0.5, 3.0, 20.0])
def test_md_solves_cq_at_the_mean_margin_that_it_reaches(C):
    columns = stump_columns()
    margins = expanded(columns) @ (optimum(MDBoost(C=C), columns).w / C)
    cq = optimum(CqBoost(C=float(margins.mean())), stump_columns(formulation="cq"))
    assert (margins**2).mean() == pytest.approx(cq.primal, rel=1e-5)
    assert cq.margins[-1] == pytest.approx(margins.mean(), rel=1e-5)


def test_md_full_is_the_mean_less_half_the_variance():
    columns = stump_columns()
    solution = optimum(MDFullBoost(C=3.0), columns)
    margins = np.repeat(solution.margins, columns.counts.astype(int))
    assert -solution.primal == pytest.approx(len(margins) * (margins.mean() - 0.5 * margins.var()), rel=1e-6)
    assert float(solution.rho[0]) == pytest.approx(margins.mean(), abs=1e-4)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", every(["ipm", "clarabel"], few=["ipm"]))
def test_every_loss_and_penalty(solver, loss, penalty, intercept):
    columns = stump_columns()
    formulation = ConvexBoost(loss=loss, penalty=penalty)
    for C in np.quantile(formulation.C_grid(columns.counts.sum()), how_many([0.8], [0.6, 0.8, 1.0])):
        programme = ConvexBoost(float(C), loss, penalty).programme(columns.rows, columns.n_columns)
        labels = None
        if intercept:
            programme = programme.with_intercepts(columns.labels[None, :])
            labels = np.repeat(columns.labels, columns.counts.astype(int))
        solution = FallbackSolver([SOLVERS[solver]], 1e-6).solve(columns, programme)
        assert solution.primal == pytest.approx(convex(expanded(columns), C, labels, loss, penalty), rel=1e-6)
        assert 0 <= solution.gap <= 1e-6
        assert (solution.u < programme.upper).all() or loss in ("huber", "logistic")


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_and_penalty_from_the_iterate_before(loss, penalty):
    """A step after each column, a polish, and another C: the optimum of a solve from the start."""
    whole, columns = stump_columns(n_columns=15), stump_columns(n_columns=1)
    formulation = ConvexBoost(loss=loss, penalty=penalty).resolve(whole.counts.sum())
    solver = WarmStartedSolver(FallbackSolver([InteriorPointSolver], 1e-6))
    for new in range(1, 15):
        solver.solve(columns, formulation.programme(columns.rows, columns.n_columns))
        columns.take(whole, [new])
    solver.solve(columns, formulation.programme(columns.rows, columns.n_columns))
    for C in (formulation.C, 3.0 * formulation.C, 0.3 * formulation.C):
        moved = ConvexBoost(C, loss, penalty)
        programme = moved.programme(columns.rows, columns.n_columns)
        solver.move_to(columns, programme)
        solution = solver.polish(columns, programme)
        assert solution.gap <= 1e-6
        assert solution.primal == pytest.approx(optimum(moved, whole).primal, rel=2e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_that_vanishes_is_certified(loss):
    """Bounded weights cost nothing: on separable rows the optimum is near zero, which no gap can be relative to."""
    X, y = load_breast_cancer(return_X_y=True)
    clf = DualBoostClassifier(
        ConvexBoost(loss=loss, penalty="linf"), C=10.0, max_depth=3, calibration="training", max_trees=30
    ).fit(X, y)
    assert clf.gap_ <= 1e-6
    assert clf.stop_reason_ != "solver_failed"
    assert clf.objective_ < 1e-3 * len(y)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_smallest_useful_C_of_l1(loss):
    columns = stump_columns()
    least = ConvexBoost(loss=loss).smallest_useful_C(float(columns.edges(columns.counts).max()))
    assert not optimum(ConvexBoost(0.99 * least, loss), columns).w.any()
    assert optimum(ConvexBoost(1.05 * least, loss), columns).w.any()


def unbalanced_columns(rare=1.0):
    """Four in five rows of the rare class are left out; the others count for so much."""
    whole = stump_columns(n_rows=400)
    kept = (whole.labels < 0) | (np.arange(400) % 5 == 0)
    counts = np.where(whole.labels > 0, rare, 1.0) * whole.counts
    return columns_of(whole.labels[kept], counts[kept], (dense(whole) * whole.labels[:, None])[kept].T)


@pytest.mark.parametrize("C", [1.5, 5.0, 20.0])
def test_lexi_is_the_hinge_loss_with_costs_that_it_finds_itself(C):
    """The least, over all costs of the classes, is largest at its own; both classes exceed their least by the same."""
    columns = unbalanced_columns()
    solution = optimum(LexiBoost(C=C), columns)
    found = solution.programme
    w, xi = cp.Variable(columns.n_columns), cp.Variable(columns.n_rows)
    constraints = [dense(columns) @ w + xi >= 1, cp.sum(w) == C, w >= 0, xi >= 0]
    least = cp.Problem(cp.Minimize(found.upper @ xi), constraints).solve(solver=cp.HIGHS)
    assert least - np.dot(found.class_weights, found.least[:, 1]) == pytest.approx(solution.primal, rel=1e-5)
    excess = found.losses(solution.margins, solution.rho) - found.least[:, 0]
    np.testing.assert_allclose(excess, solution.primal, rtol=1e-6)


def test_lexi_does_not_look_at_the_size_of_a_class():
    columns, rarer = unbalanced_columns(), unbalanced_columns(rare=0.01)
    one, other = (optimum(LexiBoost(C=5.0), rows) for rows in (columns, rarer))
    assert one.primal == pytest.approx(other.primal, rel=1e-6)
    np.testing.assert_allclose(columns.margins(one.w), columns.margins(other.w), atol=1e-4)


def test_unknown_losses_and_penalties_are_refused():
    with pytest.raises(InvalidParameterError, match=r"loss='hinge'.*logistic"):
        ConvexBoost(loss="hinge")
    with pytest.raises(InvalidParameterError, match=r"penalty='l0'.*linf"):
        ConvexBoost(penalty="l0")
