"""A fit over workers finds the trees and the objective of a fit on one machine with the same grower."""

import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_regression

from dualboost import DualBoostClassifier, DualBoostRegressor, deadlines
from dualboost.datasets import make_ringnorm
from dualboost.errors import InvalidDataError, InvalidParameterError, UnsupportedFormulationError

from ..thoroughness import every
from .running import fitted_by, on_workers, three_classes

PAPER = ("lp", "nm", "cg", "md", "qrlp", "erlp")


def assert_same(alone, models):
    for model in models:
        assert model.figures.objective == pytest.approx(alone.figures.objective, rel=1e-8)
        assert len(model.ensemble.learners) == len(alone.ensemble.learners)
        for one, other in zip(model.ensemble.learners, alone.ensemble.learners, strict=True):
            np.testing.assert_array_equal(one.feature, other.feature)
            np.testing.assert_array_equal(one.threshold, other.threshold)
        np.testing.assert_allclose(model.ensemble.weights, alone.ensemble.weights, rtol=1e-5, atol=1e-8)
    first = models[0]
    for model in models[1:]:  # to the last bit: else workers would take different decisions
        np.testing.assert_array_equal(model.ensemble.weights, first.ensemble.weights)
        assert model.figures == first.figures


def compared(size, estimator, X, y, weights=None):
    alone = estimator.fit(X, y, sample_weight=weights).fitted_
    models = [model for model, _ in fitted_by(size, estimator, X, y, weights)]
    assert_same(alone, models)
    return alone, models[0]


@pytest.mark.parametrize("size", [2, 4])
def test_leaves(size):
    X, y = make_ringnorm(900, random_state=0)
    alone, model = compared(size, DualBoostClassifier(learner="xgboost", max_depth=3, max_trees=6), X, y)
    assert model.figures.gap <= 1e-6
    for one, other in zip(model.ensemble.learners, alone.ensemble.learners, strict=True):
        np.testing.assert_allclose(one.covers, other.covers)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))


@pytest.mark.parametrize("formulation", PAPER)
@pytest.mark.parametrize("size", every([2, 4], few=[2]))
def test_trees(formulation, size):
    X, y = make_ringnorm(600, random_state=1)
    estimator = DualBoostClassifier(formulation, learner="xgboost", max_trees=8, calibration="training")
    _, model = compared(size, estimator, X, y)
    assert model.figures.gap <= 1e-6


@pytest.mark.parametrize("make", [make_ringnorm, three_classes])
def test_probabilities_are_calibrated_on_rows_of_all_workers(make):
    X, y = make(600, random_state=1)
    estimator = DualBoostClassifier("nm", learner="xgboost", max_trees=8, max_depth=2)
    alone, model = compared(2, estimator, X, y)
    np.testing.assert_allclose(model.probabilities(X), alone.probabilities(X), atol=0.1)


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    X = X + 1e-6 * np.random.default_rng(0).random(X.shape)  # no two rows alike, which one machine would merge
    compared(2, DualBoostClassifier(learner="xgboost", max_depth=2, max_trees=3), X, y)


@pytest.mark.parametrize("formulation", PAPER)
def test_weights_of_trees_for_several_classes(formulation):
    X, y = three_classes(300)
    estimator = DualBoostClassifier(formulation, learner="xgboost", max_trees=6, max_depth=2, calibration="training")
    _, model = compared(2, estimator, X, y)
    assert model.figures.gap <= 1e-6


NUMBERS = {
    "squared": {},
    "absolute": {"loss": "absolute"},
    "huber": {"loss": "huber"},
    "poisson": {"loss": "poisson"},
    "tube": {"loss": "epsilon_insensitive"},
    "quantiles": {"loss": "quantile", "quantiles": [0.1, 0.5, 0.9]},
    "in order": {"loss": "absolute", "monotonic_cst": [1, 0, 0, 0, 0, 0]},
    "weights": {"loss": "absolute", "optimize": "weights", "max_depth": 1},
}


@pytest.mark.parametrize("options", NUMBERS.values(), ids=NUMBERS)
def test_numbers(options):
    X, y = make_regression(300, 6, noise=5.0, random_state=0)
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    options = {"max_depth": 2, "max_trees": 4} | options
    compared(3, DualBoostRegressor(learner="xgboost", **options), X, np.round(np.abs(y)), weights)


def test_weights_missing_values_and_balanced_classes():
    X, y = make_ringnorm(700, random_state=2)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.05] = np.nan
    weights = rng.integers(0, 4, len(y)).astype(float)
    options = {"class_weight": "balanced", "min_samples_leaf": 20, "max_leaf_nodes": 5}
    alone, model = compared(
        2, DualBoostClassifier(learner="xgboost", max_depth=3, max_trees=4, **options), X, y, weights
    )
    np.testing.assert_array_equal(model.has_missing, alone.has_missing)


def test_one_class_and_few_categories_on_a_worker():
    """Classes and categories are those of all workers, whoever has them."""
    rng = np.random.default_rng(0)
    X, y = make_ringnorm(400, random_state=0)
    y = np.where(y > 0, "yes", "no")
    kinds = np.array(["red", "green", "blue", "grey"])[rng.integers(0, 2, 400) + 2 * (y == "yes")]
    table = pd.DataFrame(X[:, :4]).add_prefix("x").assign(kind=kinds, noise=rng.random(400))
    order = np.argsort(y, kind="stable")
    estimator = DualBoostClassifier(learner="xgboost", max_depth=2, max_trees=3)
    alone = estimator.fit(table, y).fitted_

    def work(workers):
        own = order[:150] if workers.rank == 0 else order[150:]
        return estimator.fit_part(table.iloc[own], y[own], None, workers)

    models = on_workers(2, work)
    assert_same(alone, models)
    assert models[0].encoder.categories[4].tolist() == ["blue", "green", "grey", "red"]
    assert models[0].target.classes.tolist() == ["no", "yes"]


def test_traffic_does_not_grow_with_the_rows():
    estimator = DualBoostClassifier(learner="xgboost", max_depth=2, max_trees=3, subsample=1.0)
    sent = []
    for n_rows in (1000, 4000):
        _, traffic = fitted_by(2, estimator, *make_ringnorm(n_rows, random_state=0))[0]
        assert traffic.n_messages > 0
        sent.append(traffic.n_bytes / traffic.n_messages)
    assert sent[1] < 1.5 * sent[0]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"learner": "cart"}, InvalidParameterError),
        ({"learner": "xgboost", "validation_fraction": 0.2}, InvalidParameterError),
        ({"learner": "xgboost", "formulation": "cq"}, UnsupportedFormulationError),
    ],
)
def test_what_needs_all_rows_in_one_place_is_refused(options, error):
    X, y = make_ringnorm(100, random_state=0)
    with pytest.raises(error, match="workers"):
        fitted_by(2, DualBoostClassifier(**options), X, y)


PARTS = {
    "numbers and text that is numbers": (lambda frame: frame.assign(x0=frame["x0"].astype(str)), None),
    "no entry, as text": (
        lambda frame: frame.assign(code=pd.Series([None] * len(frame), frame.index, dtype="str")),
        None,
    ),
    "text with words": (lambda frame: frame.assign(x0="abc"), "'x0' holds numbers in worker 0 and text"),
    "a column less": (lambda frame: frame.drop(columns="x1"), "'x1' in worker 0, but not in worker 1"),
    "an array": (lambda frame: frame[["x0", "x1"]].to_numpy(), "in worker 1, but not in worker 0"),
}


@pytest.mark.filterwarnings("ignore::dualboost.errors.DataWarning")  # the codes look like numbers
@pytest.mark.parametrize(("change", "words"), PARTS.values(), ids=PARTS)
def test_a_column_is_the_same_on_all_workers(change, words):
    """What one worker holds does not make categories of the numbers of another one."""
    X, y = make_ringnorm(300, random_state=0)
    codes = np.random.default_rng(0).integers(10, 25, 300).astype(str)
    table = pd.DataFrame(X[:, :2]).add_prefix("x").round(3).assign(code=codes)
    estimator = DualBoostClassifier(learner="xgboost", max_depth=2, max_trees=3)
    parts = [(table[:200], y[:200]), (change(table[200:]), y[200:])]

    def work(workers):
        return estimator.fit_part(*parts[workers.rank], None, workers)

    if words is not None:
        with pytest.raises(InvalidDataError, match=words):
            on_workers(2, work)
    else:
        assert [list(model.encoder.categories) for model in on_workers(2, work)] == [[2], [2]]


@pytest.mark.parametrize(("other", "truths"), [(False, []), (True, list(range(20)))])
def test_truth_values_are_so_on_all_workers(other, truths):
    X, y = make_ringnorm(300, random_state=0)
    estimator = DualBoostClassifier(learner="xgboost", max_depth=2, max_trees=2)
    parts = [(X[:150] > 0, y[:150]), (X[150:] > 0 if other else X[150:], y[150:])]
    models = on_workers(2, lambda workers: estimator.fit_part(*parts[workers.rank], None, workers))
    assert [sorted(model.encoder.truths) for model in models] == [truths, truths]


@pytest.mark.filterwarnings("ignore::dualboost.errors.DualBoostWarning")
@pytest.mark.parametrize("formulation", ["logistic", "lp"])
def test_workers_whose_clocks_differ_end_alike_when_time_is_up(formulation, monkeypatch):
    """The time of each worker passes at its own speed, whenever it looks at it."""
    own = threading.local()

    def monotonic():
        own.speed = getattr(own, "speed", 1.0 + threading.get_ident() % 7)
        own.seconds = getattr(own, "seconds", 0.0) + own.speed
        return own.seconds

    monkeypatch.setattr(deadlines, "time", SimpleNamespace(monotonic=monotonic))
    X, y = make_ringnorm(600, random_state=1)
    estimator = DualBoostClassifier(formulation, learner="xgboost", max_trees=500, max_depth=2, time_limit=300.0)
    (one, _), (other, _) = fitted_by(2, estimator, X, y)
    assert one.figures == other.figures
    assert one.figures.stop_reason == "time_limit"
    np.testing.assert_array_equal(one.ensemble.weights, other.ensemble.weights)
    scores, own = (model.target.probabilities(model.scores(X), model.calibration) for model in (one, other))
    np.testing.assert_array_equal(scores, own)
