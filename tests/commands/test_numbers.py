"""Tables whose target is a number, through every command."""

import json

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.metrics import (
    mean_absolute_error,
    mean_pinball_loss,
    mean_poisson_deviance,
    r2_score,
    root_mean_squared_error,
)

from dualboost import DualBoostRegressor, DualBoostRegressorCV, load_model
from dualboost.formulations import HuberLoss, QuantileLoss

from ..numbers_to_learn import amounts, counts

FIT = ("fit", "train.csv", "--target", "y", "--max-depth", "2", "--max-trees", "6")


def features_of(frame):
    return frame[[*"abcde", "colour"]].astype({"colour": "category"})


@pytest.fixture
def tables(tmp_path):
    for name, seed in (("train", 0), ("test", 1)):
        X, y = amounts(n=300, seed=seed)
        X.assign(y=y, n=counts(n=300, seed=seed)[1].astype(int)).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


@pytest.fixture
def model(run, tables):
    assert run(*FIT, "--drop", "n").returncode == 0
    return tables / "model.json"


def test_the_program_fits_and_says_that_it_is_regression(start, run, tables):
    done = start(*FIT, "--drop", "n", "--json")
    assert done.stderr == ""
    figures, fitted = json.loads(done.stdout), load_model(tables / "model.json")
    assert (figures["task"], figures["loss"], figures["rows"]) == ("regression", "squared", 300)
    assert figures["training_r2"] == pytest.approx(fitted.score(*training(tables)))
    assert 900 < figures["intercept"] < 1100
    assert run(*FIT).stdout.startswith("task             regression, guessed from the target (see --task)\n")


def training(folder):
    frame = pd.read_csv(folder / "train.csv")
    return features_of(frame), frame["y"]


def test_few_whole_numbers_are_classes_unless_the_user_says_otherwise(run, tables):
    frame = pd.read_csv(tables / "train.csv").assign(y=lambda frame: frame["n"].clip(upper=3))
    frame.to_csv(tables / "train.csv", index=False)
    assert json.loads(run(*FIT, "--json").stdout)["task"] == "classification"
    done = run(*FIT, "--task", "regression", "--loss", "poisson", "--json")
    assert json.loads(done.stdout)["loss"] == "poisson"
    assert load_model(tables / "model.json").fitted_.target.name == "counts"
    assert run(*FIT, "--task", "regression").stdout.startswith("task             regression\n")


@pytest.mark.parametrize(
    ("options", "loss"),
    [
        (("--loss", "huber"), "huber"),
        (("--loss", "huber", "--delta", "0.5"), HuberLoss(delta=0.5)),
        (("--loss", "quantile", "--quantile", "0.9"), QuantileLoss(quantiles=0.9)),
    ],
    ids=str,
)
def test_losses_and_their_options(options, loss, run, tables):
    assert run(*FIT, *options).returncode == 0
    assert load_model(tables / "model.json").loss == loss


def test_c_may_be_tuned_and_trees_corrected(run, tables):
    figures = json.loads(run(*FIT, "--C", "auto", "--optimize", "weights", "--json").stdout)
    fitted = load_model(tables / "model.json")
    assert isinstance(fitted, DualBoostRegressorCV)
    assert (figures["C"], fitted.optimize) == (fitted.C_, "weights")


def test_a_loss_of_numbers_says_that_it_is_regression(run, tables):
    """Whole numbers that are few would be classes without it."""
    frame = pd.read_csv(tables / "train.csv").assign(y=lambda frame: frame["n"].clip(upper=3))
    frame.to_csv(tables / "train.csv", index=False)
    figures = json.loads(run(*FIT, "--loss", "absolute", "--json").stdout)
    assert (figures["task"], figures["loss"]) == ("regression", "absolute")
    figures = json.loads(run(*FIT, "--loss", "quantile", "--quantiles", "0.1,0.9", "--json").stdout)
    assert figures["task"] == "regression"


def test_a_constant_with_a_fraction_is_a_number(run, tables):
    pd.read_csv(tables / "train.csv").assign(y=0.5).to_csv(tables / "train.csv", index=False)
    assert json.loads(run(*FIT, "--json").stdout)["task"] == "regression"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("unknown", "'y' must hold numbers, for regression; row 4 has 'unknown'"),
        ("inf", "'y' contains infinity in row 4; leave the row out"),
    ],
)
def test_one_bad_cell_of_the_target_is_told(cell, message, run, tables):
    frame = pd.read_csv(tables / "train.csv").astype({"y": object})
    frame.loc[3, "y"] = cell
    frame.to_csv(tables / "train.csv", index=False)
    done = run(*FIT)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert message in done.stderr
    assert "missing" not in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--formulation", "nm"), "--formulation nm is not for regression: leave it out, or set --task."),
        (("--class-weight", "balanced"), "--class-weight balanced is not for regression"),
        (("--task", "classification"), "'y' holds numbers with fractions"),
        (("--quantile", "0.9"), "--quantile is no option of the loss squared: set --loss quantile, or"),
        (("--loss", "quantile", "--quantile", "2"), "quantiles=2.0 must be a number above 0 and below 1"),
        (("--target", "colour", "--task", "regression"), "column 'colour' must hold numbers, for regression; row 1"),
        (("--target", "n", "--task", "classification", "--loss", "huber"), "--loss huber is not for classification"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_told(options, message, run, tables):
    frame = pd.read_csv(tables / "train.csv").dropna()
    frame.assign(n=frame["n"].clip(upper=3)).to_csv(tables / "train.csv", index=False)
    done = run(*FIT, *options)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_predictions_are_numbers(run, model, tables):
    expected = load_model(model).predict(features_of(pd.read_csv(tables / "test.csv")))
    lines = run("predict", model, "test.csv").stdout.splitlines()
    assert lines[0] == "prediction"
    np.testing.assert_allclose(np.array(lines[1:], dtype=float), expected, rtol=1e-12)
    summary = json.loads(run("predict", model, "test.csv", "-o", "out.parquet", "--json").stdout)
    np.testing.assert_array_equal(pd.read_parquet(tables / "out.parquet")["prediction"], expected)
    assert summary["mean"] == pytest.approx(expected.mean())


def test_evaluate_agrees_with_scikit_learn(run, model, tables):
    frame = pd.read_csv(tables / "test.csv")
    true, predicted = frame["y"], load_model(model).predict(features_of(frame))
    figures = json.loads(run("evaluate", model, "test.csv", "--target", "y", "--json").stdout)
    expected = {
        "rows": 300,
        "rmse": root_mean_squared_error(true, predicted),
        "mae": mean_absolute_error(true, predicted),
        "r2": r2_score(true, predicted),
    }
    assert list(figures) == [*expected, "trees", "leaves"]
    for name, value in expected.items():
        assert figures[name] == pytest.approx(value, rel=1e-12), name
    frame.assign(y="high").to_csv(tables / "test.csv", index=False)
    refused = run("evaluate", model, "test.csv", "--target", "y")
    assert "column 'y' must hold numbers, for regression; row 1 has 'high'" in refused.stderr
    frame[:1].to_csv(tables / "test.csv", index=False)
    assert json.loads(run("evaluate", model, "test.csv", "--target", "y", "--json").stdout)["r2"] is None


@pytest.mark.parametrize("loss", ["quantile", "poisson"])
def test_evaluate_judges_by_the_loss(loss, run, tables):
    for name in ("train", "test"):
        frame = pd.read_csv(tables / f"{name}.csv").drop(columns="y").rename(columns={"n": "y"})
        frame.to_csv(tables / f"{name}.csv", index=False)
    options = ("--quantile", "0.9") if loss == "quantile" else ()
    assert run(*FIT, "--task", "regression", "--loss", loss, *options).returncode == 0
    frame = pd.read_csv(tables / "test.csv")
    true, predicted = frame["y"], load_model(tables / "model.json").predict(features_of(frame))
    figures = json.loads(run("evaluate", "model.json", "test.csv", "--target", "y", "--json").stdout)
    if loss == "quantile":
        assert figures["pinball_loss"] == pytest.approx(mean_pinball_loss(true, predicted, alpha=0.9))
        assert figures["share_below"] == pytest.approx(np.mean(true <= predicted))
    else:
        assert figures["poisson_deviance"] == pytest.approx(mean_poisson_deviance(true, predicted))


def test_show_trees_and_rules(run, model):
    fitted, trees = load_model(model), run("show", model).stdout
    assert trees.startswith("loss             squared\n")
    assert trees.count("values up to") == 6
    rules = fitted.rules()
    lines = [line for line in run("show", model, "--rules", "--most", "3").stdout.splitlines() if "  if " in line]
    shown = [line.split("  if ") for line in lines]
    assert [conditions for _, conditions in shown] == rules["conditions"].tolist()[:3]
    np.testing.assert_allclose([float(value) for value, _ in shown], rules["weighted_vote"][:3], rtol=1e-3)
    found = json.loads(run("show", model, "--json").stdout)
    assert "classes" not in found
    assert len(found["rules"]) == len(rules)
    assert f"{rules['weighted_vote'].max():+.4g} (" in trees


@pytest.mark.parametrize("name", ["model.json", "boosted.json", "light.txt"])
def test_thin_keeps_r2(name, run, tables):
    names = [*"abcde"]
    for table in ("train", "test"):  # models of other libraries take numbers only
        pd.read_csv(tables / f"{table}.csv")[[*names, "y"]].to_csv(tables / f"{table}.csv", index=False)
    X, y = (part := pd.read_csv(tables / "train.csv"))[names], part["y"]
    if name == "model.json":
        DualBoostRegressor(max_trees=12, max_depth=2).fit(X, y).save(tables / name)
    elif name == "boosted.json":
        xgboost.XGBRegressor(n_estimators=20, max_depth=2, n_jobs=1).fit(X, y).save_model(tables / name)
    else:
        light = lightgbm.LGBMRegressor(n_estimators=20, num_leaves=4, verbose=-1, n_jobs=1).fit(X, y)
        light.booster_.save_model(tables / name)
    options = ("--target", "y", "--tolerance", "0.05", "--validation", "test.csv", "--json")
    done = run("thin", name, "train.csv", *options, "-o", f"small_{name}")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert all(figure.isidentifier() for figure in figures)
    assert figures["trees"]["after"] < figures["trees"]["before"]
    assert figures["r2_validation"]["after"] >= figures["r2_validation"]["before"] - 0.05
    if name == "model.json":
        shown = run("show", f"small_{name}").stdout
        assert "certificate      none: the model was thinned\n" in shown
        assert "nan" not in shown
    assert run("thin", name, "train.csv", "--target", "z", "-o", "x" + name).returncode == 1
