"""Few rows at a time, and the optimum over all of them."""

import warnings
from functools import partial

import numpy as np
import pytest

from dualboost import CartLearner, DualBoostClassifier, SolverOptions
from dualboost.errors import InvalidParameterError, SolverWarning, UnsupportedFormulationError
from dualboost.formulations import FORMULATIONS
from dualboost.solvers import ActiveRows, FallbackSolver, WarmStartedSolver
from dualboost.solvers import reduced_rows as module
from dualboost.solvers.interior_point import InteriorPointSolver

from ..conftest import ALL_FORMULATIONS, SMALL_DATASETS, small_dataset, stump_columns
from ..paper_programmes import PAPER, lp
from ..thoroughness import every, iterations

SAMPLES = every((2, 10, 40), few=(2, 40))
without_twins = partial(DualBoostClassifier, calibration="training")
"""Whose probabilities, which nobody asks for here, take no further fits."""


@pytest.fixture
def small_bundles(monkeypatch):
    """Bundles and bands that matter on so few rows."""
    monkeypatch.setattr("dualboost.solvers.reduced_rows.BUNDLE", 4)
    monkeypatch.setattr(module, "NEAR", 0.01)


def few_rows(n, **options):
    return SolverOptions(active_rows=n, **options)


def signed_votes(clf, X, y):
    return np.where(y == clf.classes_[1], 1.0, -1.0)[:, None] * clf.votes(X)


def same_model(one, other, X):
    np.testing.assert_array_equal(one.votes(X), other.votes(X))
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-12)
    np.testing.assert_allclose(one.history_["objective"], other.history_["objective"], rtol=1e-12)


@pytest.mark.usefixtures("small_bundles")
@pytest.mark.parametrize("n_rows", SAMPLES)
@pytest.mark.parametrize("C", [0.05, 0.4])
@pytest.mark.parametrize("dataset", every(SMALL_DATASETS, few=("integers", "ringnorm")))
@pytest.mark.parametrize("formulation", ["lp", "cg"])
def test_the_result_is_the_optimum_of_all_rows(formulation, dataset, C, n_rows):
    X, y = small_dataset(dataset)
    clf = without_twins(formulation, C=C, max_depth=2, max_trees=30, solver=few_rows(n_rows)).fit(X, y)
    assert clf.objective_ == pytest.approx(PAPER[formulation](signed_votes(clf, X, y), C), rel=1e-6)
    assert clf.gap_ <= 1e-6
    assert clf.stop_reason_ != "solver_failed"
    u = clf.duals_
    assert (u >= 0).all()
    assert (u <= C * (1 + 1e-9)).all()
    if formulation == "lp":
        assert (signed_votes(clf, X, y).T @ u <= 1 + 1e-9).all()


@pytest.mark.usefixtures("small_bundles")
@pytest.mark.parametrize("solver", ["auto", "highs", "clarabel"])
@pytest.mark.parametrize("dataset", every(SMALL_DATASETS, few=("integers", "ringnorm")))
def test_every_iteration_is_the_optimum_of_all_rows_where_that_is_asked_for(dataset, solver):
    X, y = small_dataset(dataset)
    solver = few_rows(20, reoptimize="every", method=solver)
    clf = without_twins("lp", C=0.2, max_trees=12, solver=solver).fit(X, y)
    A = signed_votes(clf, X, y)
    for t in iterations(clf.n_generated_):
        assert clf.history_["objective"][t - 1] == pytest.approx(lp(A[:, :t], 0.2), rel=1e-6), t
    assert clf.history_["gap"].max() <= 1e-6


@pytest.mark.usefixtures("small_bundles")
def test_objective_and_gap_on_the_way_are_those_of_all_rows():
    X, y = small_dataset("ringnorm")
    clf = without_twins("lp", C=0.2, max_trees=30, solver=few_rows(20)).fit(X, y)
    A = signed_votes(clf, X, y)
    for t, (objective, gap) in enumerate(zip(clf.history_["objective"], clf.history_["gap"], strict=True), start=1):
        w = clf.fitted_.stages.weights[t - 1]
        value = w.sum() + 0.2 * np.maximum(1.0 - A[:, :t] @ w, 0.0).sum()
        assert objective == pytest.approx(value, rel=1e-5)
        assert objective * (1 - gap) <= lp(A[:, :t], 0.2) * (1 + 1e-6)


@pytest.mark.usefixtures("small_bundles")
def test_with_an_exact_learner_it_reaches_the_optimum_of_lp():
    X, y = small_dataset("twonorm")
    plain, reduced = (
        without_twins("lp", C=0.3, learner="optimal", max_trees=500, solver=solver).fit(X, y)
        for solver in (None, few_rows(20))
    )
    assert plain.certified_
    assert reduced.certified_
    assert reduced.objective_ == pytest.approx(plain.objective_, rel=2e-6)
    bounds = reduced.history_["bound"]
    assert (bounds[np.isfinite(bounds)] <= plain.objective_ * (1 + 1e-6)).all()


@pytest.mark.usefixtures("small_bundles")
@pytest.mark.parametrize("depth", [1, 3])
def test_weights_equal_repeated_rows_in_any_order(depth):
    X, y = small_dataset("twonorm")
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    order = np.random.default_rng(1).permutation(weights.sum())
    options = {"C": 0.1, "max_depth": depth, "max_trees": 20, "solver": few_rows(20)}
    weighted = without_twins("lp", **options).fit(X, y, sample_weight=weights)
    repeated = without_twins("lp", **options).fit(np.repeat(X, weights, axis=0)[order], np.repeat(y, weights)[order])
    same_model(weighted, repeated, X)


@pytest.mark.usefixtures("small_bundles")
@pytest.mark.parametrize(
    ("learner", "schedule"),
    [
        (CartLearner(criterion="edge"), "all"),
        (["cart", CartLearner(max_depth=2)], "rotate"),
        (CartLearner(voting="confidence"), "all"),
    ],
)
def test_other_learners(learner, schedule):
    X, y = small_dataset("waveform")
    solver = few_rows(20, schedule=schedule)
    clf = without_twins("lp", C=0.2, max_trees=20, learner=learner, solver=solver).fit(X, y)
    assert clf.objective_ == pytest.approx(lp(signed_votes(clf, X, y), 0.2), rel=1e-6)


@pytest.mark.usefixtures("small_bundles")
def test_the_best_iteration_on_held_out_rows_is_kept():
    X, y = small_dataset("ringnorm")
    held_out = {"validation_fraction": 0.3, "n_iter_no_change": 5, "random_state": 0}
    clf = without_twins("lp", C=0.2, max_trees=40, solver=few_rows(20), **held_out).fit(X, y)
    assert clf.gap_ <= 1e-6
    assert clf.stop_reason_ == "no_improvement"
    kept = int(np.flatnonzero(clf.history_["objective"] == clf.objective_)[0])
    assert kept < clf.n_iter_ - 1
    assert not clf.weights_[kept + 1 :].any()


@pytest.mark.usefixtures("small_bundles")
def test_a_rare_class_is_in_the_sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.arange(400) < 8
    X[y, 0] += 10.0
    clf = without_twins("lp", C=0.5, max_trees=10, solver=few_rows(20)).fit(X, y)
    assert clf.score(X, y) == 1.0


@pytest.mark.parametrize("formulation", ["lp", "cg"])
def test_no_more_rows_than_the_sample_are_all_rows(formulation):
    X, y = small_dataset("twonorm")
    plain, reduced = (
        without_twins(formulation, max_trees=20, solver=solver).fit(X, y) for solver in (None, few_rows(150))
    )
    same_model(plain, reduced, X)


def test_few_rows_take_part_on_many_rows(monkeypatch):
    """The point of it: masters and pricers see a fraction of the rows."""
    seen = []
    hold = ActiveRows._hold

    def noted(self, reduction, columns):
        hold(self, reduction, columns)
        seen.append(len(reduction.starts))

    monkeypatch.setattr(ActiveRows, "_hold", noted)
    X, y = small_dataset("twonorm", n=20_000)
    clf = without_twins("lp", max_trees=20, solver=few_rows(1000)).fit(X, y)
    assert clf.gap_ <= 1e-6
    assert max(seen) < 0.5 * len(y)


def test_a_failing_solver_leaves_a_feasible_ensemble_over_all_rows(monkeypatch):
    monkeypatch.setattr(
        FallbackSolver, "tolerance", property(lambda self: -1.0, lambda self, value: None), raising=False
    )
    X, y = small_dataset("twonorm")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = without_twins("lp", C=0.2, max_trees=5, solver=few_rows(20, reoptimize="every")).fit(X, y)
    assert any(issubclass(warning.category, SolverWarning) for warning in caught)
    assert clf.stop_reason_ == "solver_failed"
    assert len(clf.duals_) == len(y)


@pytest.mark.parametrize("formulation", ["lp", "cg"])
def test_calls_without_a_new_column_end_at_the_optimum(formulation):
    columns = stump_columns(n_rows=400, n_columns=25)
    programme = FORMULATIONS[formulation]().resolve(columns.counts.sum()).programme(columns.rows, 25)
    solver = ActiveRows(WarmStartedSolver(FallbackSolver([InteriorPointSolver], 1e-6)), 50)
    gaps = [solver.solve(columns, programme).gap for _ in range(60)]
    assert min(gaps) <= 1e-6


@pytest.mark.parametrize("n_rows", [1, 0, 2.5, "many", True])
def test_impossible_numbers_are_refused(n_rows):
    with pytest.raises(InvalidParameterError, match="active_rows="):
        few_rows(n_rows)


def test_formulations_without_idle_rows_are_refused():
    X, y = small_dataset("twonorm")
    refused = []
    for formulation in ALL_FORMULATIONS:
        clf = without_twins(formulation, max_trees=2, solver=few_rows(20))
        if formulation in ("lp", "cg"):
            assert clf.fit(X, y).gap_ <= 1e-6
            continue
        with pytest.raises(UnsupportedFormulationError, match=rf"active_rows=20.*formulation '{formulation}'"):
            clf.fit(X, y)
        refused.append(formulation)
    assert set(refused) == set(FORMULATIONS) - {"lp", "cg"}
