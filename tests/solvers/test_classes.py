"""Programmes over pairs of rows and classes: their optima against CVXPY, and against those of two classes."""

from itertools import pairwise

import numpy as np
import pytest

from dualboost.boosting.context import make_fit_context
from dualboost.errors import UnsupportedFormulationError
from dualboost.formulations import FORMULATIONS
from dualboost.matrix.columns import Columns
from dualboost.matrix.rows import Rows
from dualboost.solvers import Precision, SolverOptions
from dualboost.targets import BinaryTarget, MulticlassTarget

from ..class_programmes import OF_CLASSES
from ..thoroughness import how_many

PRECISE = Precision(1e-7)


def votes_of(codes, n_classes, n_columns, rng, confidence=False):
    """Learners that are right of two thirds of the rows."""
    for _ in range(n_columns):
        guessed = np.where(rng.random(len(codes)) < 0.6, codes, rng.integers(0, n_classes, len(codes)))
        votes = np.eye(n_classes)[guessed]
        yield 0.3 * votes + 0.7 * rng.dirichlet(np.ones(n_classes), len(codes)) if confidence else votes


def wired(task, targets, columns_of, name, C=None, rows=None, solver=None):
    rows = Rows(np.ones(len(targets)), task.groups(targets)) if rows is None else rows
    operator = task.operator(targets)
    columns = Columns(operator.rows_of_A(rows))
    for votes in columns_of:
        columns.append(operator.apply(votes))
    formulation = FORMULATIONS[name](C=C)
    return make_fit_context(task, targets, formulation, columns, solver or SolverOptions(), PRECISE, rows=rows)


def solved(fit_context):
    solution = fit_context.solver.polish(fit_context.columns, fit_context.programme())
    return solution, fit_context.formulation.objective_sign * solution.primal


@pytest.mark.parametrize("name", OF_CLASSES)
@pytest.mark.parametrize("confidence", [False, True])
def test_the_optimum_is_that_of_cvxpy(name, confidence):
    for seed in range(how_many(1, 8)):
        rng = np.random.default_rng(seed)
        n_classes = 3 + seed % 4
        codes = np.append(np.arange(n_classes), rng.integers(0, n_classes, 37))
        task = MulticlassTarget(np.arange(n_classes))
        votes = votes_of(codes, n_classes, 8, rng, confidence)
        fit_context = wired(task, codes.astype(float), votes, name)
        solution, objective = solved(fit_context)
        A = fit_context.columns.dense().T
        row_of = np.repeat(np.arange(len(codes)), n_classes - 1)
        assert solution.gap <= 1e-7
        expected = OF_CLASSES[name](A, row_of, fit_context.formulation.C)
        assert objective == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_of_two_classes_it_is_the_optimum_for_two_classes(name):
    rng = np.random.default_rng(0)
    codes, counts = rng.integers(0, 2, 60), rng.integers(1, 4, 60).astype(float)
    votes = list(votes_of(codes, 2, 10, rng))
    as_many = wired(MulticlassTarget(np.arange(2)), codes.astype(float), votes, name, rows=Rows(counts, codes))
    signs = np.where(codes == 1, 1.0, -1.0)
    as_two = wired(
        BinaryTarget(np.arange(2)), signs, [v[:, 1] - v[:, 0] for v in votes], name, rows=Rows(counts, codes)
    )
    assert solved(as_many)[1] == pytest.approx(solved(as_two)[1], rel=1e-6)


@pytest.mark.parametrize("name", ["lp", "nm", "erlp"])
def test_a_weight_of_two_is_the_row_twice(name):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, 50)
    votes = list(votes_of(codes, 4, 6, rng))
    twice, counts = np.append(np.arange(50), np.arange(20)), np.where(np.arange(50) < 20, 2.0, 1.0)
    task = MulticlassTarget(np.arange(4))
    repeated = wired(task, codes[twice].astype(float), [one[twice] for one in votes], name)
    C = repeated.formulation.C
    weighted = wired(task, codes.astype(float), votes, name, C, rows=Rows(counts, codes))
    # The precision of erlp depends on the number of rows through eta, which counts weights as rows too.
    assert solved(weighted)[1] == pytest.approx(solved(repeated)[1], rel=1e-6)


@pytest.mark.parametrize("name", ["lp", "nm", "lp-nu", "hard"])
def test_a_linear_programme_ends_at_a_vertex(name):
    """A basic optimum has no more positive weights than rows with an undecided dual, and two; CART-like ties abound."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, 30)
    columns = list(votes_of(codes, 3, 40, rng))
    fit_context = wired(MulticlassTarget(np.arange(3)), codes.astype(float), columns, name)
    solution, _ = solved(fit_context)
    inside = wired(MulticlassTarget(np.arange(3)), codes.astype(float), columns, name)
    inside.solver._vertices = False
    assert np.count_nonzero(solution.w) <= np.count_nonzero(solved(inside)[0].w)
    assert np.count_nonzero(solution.w) <= 32


def test_other_masters_are_refused():
    codes = np.arange(6) % 3
    votes = [np.eye(3)[codes]]
    with pytest.raises(UnsupportedFormulationError, match="more than two classes"):
        wired(MulticlassTarget(np.arange(3)), codes.astype(float), votes, "lp", solver=SolverOptions(method="highs"))


def test_every_solution_is_better_than_the_one_before():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 5, 200)
    fit_context = wired(MulticlassTarget(np.arange(5)), codes.astype(float), list(votes_of(codes, 5, 20, rng)), "nm")
    gaps = [fit_context.solver.solve(fit_context.columns, fit_context.programme()).gap for _ in range(6)]
    assert gaps[0] <= 1e-2
    assert all(later <= 0.11 * earlier or later <= 1e-9 for earlier, later in pairwise(gaps))
