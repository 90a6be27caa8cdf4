import numpy as np
import pytest

from dualboost_study import Preset
from dualboost_study import datasets as selection
from dualboost_study.datasets import DATASETS, STEPS, select_features
from dualboost_study.fitting import prepared

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


@pytest.fixture
def wide(tmp_path):
    """Writes a file with 30 numbers, of which the third decides, under a name; each number becomes four features."""

    def write(name):
        X = np.random.default_rng(0).random((200, 30))
        lines = [",".join([*map(str, row), str(int(row[2] > 0.5))]) for row in X]
        header = ",".join([*(f"x{k}" for k in range(30)), "target"])
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")
        return tmp_path

    return write


def test_a_preset_may_ask_for_it(wide):
    few, all_of_them = (prepared("mine", 0, wide("mine"), "quantile", most, 0) for most in (100, 0))
    assert few["train"][0].shape[1] < all_of_them["train"][0].shape[1] == 120
    assert few["test"][0].shape[1] == few["train"][0].shape[1]
    assert Preset().most_features == 0


def test_a_data_set_of_the_papers_gets_as_many_features_as_it_has_there(wide):
    parts = prepared("adult", 0, wide("adult"), "quantile", 100, 0)
    assert parts["train"][0].shape[1] == parts["test"][0].shape[1] == DATASETS["adult"].binary_features == 19
    third = prepared("adult", 0, wide("adult"), "quantile", 0, 0)["train"][0][:, 8:12]
    kept = {tuple(column) for column in parts["train"][0].T}
    assert {tuple(column) for column in third.T} <= kept
