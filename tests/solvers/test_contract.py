"""What every master in the registry promises, for every formulation it supports."""

import numpy as np
import pytest

from dualboost.errors import InvalidParameterError, UnsupportedFormulationError
from dualboost.formulations import FORMULATIONS
from dualboost.solvers import SOLVERS, FallbackSolver, Precision, Staged, make_fallback_solver, n_used

from ..conftest import TRIED_FORMULATIONS, dense, expanded, stump_columns, stump_shares, three_values_of_C
from ..paper_programmes import paper_optimum
from ..thoroughness import every

TOLERANCE = 1e-6


def cases():
    """Every (master, formulation) that goes together."""
    for name in TRIED_FORMULATIONS:
        columns = stump_columns(n_rows=10, n_columns=2, formulation=name)
        programme = FORMULATIONS[name]().resolve(columns.counts.sum()).programme_over(columns, 2)
        yield from ((solver, name) for solver in SOLVERS if SOLVERS[solver].supports(programme))


CASES = list(cases())
WITH_INTERCEPT = [(*case, True) for case in CASES if not FORMULATIONS[case[1]].has_sides]
WITH_AND_WITHOUT = [(*case, False) for case in CASES] + WITH_INTERCEPT


def alone(solver, programme):
    """The master with no other to fall back on."""
    fallback_solver = FallbackSolver([SOLVERS[solver]], TOLERANCE)
    return fallback_solver if programme.stages is None else Staged(fallback_solver, warm_starts=False)


def solved(solver, name, columns, C, intercept=False):
    formulation = FORMULATIONS[name](C=C).resolve(columns.counts.sum())
    programme = formulation.programme_over(columns, columns.n_columns)
    if intercept:
        programme = programme.with_intercepts(columns.labels[None, :])
    return formulation, alone(solver, programme).solve(columns, programme)


@pytest.mark.parametrize("which_C", every([0, 1, 2], few=[1]))
@pytest.mark.parametrize(("solver", "name", "intercept"), WITH_AND_WITHOUT)
def test_objective_is_the_papers(solver, name, which_C, intercept):
    columns = stump_columns(formulation=name)
    C = three_values_of_C(name, columns.counts.sum())[which_C]
    formulation, solution = solved(solver, name, columns, C, intercept)
    classes = np.repeat(columns.labels, columns.counts.astype(int))
    labels = classes if intercept else None
    expected = paper_optimum(name, expanded(columns), C, classes, labels, stump_shares(columns))
    assert formulation.objective_sign * solution.primal == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert 0 <= solution.gap <= TOLERANCE


@pytest.mark.parametrize(("solver", "name", "intercept"), WITH_AND_WITHOUT)
def test_signs_of_the_duals(solver, name, intercept):
    """g'(u) + margin - E'rho is 0 inside the box, >= 0 at the lower and <= 0 at the upper bound; w*slack = 0."""
    columns = stump_columns(formulation=name)
    C = three_values_of_C(name, columns.counts.sum())[1]
    _, solution = solved(solver, name, columns, C, intercept)
    programme = solution.programme
    boxed = np.isfinite(programme.upper)
    lower, upper = np.where(boxed, programme.lower, -1e6), np.where(boxed, programme.upper, 1e6)
    sliver = 1e-9 * (upper - lower)
    u = np.clip(solution.u, lower + sliver, upper - sliver)  # the slope of an entropy is infinite at 0
    residual = programme.term.slope(u) + programme.shifted(solution.margins, solution.rho)
    inside = (u > lower + 1e6 * sliver) & (u < upper - 1e6 * sliver) | ~boxed
    assert np.abs(residual[inside]).max(initial=0.0) < 1e-3
    assert residual[solution.u <= lower + sliver].min(initial=0.0) > -1e-3
    assert residual[solution.u >= upper - sliver].max(initial=0.0) < 1e-3
    slack = solution.threshold + programme.weight_set.ridge * solution.w - solution.edges
    assert slack.min() > -1e-4 * np.abs(solution.u).sum()
    assert (solution.w * slack).max() < 1e-4 * solution.w.sum() * np.abs(solution.u).sum()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", ["lp", "nm"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_linear_programmes_end_in_a_vertex(solver, name, intercept):
    """At a vertex the rows on the kink determine the used weights: their columns are independent there."""
    columns = stump_columns(n_rows=150, n_columns=40, multiplicities=False)
    C = 0.1
    _, solution = solved(solver, name, columns, C, intercept)
    programme = solution.programme
    used = solution.w > 0
    on_kink = np.abs(programme.shifted(solution.margins, solution.rho) - programme.term.kink) < 1e-7
    active = dense(columns)[on_kink][:, used]
    if programme.weight_set.total is not None:
        active = np.vstack([active, np.ones(used.sum())])
    assert np.linalg.matrix_rank(active, tol=1e-8) == used.sum()
    assert 0 < n_used(solution.w) < columns.n_columns


@pytest.mark.parametrize(("solver", "name"), CASES)
def test_one_column_and_two_rows(solver, name):
    columns = stump_columns(n_rows=2, n_columns=1, seed=4, multiplicities=False, formulation=name)
    _, solution = solved(solver, name, columns, None)
    assert solution.gap <= TOLERANCE
    assert solution.w.shape == (1,)


@pytest.mark.parametrize(("solver", "name"), CASES)
def test_columns_may_be_added_between_solves(solver, name):
    """A master that keeps a basis or an iterate agrees with one that starts anew."""
    whole = stump_columns(n_columns=12, formulation=name)
    growing = stump_columns(n_columns=4, formulation=name)
    formulation = FORMULATIONS[name]().resolve(whole.counts.sum())
    kept = alone(solver, formulation.programme_over(growing, 4))
    for new in range(4, 12):
        kept.solve(growing, formulation.programme_over(growing, growing.n_columns))
        growing.take(whole, [new])
    programme = formulation.programme_over(whole, whole.n_columns)
    fresh = alone(solver, programme).solve(whole, programme)
    assert kept.solve(growing, programme).primal == pytest.approx(fresh.primal, rel=2e-6)


def test_highs_refuses_what_is_not_linear():
    columns = stump_columns(n_rows=10, n_columns=1)
    programme = FORMULATIONS["erlp"]().resolve(columns.counts.sum()).programme(columns.rows, 1)
    with pytest.raises(UnsupportedFormulationError, match=r"'highs' cannot solve formulation 'erlp'.*clarabel"):
        make_fallback_solver("highs", programme, "erlp", Precision(1e-6))


def test_unknown_solvers_are_refused():
    columns = stump_columns(n_rows=10, n_columns=1)
    programme = FORMULATIONS["lp"]().resolve(columns.counts.sum()).programme(columns.rows, 1)
    with pytest.raises(InvalidParameterError, match="method='gurobi' is not known; choose one of"):
        make_fallback_solver("gurobi", programme, "lp", Precision(1e-6))
