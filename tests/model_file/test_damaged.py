"""Errors of damaged or hostile files: the place, the value there, and the values that are valid."""

import gzip
import json
import os
import re

import pytest

from dualboost import load_model
from dualboost.errors import ModelFormatError
from dualboost.model_file.checks import LARGEST_TEXT, MOST_PARTS, read_file

from ..golden import FOLDER


def document(name):
    return json.loads(read_file(next(FOLDER.glob(f"{name}.json*"))))


def put(model, where, value):
    """The document with one value in another's place; ``where`` as messages write it."""
    keys = [int(key) if key.isdigit() else key for key in re.findall(r"\w+", where)]
    entry = model
    for key in keys[:-1]:
        entry = entry[key]
    entry[keys[-1]] = value
    return model


def refuse(path, content, message):
    path.write_bytes(content if isinstance(content, bytes) else content.encode(errors="surrogatepass"))
    with pytest.raises(ModelFormatError, match=message) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: ")


WRONG = [
    ("format_version", 2, r"is 2, but this dualboost reads version 1 only; load the file with .*\(dualboost_version\)"),
    ("format_version", 0, "is 0; it must be a whole number from 1"),
    ("format_version", True, "is true; it must be a whole number"),
    ("dualboost_version", 1, "is 1; it must be a string"),
    ("model", "RandomForest", "is 'RandomForest'; it must be one of DualBoostClassifier, "),
    ("parameters", [], "is a list of 0; it must be an object"),
    ("parameters.max_depth", 2.0, "is 2.0; it must be a whole number"),
    ("parameters.max_depth", True, "is true; it must be a whole number"),
    ("parameters.C", "1", "is '1'; it must be a finite number"),
    ("parameters.C", -1, "is -1; it must be above 0"),
    ("formulation.C", -1, "is -1; it must be above 0"),
    ("parameters.learner", "__import__", "is '__import__'; it must be one of cart, optimal"),
    (
        "parameters.learner",
        {"name": "cart", "max_depth": 0, "criterion": "gini", "voting": "hard", "n_thresholds": None},
        "is refused: max_depth=0 must be an integer of at least 1",
    ),
    ("parameters.formulation", "exec", "is 'exec'; it must be one of logistic, nm, "),
    ("parameters.formulation", {"name": "lp", "C": 1, "epsilon": 1}, ".epsilon is not a key"),
    ("parameters.formulation", {"name": "md", "C": 1, "negative_weights": "x"}, "is refused: negative_weights='x'"),
    ("parameters.solver", "x", "is 'x'; it must be an object"),
    ("parameters.learner", {"name": "oak"}, "name is 'oak'; it must be one of cart, optimal"),
    ("parameters.learner", {"name": "cart"}, "is missing"),
    ("parameters.class_weight", 2, "is 2; it must be a list"),
    ("parameters.class_weight", [["a", 1]], r"\[0\] is a list of 2; it must be an object"),
    ("parameters.class_weight", [{"class": "a"}], r"\[0\].weight is missing"),
    ("parameters.class_weight", [{"class": None, "weight": 1}], r"\[0\].class is null; it must be a finite number"),
    ("parameters.class_weight", [{"class": "a", "weight": "1"}], r"\[0\].weight is '1'; it must be a finite number"),
    (
        "parameters.class_weight",
        [{"class": 1, "weight": 1}, {"class": 1.0, "weight": 2}],
        r"\[1\].class is 1.0, which has a weight already",
    ),
    ("formulation.C", None, "is null; it must be the number that was used"),
    ("classes.type", "datetime64", "is 'datetime64'; it must be one of bool, "),
    ("classes.values", [1, 0], r"\[1\] is 0, after 1; classes must be in order"),
    ("classes.values", [1, 1], r"\[1\] is 1, after 1; classes must be in order"),
    ("classes.values", [1], "has 1 entries; it must have 2 or more"),
    ("classes.values[1]", True, "is true; it must be a whole number"),
    ("classes.values[1]", 2**63, "is 9223372036854775808; it must be a whole number"),
    ("features.count", 10**9, "is 1000000000; it must be a whole number from 1 to"),
    ("features.names", ["a"], "has 1 entries; it must have 5"),
    ("fit.stop_reason", "tired", "is 'tired'; it must be one of certified, "),
    ("fit.certified", 1, "is 1; it must be true or false"),
    ("fit.gap", -1.0, "is -1.0; it must be a finite number of at least 0"),
    ("fit.n_trees", 6, "is 6; it must be a whole number from 0 to 5"),
    ("fit.n_generated", 1, "is 1; it must be a whole number from 5"),
    ("calibration.negative_slope", -1.0, "is -1.0; it must be a number from 0.001 to 10000"),
    ("balance", [1.5], r"\[0\] is 1.5; it must be a number from -1 to 1"),
    ("balance", 0.5, "is 0.5; it must be a list"),
    ("balance", [0.5, 0.5], "has 2 entries; it must have 1"),
    ("intercept", None, "is null; it must be a list"),
    ("intercept", [None], r"\[0\] is null; it must be a number from -"),
    ("intercept", [0.0, 0.0], "has 2 entries; it must have 1"),
    ("normalised", 1, "is 1; it must be true or false"),
    ("parameters.optimize", 1, "is 1; it must be a string"),
    ("history.gap[1]", "0", "is '0'; it must be a finite number"),
    ("history.edge", [0.0], "has 1 entries; it must have 12"),
    ("trees[3].threshold[0]", float("nan"), "is NaN; it must be a finite number"),
    ("trees[3].threshold[0]", float("inf"), "is inf; it must be a finite number"),
    ("trees[3].weight", 0.0, "is 0.0; it must be a number above 0"),
    ("trees[3].feature[0]", 5, "is 5; it must be a whole number from 0 to 4"),
    ("trees[3].left[0]", 0, "is 0; a child must come after its node"),
    ("trees[3].right[0]", -1, "is -1, which is a child of another node"),
    ("trees[3].right[0]", -3, "is -3; it must be a whole number from -2 to 0"),
    ("trees[3].votes[1]", [1.0000001], r"\[0\] is 1.0000001; it must be a number from -1 to 1"),
    ("trees[3].votes[1]", 0.5, "is 0.5; it must be a list"),
    ("trees[3].votes[1]", [0.5, 0.5], "has 2 entries; it must have 1"),
    ("trees[3].votes", [], "is empty; a tree has at least one leaf"),
    ("trees[3].threshold", [1.0, 1.0], "has 2 entries; it must have 1"),
    ("trees[3].missing_left[0]", 0, "is 0; it must be true or false"),
    ("trees[3].gain[0]", -1.0, "is -1.0; it must be a number from 0"),
    ("trees[3].covers[0]", None, "is null; it must be a number from 0"),
    ("trees[3].categories[0]", [0], "it must be null, as feature [0-4] has no categories"),
    ("trees[3].depth", 1, "is not a key of this version of the format"),
]


@pytest.mark.parametrize(("where", "value", "message"), WRONG)
def test_a_wrong_value_is_named(where, value, message, tmp_path):
    content = json.dumps(put(document("stumps"), where, value))
    refuse(tmp_path / "model.json", content, f"{re.escape(where)}.*{message}")


def test_more_iterations_than_memory_could_hold(tmp_path):
    content = json.dumps(put(document("stumps"), "fit.n_iterations", 10**15))
    refuse(tmp_path / "model.json", content, "history.* has 12 entries; it must have 1000000000000000")


def test_a_C_below_zero_of_a_formulation_that_was_asked_for(tmp_path):
    content = json.dumps(
        put(document("stumps"), "parameters.formulation", {"name": "lp", "C": -1, "scale_free": False})
    )
    refuse(tmp_path / "model.json", content, "parameters.formulation.C is -1; it must be above 0")


@pytest.mark.parametrize("where", ["tuning.C", "tuning.Cs[1]"])
def test_a_C_below_zero_that_was_tuned(where, tmp_path):
    content = json.dumps(put(document("tuned"), where, -1.0))
    refuse(tmp_path / "model.json", content, re.escape(where) + " is -1.0; it must be a number above 0")


def test_another_formulation_than_asked_for(tmp_path):
    content = json.dumps(put(document("stumps"), "parameters.formulation", "nm"))
    refuse(tmp_path / "model.json", content, "formulation.name is 'lp', but parameters.formulation is 'nm'")


TOO_LONG = [*(f"a{k}" for k in range(100)), "x" * 2**20]
WRONG_CLASSES = [
    ("classes.values", ["high", "low"], "balance has 3 entries; it must have 1"),
    ("classes.values", list("abcd"), "balance has 3 entries; it must have 4"),
    ("classes.values[2]", "high", "classes.values[2] is 'high', after 'low'; classes must be in order"),
    ("classes.values[2]", "z\0", "classes.values[2] is 'z\\x00', which str does not hold exactly"),
    ("classes.values", TOO_LONG, "classes.values has 101 strings, of which one is too long"),
    ("trees[1].votes", [], "trees[1].votes is empty; a tree has at least one leaf"),
    ("trees[1].votes[0]", 0.5, "trees[1].votes[0] is 0.5; it must be a list"),
    ("trees[1].votes[0]", [0.5, 0.5], "trees[1].votes[0] has 2 entries; it must have 3"),
    ("trees[1].votes[0]", [0.5] * 4, "trees[1].votes[0] has 4 entries; it must have 3"),
    ("trees[1].votes[0][2]", None, "trees[1].votes[0][2] is null; it must be a number from -1 to 1"),
    ("trees[1].votes[0][2]", "0", "trees[1].votes[0][2] is '0'; it must be a number from -1 to 1"),
    ("trees[1].votes[0][2]", [0.5], "trees[1].votes[0][2] is a list of 1; it must be a number from -1 to 1"),
    ("trees[1].votes[0][2]", float("nan"), "trees[1].votes[0][2] is NaN; it must be a number from -1 to 1"),
    ("trees[1].votes[0][2]", 1.5, "trees[1].votes[0][2] is 1.5; it must be a number from -1 to 1"),
    ("intercept", 0.0, "intercept is 0.0; it must be a list"),
    ("intercept", [0.0, 0.0], "intercept has 2 entries; it must have 3"),
    ("intercept[1]", float("nan"), "intercept[1] is NaN; it must be a number from -1e+100 to 1e+100"),
    ("intercept[1]", 1e101, "intercept[1] is 1e+101; it must be a number from -1e+100 to 1e+100"),
    ("normalised", 1, "normalised is 1; it must be true or false"),
    ("balance", [0.5, 0.5], "balance has 2 entries; it must have 3"),
    ("balance", [0.5, 0.5, 1.5], "balance[2] is 1.5; it must be a number from 0 to 1"),
    ("balance", -0.5, "balance is -0.5; it must be a list"),
    ("calibration", {"negative_slope": 1.0, "positive_slope": 1.0}, "calibration.negative_slope is not a key"),
    ("calibration", {"slope": 0.0, "intercepts": [0, 0, 0]}, "calibration.slope is 0.0; it must be a number from"),
    ("calibration", {"slope": 1.0, "intercepts": [0, 0]}, "calibration.intercepts has 2 entries; it must have 3"),
]


@pytest.mark.parametrize(("where", "value", "message"), WRONG_CLASSES, ids=range(len(WRONG_CLASSES)))
def test_wrong_parts_of_several_classes_are_named(where, value, message, tmp_path):
    content = json.dumps(put(document("classes"), where, value))
    refuse(tmp_path / "model.json", content, re.escape(message))


@pytest.mark.parametrize("key", sorted(document("classes")))
def test_no_part_of_several_classes_may_be_missing(key, tmp_path):
    model = document("classes")
    del model[key]
    refuse(tmp_path / "model.json", json.dumps(model), key)


def test_two_classes_have_a_calibration(tmp_path):
    refuse(tmp_path / "model.json", json.dumps(put(document("leaves"), "calibration", None)), "it must be an object")
    of_three = json.dumps(put(put(document("leaves"), "classes.values", ["a", "b", "c"]), "balance", [0.2] * 3))
    refuse(tmp_path / "model.json", of_three, re.escape("trees[0].votes[0] has 1 entries; it must have 3"))


WRONG_PARAMETERS = {
    "max_depth": 0,
    "max_trees": 0,
    "n_jobs": 0,
    "tol": -1.0,
    "random_state": -5,
    "verbose": -1,
    "optimize": "boughs",
}


@pytest.mark.parametrize("name", WRONG_PARAMETERS)
def test_arguments_that_the_estimator_refuses(name, tmp_path):
    content = json.dumps(put(document("stumps"), f"parameters.{name}", WRONG_PARAMETERS[name]))
    refuse(tmp_path / "model.json", content, f"parameters are refused: {name}=")


WRONG_TABLE = [
    ("features.categories[0].feature", 6, "is 6; it must be a whole number from 0 to 5"),
    ("features.categories[0].type", "datetime64[ns]", "it must be one of bool, "),
    ("features.categories[0].values[1]", "u", "values has a category twice"),
    ("features.categories[0].values[1]", 1, "is 1; it must be a string"),
    ("features.categories[0].values[1]", "\ud800", "lone surrogate"),
    ("features.truth_values", [5], "has 5, which is a feature with categories"),
    ("features.truth_values", [1, 0], "must be in increasing order"),
    ("trees[0].categories[NODE]", [0, 0], "it must be one or more codes, increasing"),
    ("trees[0].categories[NODE]", [], "it must be one or more codes, increasing"),
    ("trees[0].categories[NODE]", [6], r"\[0\] is 6; it must be a whole number from 0 to 5"),
    ("trees[0].categories[NODE]", None, "is null; it must be a list"),
    ("trees[0].threshold[NODE]", 0.5, "must be null at a split by category"),
    ("trees[0].missing_left[NODE]", True, "must be false at a split by category"),
]


@pytest.mark.parametrize(("where", "value", "message"), WRONG_TABLE)
def test_wrong_categories_are_named(where, value, message, tmp_path):
    model = document("table")
    node = model["trees"][0]["feature"].index(5)
    content = json.dumps(put(model, where.replace("NODE", str(node)), value))
    refuse(tmp_path / "model.json", content, message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\x80abc", "is not text in UTF-8"),
        (b"{", "is not JSON"),
        (b"[]", "is no model of dualboost"),
        (b"null", "is no model of dualboost"),
        (b'{"format": "other"}', "is no model of dualboost"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a":' * 100_000, "is nested too deeply"),
        (b'{"format": 1, "format": 2}', "has the key 'format' twice in one object"),
        (b"9" * 100_000, "whole number of 100000 digits"),
        (b"[" + b"[]," * MOST_PARTS + b"1]", "lists, objects and keys"),
        (b" " * (LARGEST_TEXT + 1), f"more than {LARGEST_TEXT} bytes"),
        (gzip.compress(b" " * (2 * LARGEST_TEXT), 1), f"more than {LARGEST_TEXT} bytes"),
        (gzip.compress(b"{}")[:-4], "gzip stream is cut off"),
        (b"\x1f\x8b", "gzip stream is cut off"),
        (b"\x1f\x8bnonsense", "gzip stream is damaged"),
        (gzip.compress(b"{}") * 2, "goes on after its gzip stream"),
    ],
    ids=range(18),
)
def test_what_is_no_model_at_all(content, message, tmp_path):
    refuse(tmp_path / "model.json", content, message)


@pytest.mark.parametrize("key", sorted(document("tuned")))
def test_a_missing_part_is_named(key, tmp_path):
    model = document("tuned")
    del model[key]
    refuse(tmp_path / "model.json", json.dumps(model), key)


def test_a_folder_and_a_pipe_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ModelFormatError, match="not that of a file"):
            load_model(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "model.json")


def test_a_thinned_model_has_trees_and_no_categories(tmp_path):
    refuse(tmp_path / "a", json.dumps(put(document("thinned"), "trees", [])), "at least one")
    described = [{"feature": 0, "type": "int64", "values": [1, 2]}]
    content = json.dumps(put(document("thinned"), "features.categories", described))
    refuse(tmp_path / "b", content, "must be empty in a ThinnedTreesClassifier")


def test_a_file_cannot_ask_for_any_number_of_threads(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(put(document("stumps"), "parameters.n_jobs", 10**9)))
    assert load_model(path).fitted_.ensemble.n_jobs <= (os.cpu_count() or 1)
