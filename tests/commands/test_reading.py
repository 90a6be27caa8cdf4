import warnings

import numpy as np
import pandas as pd
import pytest

from dualboost import DualBoostClassifier
from dualboost.commands.tables import features_for, guessed_task, numbers_for, numbers_of, read_training, split_target
from dualboost.data.table_files import read_table
from dualboost.errors import DataWarning, InvalidDataError

from ..command_line import called

TABLE = "age,job,ok,y\n37,nurse,True,yes\n52.5,,False,no\n,cook,True,yes\n"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text(TABLE)
    return file


def test_a_training_table_is_read_whole(path):
    features, labels, task, weights = read_training(path, "y")
    assert (labels.tolist(), task, weights) == (["yes", "no", "yes"], "classification", None)
    assert features.names == ["age", "job", "ok"]
    assert [features.column(k).kind for k in range(3)] == ["numbers", "text", "numbers"]
    assert features.column(1).entries == ["nurse", None, "cook"]
    np.testing.assert_array_equal(features.column(2).numbers("here"), [1.0, 0.0, 1.0])


def test_labels_must_be_there(path):
    frame = read_table(path)
    with pytest.raises(InvalidDataError, match=r"no column 'z' \(--target\); there are 'age', 'job', 'ok', 'y'"):
        split_target(frame, "z", path)
    with pytest.raises(InvalidDataError, match="'job' is missing in 1 of 3 rows, the first of them row 2"):
        split_target(frame, "job", path)
    with pytest.raises(InvalidDataError, match="no column besides"):
        split_target(frame[["y"]], "y", path)


def test_two_labels_are_needed(path):
    features, labels, task, _ = read_training(path, "y", ["ok"])
    assert task == "classification"
    assert features.names == ["age", "job"]
    assert labels.tolist() == ["yes", "no", "yes"]
    path.write_text("x,y\n1,1\n2,2\n3,1\n")
    assert read_training(path, "y")[1].tolist() == [1, 2, 1]
    path.write_text("x,y\n1,1\n2,1\n")
    with pytest.raises(InvalidDataError, match="'y' must hold two labels or more; it has 1: '1'"):
        read_training(path, "y")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("1 2 3", "'y' has 3 different labels in 3 rows: '1', '2', '3'; a model learns classes that have two rows"),
        ("a b c d d", "'y' has 4 different labels in 5 rows: 'a', 'b', 'c', 'd';"),
        ("1.5 2 2.5 1.5 2 2.5", "'y' holds numbers with fractions, such as '1.5', '2.0': a model learns classes"),
        ("1e300 2 3 1e300 2 3", "'y' holds numbers with fractions"),
    ],
)
def test_labels_must_be_classes(labels, message, path):
    path.write_text("x,y\n" + "".join(f"0,{label}\n" for label in labels.split()))
    with pytest.raises(InvalidDataError, match=message):
        read_training(path, "y", task="classification")


@pytest.mark.parametrize("labels", ["1 2 3 1 2 3", "1.0 2 3 1.0 2 3", "a b c a b c", "0.5 1.5 0.5 1.5"])
def test_classes_may_be_several(labels, path):
    path.write_text("x,y\n" + "".join(f"0,{label}\n" for label in labels.split()))
    assert len(read_training(path, "y")[1]) == len(labels.split())


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (["a", "b", "c"], "classification"),
        ([True, False, True], "classification"),
        ([0.5, 1.5, 0.5], "classification"),
        (range(20), "classification"),
        (range(21), "regression"),
        ([1.0, 2.0, 3.0], "classification"),
        ([1.5, 2.0, 3.0], "regression"),
        (np.arange(21.0), "regression"),
        (pd.array([1, 2, 3], dtype="Int64"), "classification"),
    ],
    ids=str,
)
def test_the_task_is_guessed(target, task):
    assert guessed_task(pd.Series(target)) == task


@pytest.mark.parametrize("copies", [1, 20])
@pytest.mark.parametrize("n_kinds", [2, 20, 21, 50, 51])
@pytest.mark.parametrize("make", [str, int, float])
def test_the_rule_of_tasks_does_not_count_rows(make, n_kinds, copies, tmp_path):
    """The command line chooses a task, and the estimator warns, by one rule that copies of rows do not change."""
    labels = [make(k) if make is not str else f"u{k}" for k in range(n_kinds)] * 2 * copies
    assert guessed_task(pd.Series(labels)) == ("regression" if make is not str and n_kinds > 20 else "classification")
    X = np.linspace(0, 1, len(labels))[:, None]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DataWarning)
        DualBoostClassifier(max_trees=1, max_depth=1).fit(X, np.array(labels))
    messages = [str(one.message) for one in found if one.category is DataWarning]
    assert len(messages) == (make is not str and n_kinds > 50)
    assert all(f"y has {n_kinds} classes in {len(labels)} rows, so that it looks like" in one for one in messages)


def test_the_command_line_warns_of_measured_classes_too(path):
    path.write_text("x,y\n" + "".join(f"{k},{k % 60}\n" for k in range(180)))
    done = called("fit", path.name, "--target", "y", "--task", "classification", "--max-trees", 1, cwd=path.parent)
    assert done.returncode == 0
    assert done.stderr.count("y has 60 classes in 180 rows, so that it looks like an identifier or a measured") == 1


def test_numbers_are_a_target(path):
    path.write_text("x,y\n1,1\n2,2.5\n3,-1e300\n")
    _, y, task, _ = read_training(path, "y")
    assert (y.tolist(), task) == ([1.0, 2.5, -1e300], "regression")
    path.write_text("x,y\n1,1\n2,2\n3,1\n")
    assert read_training(path, "y", task="regression").target.tolist() == [1.0, 2.0, 1.0]
    path.write_text("x,y\n1,1\n2,two\n3,1\n")
    with pytest.raises(InvalidDataError, match="column 'y' must hold numbers, for regression; row 2 has 'two'"):
        read_training(path, "y", task="regression")
    path.write_text("x,y\n1,1\n2,inf\n3,2\n")
    with pytest.raises(InvalidDataError, match="column 'y' contains infinity in row 2"):
        read_training(path, "y")


def test_a_models_columns_are_found_by_name(path):
    table = features_for(["job", "age"], read_table(path, ["job"]), path)
    assert table.names == ["job", "age"]
    with pytest.raises(InvalidDataError, match="the model needs 'x', which the table does not have"):
        features_for(["x", "age"], read_table(path), path)
    np.testing.assert_array_equal(numbers_for(["ok", "age"], read_table(path), path)[:2], [[1.0, 37.0], [0.0, 52.5]])
    with pytest.raises(InvalidDataError, match="column 'job' must hold numbers, as in training; row 1 has 'nurse'"):
        numbers_for(["job"], read_table(path), path)


def test_the_word_among_numbers_is_told(path):
    path.write_text("x,y\n1,1\n2,two\n3,1\n")
    with pytest.raises(InvalidDataError, match="column 'y' must hold numbers, for this test; row 2 has 'two'"):
        numbers_of(read_table(path)["y"], path, "for this test")


def test_categories_that_look_like_numbers_stay_text(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("code\n01\n2\n")
    assert features_for(["code"], read_table(path, ["code"]), path).column(0).entries == ["01", "2"]


@pytest.mark.parametrize("spelling", ["True,False", "TRUE,FALSE", "true,false"])
def test_truth_values_are_numbers_in_every_spelling(spelling, tmp_path):
    path = tmp_path / "data.csv"
    yes, no = spelling.split(",")
    path.write_text(f"ok,y\n{yes},1\n{no},0\n,1\n")
    np.testing.assert_array_equal(read_training(path, "y").features.column(0).numbers("here"), [1.0, 0.0, np.nan])


def test_columns_of_weights(path):
    path.write_text("x,n,y\n1,2,a\n2,0,b\n3,1.5,a\n")
    training = read_training(path, "y", weights="n")
    assert training.features.names == ["x"]
    assert training.weights.tolist() == [2.0, 0.0, 1.5]
    path.write_text("x,n,y\n1,2,a\n2,-1,b\n3,,a\n")
    with pytest.raises(InvalidDataError, match=r"column 'n' must hold a weight of at least 0 .* row 2 has -1"):
        read_training(path, "y", weights="n")
    with pytest.raises(InvalidDataError, match=r"no column 'N' \(--sample-weight\); did you mean 'n'\?"):
        read_training(path, "y", weights="N")


def test_numbers_may_be_declared_categories(path):
    path.write_text("zip,y\n01,a\n02,b\n01,a\n")
    column = read_training(path, "y", categorical=["zip"]).features.column(0)
    assert (column.kind, column.entries) == ("categories", ["01", "02", "01"])


def test_the_labels_cannot_be_dropped(path):
    with pytest.raises(InvalidDataError, match="--drop y: it is the column of the labels"):
        read_training(path, "y", ["y"])
    with pytest.raises(InvalidDataError, match="--categorical y: it is the column of the labels"):
        read_training(path, "y", categorical=["y"])
