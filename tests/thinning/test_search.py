"""Ensembles of members against independent solves, from synthetic outputs."""

from dataclasses import replace

import numpy as np
import pytest

from dualboost.formulations import FORMULATIONS
from dualboost.targets.classes import accuracy
from dualboost.thinning.base import Adapter
from dualboost.thinning.links import Logit
from dualboost.thinning.member_solver import EXACT, LOOSE, MemberSolver
from dualboost.thinning.result import take
from dualboost.thinning.reweighting import METHODS, Search
from dualboost.thinning.rows import Members, ModelRows
from dualboost.thinning.trials import Trial

from ..conftest import THINNING_FORMULATIONS, dense
from ..paper_programmes import paper_optimum

N_MEMBERS, N_ROWS = 30, 150


class Synthetic(Adapter):
    """Members of random outputs; only what a search reads."""

    link = Logit()
    weights = np.ones(N_MEMBERS)
    intercept = 0.0
    classes = np.array([0, 1])

    def __init__(self, model=None):
        pass

    def raw_scores(self, model, X):
        raise NotImplementedError

    saved_bytes = raw_scores


def rows_with(outputs, labels, counts):
    members, leaf_ids = Members.of_outputs(outputs)
    target, full_scores = Synthetic().target, outputs.sum(axis=0)
    return ModelRows(members, leaf_ids, labels, counts, target, Synthetic.link, full_scores)


def rows_of(seed=0, counts=None, change=lambda outputs: None):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(N_ROWS) < 0.45, 1.0, -1.0)
    outputs = (0.3 * labels + rng.normal(size=(N_MEMBERS, N_ROWS))).astype(np.float32)
    outputs *= np.linspace(1.0, 0.2, N_MEMBERS, dtype=np.float32)[:, None]
    change(outputs)
    return rows_with(outputs, labels, np.ones(N_ROWS) if counts is None else counts)


def search_on(rows, name="lp", method="imitate", max_trees=None):
    return Search(METHODS[method], Trial(Synthetic(), rows, rows), FORMULATIONS[name](), max_trees)


def middle_C(name, n=N_ROWS):
    return 1.0 if name == "lp" else float(np.median(FORMULATIONS[name]().C_grid(n)))


@pytest.mark.parametrize("name", THINNING_FORMULATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_one_C_is_the_optimum_of_the_papers_programme(name, method):
    search = search_on(rows_of(), name, method)
    point = search.at(middle_C(name))
    classes = METHODS[method].targets(Synthetic(), rows_of())
    labels = classes if METHODS[method].imitates else None
    expected = paper_optimum(name, dense(search.columns), middle_C(name), classes, labels)
    assert FORMULATIONS[name].objective_sign * point.solution.primal == pytest.approx(expected, rel=2e-6)
    assert 0 <= point.solution.gap <= EXACT.precision.tolerance


@pytest.mark.parametrize("name", THINNING_FORMULATIONS)
def test_columns_that_take_part_are_enough(name):
    """The certificate is over all columns; those left out have no edge that would improve the master."""
    search = search_on(rows_of(), name)
    solver = MemberSolver(search._fit_context, LOOSE)
    for C in FORMULATIONS[name]().C_grid(N_ROWS)[::-3]:
        solution = solver.solve(search._programme(float(C)))
        assert len(solution.w) == N_MEMBERS
        assert solution.gap <= LOOSE.precision.tolerance


def test_grown_ensembles_grow_and_end_in_the_optimum():
    search = search_on(rows_of())
    points = list(search.grown(1.0))
    sizes = [len(point.members) for point in points]
    assert sizes[0] == 1
    assert max(np.diff(sizes)) <= max(1, 0.15 * max(sizes))
    objectives = [point.solution.primal for point in points]
    assert max(np.diff(objectives)) <= 2 * LOOSE.precision.tolerance * objectives[0]
    assert objectives[-1] == pytest.approx(search.at(1.0).solution.primal, rel=2 * LOOSE.precision.tolerance)


@pytest.mark.parametrize("name", THINNING_FORMULATIONS)
def test_no_more_members_than_asked_for(name):
    search = search_on(rows_of(), name, max_trees=4)
    grid = FORMULATIONS[name]().C_grid(N_ROWS)
    sizes = [len(point.members) for point in (*search.grown(float(grid[-1])), *search.along(grid))]
    assert 0 < max(sizes) <= 4
    assert len(search.at(middle_C(name)).members) <= 4


def test_weights_are_in_the_units_of_the_outputs():
    rows = rows_of()
    point = search_on(rows).at(1.0)
    scores = point.intercept + point.weights @ np.array([rows.outputs(j) for j in point.members])
    assert accuracy(scores, rows.labels, rows.counts) == point.train_score
    assert point.train_score > 0.9


def test_multiplicities_are_repetitions():
    counts = np.random.default_rng(1).integers(1, 4, N_ROWS)
    rows = rows_of(counts=counts.astype(float))
    repeated = replace(rows.part(np.repeat(np.arange(N_ROWS), counts)), counts=np.ones(counts.sum()))
    merged, single = search_on(rows).at(0.5), search_on(repeated).at(0.5)
    np.testing.assert_array_equal(merged.members, single.members)
    np.testing.assert_allclose(merged.weights, single.weights, rtol=1e-4)
    assert merged.intercept == pytest.approx(single.intercept, rel=1e-4, abs=1e-6)


def test_constant_and_repeated_members_take_no_part():
    def change(outputs):
        outputs[3], outputs[5] = outputs[7], 0.5

    search = search_on(rows_of(change=change))
    assert set(range(N_MEMBERS)) - set(search.members) == {5, 7}


def test_the_smallest_that_is_good_enough_is_taken():
    points = list(search_on(rows_of()).grown(1.0))
    enough = sorted(point.score for point in points)[len(points) // 2]
    taken = take(points, enough)
    assert taken.score >= enough
    assert all(point.score < enough for point in points if len(point.members) < len(taken.members))
    assert take(points, 1.1) is None
    assert take(points, np.inf).score == max(point.score for point in points)
