"""The number of threads does not change the model, not in its last bit; and little work starts none."""

import itertools
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor, SolverOptions
from dualboost.datasets import make_twonorm
from dualboost.formulations import STUDIED
from dualboost.matrix import rows
from dualboost.matrix.rows import GrowerThreads

N_ROWS = 3000


@pytest.fixture(autouse=True)
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


@pytest.mark.parametrize(
    ("formulation", "solver"),
    [("lp", SolverOptions(active_rows=500)), ("nm", SolverOptions(reoptimize="every")), ("lexi", None), ("cq", None)],
    ids=str,
)
def test_other_masters_and_shapes(formulation, solver):
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
