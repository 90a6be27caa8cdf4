"""What is refused, and that a failure loses nothing."""

import gzip
import os
import stat
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from dualboost import DualBoostClassifier, DualBoostClassifierCV, load_model, thin
from dualboost.data.files import write_whole
from dualboost.errors import (
    DualBoostError,
    InvalidParameterError,
    ModelFileWarning,
    ModelFormatError,
    UnsupportedModelError,
)
from dualboost.thinning import ThinnedTreesClassifier

from ..thinning.models import numbers, table


@pytest.fixture(scope="module")
def fitted():
    X, y = numbers()
    return DualBoostClassifier(max_trees=5).fit(X, y)


@pytest.fixture
def taken(tmp_path):
    """A path where something is already."""
    path = tmp_path / "model.json"
    path.write_text("as it was")
    return path


def test_the_error_is_one_of_ours_and_a_value_error():
    assert issubclass(ModelFormatError, DualBoostError)
    assert issubclass(ModelFormatError, ValueError)


@pytest.mark.parametrize("model", [DualBoostClassifier(), DualBoostClassifierCV(), ThinnedTreesClassifier()])
def test_a_model_that_is_not_fitted(model, taken):
    with pytest.raises(NotFittedError):
        model.save(taken)
    assert taken.read_text() == "as it was"


@pytest.mark.parametrize("learner", [LogisticRegression(), ["cart", LogisticRegression()]])
def test_learners_that_are_not_trees(learner, taken):
    X, y = numbers()
    clf = DualBoostClassifier(learner=learner, max_trees=3).fit(X, y)
    with pytest.raises(UnsupportedModelError, match=r"learner=LogisticRegression.*learner='cart'"):
        clf.save(taken)
    with pytest.raises(UnsupportedModelError, match="learner: the ensemble has learners that are not trees"):
        DualBoostClassifier(learner=LogisticRegression(), max_trees=3).fit(X, y).set_params(learner="cart").save(taken)
    assert taken.read_text() == "as it was"
    assert os.listdir(taken.parent) == ["model.json"]


def test_categories_that_json_has_no_words_for(tmp_path):
    X, y = numbers()
    days = pd.Categorical(pd.to_datetime(np.where(y == 1, "2020-01-01", "2021-01-01")))
    clf = DualBoostClassifier(max_trees=3).fit(pd.DataFrame(X).rename(columns=str).assign(day=days), y)
    with pytest.raises(UnsupportedModelError, match=r"categories of feature 5 .*numbers or strings"):
        clf.save(tmp_path / "model.json")


def test_a_thinned_model_with_an_encoder(tmp_path):
    X, y = table()
    original = HistGradientBoostingClassifier(max_iter=10, random_state=0).fit(X, y)
    model = thin(original, X, y, tolerance=0.1).model
    with pytest.raises(UnsupportedModelError, match="categorical features"):
        model.save(tmp_path / "model.json")


def test_a_subclass_is_not_saved_as_its_parent(tmp_path):
    class Derived(DualBoostClassifier):
        pass

    X, y = numbers()
    with pytest.raises(UnsupportedModelError, match="Derived"):
        Derived(max_trees=2).fit(X, y).save(tmp_path / "model.json")


def test_arguments_that_became_wrong_after_the_fit(taken):
    X, y = numbers()
    clf = DualBoostClassifier(max_trees=3).fit(X, y)
    with pytest.raises(InvalidParameterError, match="max_depth=0"):
        clf.set_params(max_depth=0).save(taken)
    with pytest.raises(ModelFormatError, match=r"cannot be saved.*parameters\.C is 'large'"):
        clf.set_params(max_depth=1, C="large").save(taken)
    assert taken.read_text() == "as it was"


@pytest.mark.parametrize(
    ("clf", "named"),
    [
        (DualBoostClassifier(max_trees=3, random_state=np.random.RandomState(0)), "random_state"),
        (DualBoostClassifierCV(max_trees=3, Cs=2, cv=KFold(2)), "cv"),
    ],
)
def test_arguments_that_are_objects_are_left_out_aloud(clf, named, tmp_path):
    X, y = numbers()
    clf.fit(X, y)
    with pytest.warns(ModelFileWarning, match=rf"{named}=.*set it before") as warned:
        clf.save(tmp_path / "model.json")
    assert [warning.filename for warning in warned] == [__file__]
    loaded = load_model(tmp_path / "model.json")
    assert loaded.get_params()[named] is None
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))


def test_a_failed_write_leaves_what_was_there(fitted, taken):
    folder = taken.with_name("folder.json")
    folder.mkdir()
    with pytest.raises(OSError, match="folder"):
        fitted.save(folder)
    with pytest.raises(FileNotFoundError):
        fitted.save(taken.parent / "nowhere" / "model.json")
    assert sorted(os.listdir(taken.parent)) == ["folder.json", "model.json"]


def test_a_file_is_replaced_and_nothing_is_left_beside_it(fitted, taken):
    fitted.save(str(taken))
    assert load_model(str(taken)).n_trees_ == fitted.n_trees_
    assert os.listdir(taken.parent) == ["model.json"]


def test_permissions_are_those_of_a_new_file(fitted, tmp_path):
    (tmp_path / "plain").write_text("")
    fitted.save(tmp_path / "model.json")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "model.json")}
    assert len(modes) == 1


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_permissions_of_a_file_that_is_replaced_stay(mode, fitted, taken):
    taken.chmod(mode)
    fitted.save(taken)
    assert stat.S_IMODE(taken.stat().st_mode) == mode
    assert load_model(taken).n_trees_ == fitted.n_trees_


def test_what_a_killed_process_left_is_removed_by_a_later_save(tmp_path):
    writing = "import sys, pathlib, os, signal; from dualboost.data.files import write_whole;"
    dying = "os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL);"
    command = writing + dying + "write_whole(pathlib.Path(sys.argv[1]), b'half')"
    path, other = tmp_path / "model.json", tmp_path / ".other.json.01234567.tmp"
    subprocess.run([sys.executable, "-c", command, str(path)], check=False)
    other.write_text("of another file")
    left, other_name = sorted(os.listdir(tmp_path), key=lambda name: "other" in name)
    write_whole(path, b"first")
    assert left in os.listdir(tmp_path)  # it may be of a process that is still writing
    for name in (left, other_name):
        os.utime(tmp_path / name, (0, 0))
    write_whole(path, b"whole")
    assert sorted(os.listdir(tmp_path)) == [other_name, "model.json"]
    assert path.read_bytes() == b"whole"


def test_a_link_is_followed(fitted, taken):
    link = taken.with_name("link.json")
    link.symlink_to(taken)
    fitted.save(link)
    assert link.is_symlink()
    assert load_model(taken).n_trees_ == fitted.n_trees_


def test_compression_by_name_and_by_content(fitted, tmp_path):
    fitted.save(tmp_path / "model.json")
    fitted.save(tmp_path / "model.json.gz")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert gzip.decompress((tmp_path / "model.json.gz").read_bytes()).decode() == text
    (tmp_path / "model.json.gz").rename(tmp_path / "renamed")
    assert load_model(tmp_path / "renamed").n_trees_ == fitted.n_trees_
