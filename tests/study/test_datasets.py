"""Data sets: files and generators, preparation, and selection of features."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost.errors import InvalidDataError, InvalidParameterError
from dualboost_study import Preset
from dualboost_study import datasets as selection
from dualboost_study.datasets import DATASETS, STEPS, Binariser, available, data_folder, load, select_features
from dualboost_study.fitting import prepared

from ..thoroughness import how_many


@pytest.fixture
def folder(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, None, 4.0], "Name": list("wxyz"), "target": ["no", "yes", "no", "yes"]})
    frame.to_csv(tmp_path / "titanic.csv.gz", index=False)
    frame.to_csv(tmp_path / "mine.csv", index=False)
    return tmp_path


def test_the_registry_is_the_papers_table():
    assert len(DATASETS) == 20
    assert sum(dataset.rows for dataset in DATASETS.values()) == 337_960
    assert {name for name, dataset in DATASETS.items() if dataset.generate} == {"ringnorm", "twonorm", "waveform"}


def test_a_file_is_loaded_without_its_identifiers(folder):
    X, y = load("titanic", folder)
    assert list(X) == ["a"]
    np.testing.assert_array_equal(y, [-1, 1, -1, 1])


def test_a_file_of_ones_own_joins(folder):
    assert "mine" in available(folder)
    assert list(load("mine", folder)[0]) == ["a", "Name"]


@pytest.mark.parametrize("name", ["ringnorm", "twonorm", "waveform"])
def test_what_has_a_definition_needs_no_file(name):
    X, y = load(name, None)
    known = DATASETS[name]
    assert len(X) == known.rows
    assert max(np.mean(y > 0), np.mean(y < 0)) == pytest.approx(known.majority_share, abs=0.03)
    again, _ = load(name, None)
    pd.testing.assert_frame_equal(X, again)


def test_what_cannot_be_loaded_says_why(folder, tmp_path):
    with pytest.raises(InvalidDataError, match="no folder was named"):
        load("adult", None)
    with pytest.raises(InvalidDataError, match=r"has no adult\.csv\.gz"):
        load("adult", folder)
    pd.DataFrame({"a": [1]}).to_csv(tmp_path / "bare.csv", index=False)
    with pytest.raises(InvalidDataError, match="no column 'target'"):
        load("bare", tmp_path)
    pd.DataFrame({"a": [1, 2, 3], "target": [0, 1, 2]}).to_csv(tmp_path / "three.csv", index=False)
    with pytest.raises(InvalidDataError, match="two classes"):
        load("three", tmp_path)


def test_the_folder_may_come_from_the_environment(folder, monkeypatch):
    monkeypatch.setenv("DUALBOOST_DATA", str(folder))
    assert data_folder(None) == folder
    with pytest.raises(InvalidDataError, match="not a folder"):
        data_folder(folder / "nowhere")


FRAME = pd.DataFrame(
    {
        "number": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 100.0],
        "flag": [0, 1, 0, 1, 0, 1, 0, 1],
        "letter": list("abcabcab"),
        "gaps": [1.0, None, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
    }
)


def test_every_feature_is_an_indicator_with_a_name():
    binariser = Binariser().fit(FRAME)
    X = binariser.transform(FRAME)
    assert set(np.unique(X)) == {0.0, 1.0}
    assert binariser.feature_names == [
        *(f"number in bin {k}" for k in range(4)),
        "flag = 0",
        "flag = 1",
        "letter = b",
        "letter = c",
        *(f"gaps in bin {k}" for k in range(4)),
        "gaps is missing",
    ]
    assert X.shape == (8, 13)
    np.testing.assert_array_equal(X[:, :4].sum(axis=1), 1.0)
    np.testing.assert_array_equal(X[:, 6], FRAME["letter"] == "b")
    np.testing.assert_array_equal(X[1, 8:], [0, 0, 0, 0, 1])


def test_bins_of_equal_numbers_or_of_equal_width():
    by_rows = Binariser("quantile").fit(FRAME[["number"]]).transform(FRAME[["number"]])
    by_width = Binariser("width").fit(FRAME[["number"]]).transform(FRAME[["number"]])
    np.testing.assert_array_equal(by_rows.sum(axis=0), [2, 2, 2, 2])
    np.testing.assert_array_equal(by_width.sum(axis=0), [7, 0, 0, 1])


def test_rules_are_those_of_the_training_rows():
    binariser = Binariser().fit(FRAME)
    new = pd.DataFrame({"number": [-50.0, 1e9], "flag": [0, 7], "letter": ["z", None], "gaps": [None, 2.0]})
    X = binariser.transform(new)
    np.testing.assert_array_equal(X[:, :4], [[1, 0, 0, 0], [0, 0, 0, 1]])
    np.testing.assert_array_equal(X[1, 4:8], 0.0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=40))
def test_a_number_is_in_exactly_one_bin(values):
    frame = pd.DataFrame({"x": values})
    X = Binariser().fit(frame).transform(frame)
    np.testing.assert_array_equal(X.sum(axis=1), 1.0)


def test_unknown_bins():
    with pytest.raises(InvalidParameterError, match="bins='log'"):
        Binariser("log")


@pytest.fixture(autouse=True)
def small_forests(monkeypatch):
    monkeypatch.setattr(selection, "N_TREES", how_many(20, selection.N_TREES))


def sample(n, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 12)) < 0.5).astype(float)
    y = np.where(X[:, 3] + X[:, 7] + 0.2 * rng.standard_normal(n) > 0.5, 1.0, -1.0)
    return X, y


def test_the_features_that_decide_are_found_and_few_others():
    chosen = select_features(sample(how_many(300, 600), 0), sample(300, 1), seed=0)
    assert {3, 7} <= set(chosen.tolist())
    assert len(chosen) <= 4
    assert (np.diff(chosen) > 0).all()


def test_the_same_seed_selects_the_same():
    steps = how_many(3, STEPS)
    first, second = (select_features(sample(300, 0), sample(100, 1), seed=5, n_steps=steps) for _ in range(2))
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
