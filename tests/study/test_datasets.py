import numpy as np
import pandas as pd
import pytest

from dualboost.errors import InvalidDataError
from dualboost_study.datasets import DATASETS, available, data_folder, load


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
