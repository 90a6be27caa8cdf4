"""Options that hold trees back, weigh classes and judge a fit, as the command line has them."""

import json

import numpy as np
import pandas as pd
import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor, load_model
from dualboost.formulations import LPBoost, QRLPBoost

from ..thoroughness import only_thorough

FIT = ("fit", "train.csv", "--target", "label", "--max-depth", "3", "--max-trees", "4")


def fitted(run, tables, *options):
    done = run(*FIT, *options)
    assert done.returncode == 0, done.stderr
    return load_model(tables / "model.json")


def in_python(tables, **parameters):
    """The same fit without the command line."""
    frame = pd.read_csv(tables / "train.csv")
    model = DualBoostClassifier(max_depth=3, max_trees=4, random_state=0, **parameters)
    return model.fit(frame.drop(columns="label"), frame["label"])


SAME = {
    "--min-samples-leaf 30": {"min_samples_leaf": 30},
    "--min-samples-leaf 0.1": {"min_samples_leaf": 0.1},
    "--max-features sqrt": {"max_features": "sqrt"},
    "--max-features 2": {"max_features": 2},
    "--max-features 0.5": {"max_features": 0.5},
    "--monotonic b=+1 --monotonic c=-1": {"monotonic_cst": {"b": 1, "c": -1}},
    "--interactions pairwise": {"interaction_cst": "pairwise"},
    "--interactions none": {"interaction_cst": "no_interactions"},
    "--interactions a,b --interactions c,side": {"interaction_cst": [{0, 1}, {2, 4}]},
    "--class-weight yes=3": {"class_weight": {"yes": 3}},
    "--class-weight yes=3 --class-weight no=0.5": {"class_weight": {"yes": 3, "no": 0.5}},
    "--formulation lp --scale-free": {"formulation": LPBoost(scale_free=True)},
    "--formulation lp --scale-free --C 20": {"formulation": LPBoost(scale_free=True), "C": 20.0},
    "--formulation qrlp --scale-free --epsilon 0.1": {"formulation": QRLPBoost(scale_free=True, epsilon=0.1)},
    "--validation-fraction 0.3 --n-iter-no-change 1": {"validation_fraction": 0.3, "n_iter_no_change": 1},
    "--n-jobs 2": {"n_jobs": 2},
}


@pytest.mark.parametrize("options", SAME)
def test_an_option_is_the_parameter_of_its_name(options, run, tables):
    model, expected = fitted(run, tables, *options.split()), in_python(tables, **SAME[options])
    assert {name: getattr(model, name) for name in SAME[options]} == SAME[options]
    X = pd.read_csv(tables / "test.csv").drop(columns="label")
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))


REFUSED = {
    "--min-samples-leaf few": "--min-samples-leaf few: give a whole number, or a fraction",
    "--min-samples-leaf 0": "min_samples_leaf=0 must be",
    "--max-features many": "--max-features many: give a whole number, or a fraction",
    "--monotonic b": "--monotonic b: write age=+1 or age=-1",
    "--monotonic b=up": "--monotonic b=up: the sign must be +1 or -1",
    "--monotonic B=+1": "--monotonic B: there is no such column to learn from; did you mean 'b'?",
    "--monotonic label=+1": "--monotonic label: there is no such column to learn from",
    "--monotonic side=+1": "which has categories",
    "--interactions pairs": "--interactions pairs: there is no such column to learn from",
    "--interactions pairwise --interactions a,b": "--interactions pairwise is for all columns",
    "--class-weight maybe=2": "--class-weight maybe=2: the classes are 'no', 'yes'",
    "--class-weight yes=0": "class_weight['yes']=0 must be",
    "--class-weight balanced --class-weight yes=2": "--class-weight balanced is for all classes",
    "--scale-free": "--scale-free is not for classification by logistic: set --formulation qrlp or",
    "--cv 3": "--cv 3 is not for a fit at one C: add --C auto",
    "--C 1 --cv 3": "--cv 3 is not for --C 1: add --C auto",
    "--C auto --n-iter-no-change 3": "--n-iter-no-change 3 is not for --C auto: leave it out, or give C a number",
    "--eval-set none.csv": "none.csv: there is no such file",
    "--scoring rocauc": "rocauc",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_cannot_be_meant_is_refused_in_a_line(options, run, tables):
    done = run(*FIT, *options.split())
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert REFUSED[options] in done.stderr
    assert not (tables / "model.json").exists()


def test_a_second_table_judges_the_fit(run, tables):
    frame = pd.read_csv(tables / "test.csv")
    frame[frame.columns[::-1]].assign(unused=1).to_csv(tables / "judge.csv", index=False)
    done = run(*FIT, "--eval-set", "judge.csv", "--scoring", "roc_auc", "--json")
    judged = json.loads(done.stdout)["validation_score"]
    evaluated = json.loads(run("evaluate", "model.json", "test.csv", "--target", "label", "--json").stdout)
    assert judged == pytest.approx(evaluated["auc"])
    frame.drop(columns="b").to_csv(tables / "judge.csv", index=False)
    assert "judge.csv: the model needs 'b'" in run(*FIT, "--eval-set", "judge.csv").stderr


@only_thorough
def test_a_shell_starts_it_so(start, tables):
    options = ("--monotonic", "b=+1", "--class-weight", "yes=2", "--min-samples-leaf", "0.05", "--interactions", "a,b")
    model = fitted(start, tables, *options)
    assert (model.monotonic_cst, model.class_weight) == ({"b": 1}, {"yes": 2})
    assert (model.min_samples_leaf, model.interaction_cst) == (0.05, [{0, 1}])


def test_folds_of_tuning(run, tables):
    assert fitted(run, tables, "--C", "auto", "--cv", "3").scores_.shape[0] == 3
    assert fitted(run, tables, "--C", "auto", "--validation-fraction", "0.3").validation_fraction == 0.3


def test_options_of_numbers(run, tables):
    frame = pd.read_csv(tables / "train.csv")
    frame.assign(label=frame["b"] + 0.1).to_csv(tables / "train.csv", index=False)
    model = fitted(run, tables, "--monotonic", "b=+1", "--min-samples-leaf", "0.05")
    expected = DualBoostRegressor(
        max_depth=3, max_trees=4, random_state=0, monotonic_cst={"b": 1}, min_samples_leaf=0.05
    ).fit(frame.drop(columns="label"), frame["b"] + 0.1)
    X = frame.drop(columns="label")
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-12)
    for option in (("--scale-free",), ("--class-weight", "yes=2")):
        done = run(*FIT, *option)
        assert f"{' '.join(option)} is not for regression" in done.stderr
