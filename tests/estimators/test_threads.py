"""The number of threads does not change the model, not in its last bit."""

import threading

import numpy as np
import pytest

from dualboost import DualBoostClassifier, SolverOptions
from dualboost.datasets import make_twonorm
from dualboost.formulations import STUDIED
from dualboost.matrix import rows

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
