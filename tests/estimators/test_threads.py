"""Threads and time: the model does not depend on the number of threads; ``time_limit`` ends every fit."""

import itertools
import os
import subprocess
import sys
import threading
import warnings
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from dualboost import (
    DualBoostClassifier,
    DualBoostClassifierCV,
    DualBoostRegressor,
    DualBoostRegressorCV,
    SolverOptions,
    deadlines,
)
from dualboost.datasets import make_twonorm
from dualboost.errors import DualBoostWarning, InterruptedFitWarning, SolverWarning
from dualboost.formulations import STUDIED
from dualboost.matrix import rows
from dualboost.matrix.rows import GrowerThreads

N_ROWS = 3000


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks and work so small that threads share them."""
    monkeypatch.setattr(rows, "ROWS_PER_BLOCK", 256)
    monkeypatch.setattr(rows, "WORTH_A_THREAD", 0)


@pytest.fixture
def at_work(monkeypatch):
    """The names of the threads that worked on blocks."""
    names, of_blocks = set(), rows.Rows.of_blocks

    def noted(self, work, size=rows.LIGHT):
        def named(block):
            names.add(threading.current_thread().name)
            return work(block)

        return of_blocks(self, named, size)

    monkeypatch.setattr(rows.Rows, "of_blocks", noted)
    return names


def answers(model, X):
    return model.fitted_.scores(X)


def assert_same(one, other):
    np.testing.assert_array_equal(one.weights_, other.weights_)
    np.testing.assert_array_equal(one.duals_, other.duals_)
    assert (one.objective_, one.gap_, one.stop_reason_) == (other.objective_, other.gap_, other.stop_reason_)
    for name in ("objective", "gap", "edge", "threshold", "train_score", "n_trees"):
        np.testing.assert_array_equal(one.history_[name], other.history_[name])


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("formulation", STUDIED)
def test_the_same_model_to_the_last_bit(formulation, at_work):
    X, y = make_twonorm(N_ROWS, random_state=0)
    weights = np.random.default_rng(0).integers(1, 4, N_ROWS)
    alone, together = (
        DualBoostClassifier(formulation, calibration="training", max_trees=12, n_jobs=n).fit(
            X, y, sample_weight=weights
        )
        for n in (1, 2)
    )
    assert any(name.startswith("dualboost") for name in at_work)
    assert alone.gap_ <= 1e-6
    assert_same(alone, together)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("formulation", "solver"),
    [("lp", SolverOptions(active_rows=500)), ("nm", SolverOptions(reoptimize="every")), ("lexi", None), ("cq", None)],
    ids=str,
)
def test_other_solvers_and_shapes(formulation, solver):
    X, y = make_twonorm(N_ROWS, random_state=0)
    alone, together = (
        DualBoostClassifier(formulation, calibration="training", max_trees=8, n_jobs=n, solver=solver).fit(X, y)
        for n in (1, 2)
    )
    assert_same(alone, together)


FITS_OF_LITTLE = """
import numpy as np, psutil, warnings
from dualboost import DualBoostClassifier
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 10))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
models = [DualBoostClassifier(learner=learner, max_trees=5, max_depth=2) for learner in ("cart", "xgboost")]
for model in models:
    model.fit(X, y).predict(X)  # starts what its libraries need on one thread
before = psutil.Process().num_threads()
for model in models:
    model.set_params(n_jobs=5).fit(X, y).predict_proba(X)
print(psutil.Process().num_threads() - before, *(model.fitted_.ensemble.n_jobs for model in models))
"""


def little_work(**environment):
    """How many threads small fits and predictions start, and how many they may have."""
    unlimited = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "LOKY_"))}
    arguments = [sys.executable, "-c", FITS_OF_LITTLE]
    done = subprocess.run(arguments, env=unlimited | environment, capture_output=True, text=True, check=True)
    return list(map(int, done.stdout.split()))


def test_little_work_starts_no_thread():
    assert little_work()[0] == 0


def test_there_are_no_more_threads_than_processors():
    assert little_work(LOKY_MAX_CPU_COUNT="1") == [0, 1, 1]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "model",
    [
        DualBoostClassifier(max_trees=12, max_depth=3, max_features=0.5),
        DualBoostClassifier("lp", max_trees=12, max_depth=3, max_leaf_nodes=5, calibration="training"),
        DualBoostRegressor(max_trees=6, max_depth=2),
        DualBoostClassifier(max_trees=12, max_depth=3, learner="xgboost"),
    ],
    ids=str,
)
def test_trees_are_the_same_however_often_their_grower_gets_other_threads(model, monkeypatch):
    X, y = make_twonorm(N_ROWS, random_state=0)
    expected, numbers = answers(model.fit(X, y), X), itertools.cycle([1, 2, 5, 1, 1, 3])
    monkeypatch.setattr(GrowerThreads, "number", property(lambda self: next(numbers)))
    np.testing.assert_array_equal(answers(model.fit(X, y), X), expected)


# ``time_limit`` may be exceeded by a third. Time is counted in calls of functions: equal on every machine.

EVERY = SolverOptions(reoptimize="every")
CLASSES = {
    "leaves": {"max_trees": 40},
    "leaves, every": {"max_trees": 20, "solver": EVERY},
    "leaves, lp": {"formulation": "lp", "optimize": "leaves", "max_trees": 12},
    "leaves, lp, every": {"formulation": "lp", "optimize": "leaves", "max_trees": 5, "solver": EVERY},
    "leaves, in order": {"monotonic_cst": [1, 0, 0, 0], "max_trees": 20},
    "leaves, early end": {"n_iter_no_change": 30, "max_trees": 30, "random_state": 0},
    "lp": {"formulation": "lp", "max_trees": 40},
    "lp, exact": {"formulation": "lp", "max_trees": 30, "learner": "optimal", "max_depth": 1},
    "lp, active rows": {"formulation": "lp", "max_trees": 20, "solver": SolverOptions(active_rows=40)},
    "lp, HiGHS": {"formulation": "lp", "max_trees": 20, "solver": SolverOptions(method="highs")},
    "nm": {"formulation": "nm", "max_trees": 40},
    "nm, early end": {"formulation": "nm", "max_trees": 40, "n_iter_no_change": 30, "random_state": 0},
    "lexi": {"formulation": "lexi", "max_trees": 10},
    "tuned leaves": {"estimator": DualBoostClassifierCV, "Cs": 3, "max_trees": 12, "cv": 2},
    "tuned lp": {"estimator": DualBoostClassifierCV, "formulation": "lp", "Cs": 4, "max_trees": 20, "cv": 2},
    "fewest trees": {"estimator": DualBoostClassifierCV, "Cs": 2, "max_trees": 20, "select": "sparsest"},
}
SEVERAL = {
    "several classes, leaves": {"max_trees": 20},
    "several classes, lp": {"formulation": "lp", "max_trees": 15},
}
NUMBERS = {
    "numbers": {"max_trees": 20},
    "stumps": {"max_depth": 1, "max_trees": 30},
    "absolute": {"loss": "absolute", "max_trees": 15},
    "absolute, in order": {"loss": "absolute", "max_trees": 10, "monotonic_cst": [1, 0, 0, 0]},
    "quantiles": {
        "loss": "quantile",
        "quantiles": [0.1, 0.5, 0.9],
        "max_trees": 6,
        "interval_calibration": "conformal",
    },
    "numbers, weights": {"loss": "absolute", "optimize": "weights", "max_trees": 40},
    "tuned numbers": {"estimator": DualBoostRegressorCV, "Cs": 4, "max_trees": 10},
}
CASES = CLASSES | SEVERAL | NUMBERS
WHOLE, SHARE = 60.0, 0.3
"""The seconds of a fit without a limit, and the share of them that is the limit."""


def rows_for(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 4))
    target = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=len(X))
    n_classes = {**dict.fromkeys(CLASSES, 2), **dict.fromkeys(SEVERAL, 3)}.get(name)
    if n_classes is None:
        return X, target
    return X, np.digitize(target, np.quantile(target, np.linspace(0, 1, n_classes + 1)[1:-1]))


def estimator_for(name, **options):
    options = {"max_depth": 2} | CASES[name] | options
    usual = DualBoostRegressor if name in NUMBERS else DualBoostClassifier
    return options.pop("estimator", usual)(**options)


@contextmanager
def clock_of_calls(monkeypatch, seconds_each):
    """A function that tells the time, in which each call of a function inside takes so long."""
    n_calls = [0]

    def count(frame, event, argument):
        n_calls[0] += event in ("call", "c_call")

    def monotonic():
        return n_calls[0] * seconds_each

    monkeypatch.setattr(deadlines, "time", SimpleNamespace(monotonic=monotonic))
    sys.setprofile(count)
    try:
        yield monotonic
    finally:
        sys.setprofile(None)


def timed(name, monkeypatch, seconds_each, **options):
    """A fitted estimator, how long its fit took, and the warnings of it."""
    X, y = rows_for(name)
    model = estimator_for(name, **options)
    with warnings.catch_warnings(record=True) as told, clock_of_calls(monkeypatch, seconds_each) as clock:
        warnings.simplefilter("always", DualBoostWarning)
        model.fit(X, y)
        took = clock()
    return model, took, {one.category: str(one.message) for one in told}


@pytest.mark.parametrize("name", CASES)
def test_a_fit_takes_no_more_than_a_third_longer(name, monkeypatch):
    _, n_calls, _ = timed(name, monkeypatch, 1.0)
    limit = SHARE * WHOLE
    model, took, told = timed(name, monkeypatch, WHOLE / n_calls, time_limit=limit)
    assert took <= limit * 4 / 3
    assert 0 <= model.gap_ < 1
    assert np.isfinite(model.objective_)
    is_rough = model.gap_ > model.tol
    assert (SolverWarning in told) == is_rough
    if is_rough:
        assert model.stop_reason_ == "time_limit"
        assert f"time_limit={limit!r} ended the fit" in told[SolverWarning]


def test_a_short_limit_may_be_exceeded_by_a_second(monkeypatch):
    _, n_calls, _ = timed("leaves", monkeypatch, 1.0)
    model, took, _ = timed("leaves", monkeypatch, 4.0 / n_calls, time_limit=0.05)
    assert took <= 1.05
    assert model.stop_reason_ == "time_limit"
    assert model.n_trees_ == 1
    assert model.gap_ <= 1e-6  # the second is used to solve


SHORT = {
    "classes": {"estimator": DualBoostClassifierCV},
    "classes, lp": {"estimator": DualBoostClassifierCV, "formulation": "lp", "calibration": "training"},
    "numbers": {"estimator": DualBoostRegressorCV},
}


@pytest.mark.parametrize("cv", [3, 5])
@pytest.mark.parametrize("name", SHORT)
def test_folds_and_values_begin_only_if_time_is_left_for_them(name, cv, monkeypatch):
    options = SHORT[name] | {"max_trees": 20}
    kind = "numbers" if name == "numbers" else "leaves"
    single = {"Cs": [1.0], "cv": None, "max_trees": 1}  # the least that a search can do, with the final fit
    _, n_calls, _ = timed(kind, monkeypatch, 1.0, **(options | single))
    options |= {"Cs": 6, "cv": cv}
    _, took, told = timed(kind, monkeypatch, 1.0 / n_calls, time_limit=0.5, **options)
    assert took <= 1.5
    assert "time_limit=0.5 cut the comparison of values of C short" in told[InterruptedFitWarning]
    assert f"of {cv} splits" in told[InterruptedFitWarning]


@pytest.mark.parametrize(("Cs", "chosen"), [(4, None), ([1e-3, 1e-2], 1e-2), ([3.0], 3.0)])
def test_with_no_time_to_compare_C_is_the_default(Cs, chosen, monkeypatch):
    """Of values that the user listed, it is the nearest one to the default."""
    options = {"max_trees": 5, "calibration": "training"}
    model, _, told = timed(
        "leaves", monkeypatch, 1.0, time_limit=0.5, estimator=DualBoostClassifierCV, Cs=Cs, **options
    )
    X, y = rows_for("leaves")
    usual = DualBoostClassifier(**(options | {"max_depth": 2})).fit(X, y).fitted_.formulation.C
    expected = usual if chosen is None else chosen
    assert expected == model.C_
    assert np.isnan(model.path_["score"]).all()
    assert "0 of" in told[InterruptedFitWarning]


def test_probabilities_are_fitted_to_training_rows_if_there_is_no_time_for_twins(monkeypatch):
    _, n_calls, _ = timed("lp", monkeypatch, 1.0)
    model, _, told = timed("lp", monkeypatch, 60.0 / n_calls, time_limit=0.05)
    assert "calibrated on rows that the ensemble has not seen" in told[InterruptedFitWarning]
    proba = model.predict_proba(rows_for("lp")[0])
    assert ((proba > 0) & (proba < 1)).all()


def test_no_clock_is_read_without_a_limit(monkeypatch):
    monkeypatch.setattr(deadlines, "time", None)
    X, y = rows_for("leaves")
    limited = DualBoostClassifier(max_trees=5, max_depth=2, time_limit=None).fit(X, y)
    assert limited.stop_reason_ == "max_trees"


def test_a_fit_inside_another_has_a_limit_of_its_own(monkeypatch):
    """The inner fit, of a callback, has none, and must not end with the outer one."""
    X, y = rows_for("leaves")
    inner = DualBoostClassifier(max_trees=5, max_depth=2)
    outer = DualBoostClassifier(max_trees=5, max_depth=2, time_limit=1e-9, callbacks=lambda iteration: inner.fit(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DualBoostWarning)
        outer.fit(X, y)
    assert (outer.stop_reason_, inner.stop_reason_) == ("time_limit", "max_trees")
    assert DualBoostClassifier(max_trees=5, max_depth=2).fit(X, y).stop_reason_ == "max_trees"
