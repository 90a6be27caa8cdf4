import numpy as np
import pytest

from dualboost.study import Preset, selection
from dualboost.study.fitting import prepared
from dualboost.study.selection import STEPS, select_features

from ..thoroughness import how_many


@pytest.fixture(autouse=True)
def small_forests(monkeypatch):
    monkeypatch.setattr(selection, "N_TREES", how_many(20, selection.N_TREES))


def sample(n, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 12)) < 0.5).astype(float)
    y = np.where(X[:, 3] + X[:, 7] + 0.2 * rng.standard_normal(n) > 0.5, 1.0, -1.0)
    return X, y


def test_the_features_that_decide_are_found_and_few_others():
    chosen = select_features(*sample(how_many(300, 600), 0), *sample(300, 1), seed=0)
    assert {3, 7} <= set(chosen.tolist())
    assert len(chosen) <= 4
    assert (np.diff(chosen) > 0).all()


def test_the_same_seed_selects_the_same():
    steps = how_many(3, STEPS)
    first, second = (select_features(*sample(300, 0), *sample(100, 1), seed=5, n_steps=steps) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_preset_may_ask_for_it():
    few = prepared("twonorm", 0, None, "quantile", 20, 200)
    all_of_them = prepared("twonorm", 0, None, "quantile", 0, 200)
    assert few["train"][0].shape[1] < all_of_them["train"][0].shape[1] == 80
    assert few["test"][0].shape[1] == few["train"][0].shape[1]
    assert Preset().most_features == 0
