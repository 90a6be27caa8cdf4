"""Several quantiles at once, through every command."""

import json

import numpy as np
import pandas as pd
import pytest

from dualboost import DualBoostRegressorCV, load_model

from ..numbers_to_learn import amounts

FIT = ("fit", "train.csv", "--target", "y", "--max-depth", "2", "--max-trees", "5")
SEVERAL = ("--loss", "quantile", "--quantiles", "0.05,0.5,0.95", "--interval-calibration", "conformal")
LEVELS = [0.05, 0.5, 0.95]
NAMES = ["q0.05", "q0.5", "q0.95"]


@pytest.fixture(scope="module")
def frames():
    made = [amounts(n=300, seed=seed) for seed in (0, 1)]
    return [X.assign(y=y) for X, y in made]


@pytest.fixture
def tables(tmp_path, frames):
    for name, frame in zip(("train", "test"), frames, strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


@pytest.fixture
def model(run, tables):
    done = run(*FIT, *SEVERAL)
    assert done.returncode == 0, done.stderr
    return tables / "model.json"


def features_of(frame):
    return frame[[*"abcde", "colour"]].astype({"colour": "category"})


def test_fit_tells_the_intercept_of_each_quantile(run, model):
    fitted = load_model(model)
    assert (fitted.loss, fitted.quantiles, fitted.interval_calibration) == ("quantile", LEVELS, "conformal")
    intercepts = fitted.fitted_.in_units.intercept
    assert json.loads(run(*FIT, *SEVERAL, "--json").stdout)["intercept"] == dict(zip(NAMES, intercepts, strict=True))
    line = next(line for line in run(*FIT, *SEVERAL).stdout.splitlines() if line.startswith("intercept"))
    found = dict(part.split(": ") for part in line.removeprefix("intercept").strip().split(", "))
    assert list(found) == NAMES
    np.testing.assert_allclose([float(value) for value in found.values()], intercepts, rtol=1e-3)


@pytest.mark.parametrize(
    ("options", "levels"),
    [
        (("--loss", "quantile", "--quantiles", "0.1, 0.9"), [0.1, 0.9]),
        (("--loss", "quantile", "--quantiles", "0.1,0.2,0.7"), [0.1, 0.2, 0.7]),
    ],
    ids=str,
)
def test_levels(options, levels, run, tables):
    figures = json.loads(run(*FIT, *options, "--json").stdout)
    assert figures["loss"] == "quantile"
    assert list(load_model(tables / "model.json").formulation_.quantiles) == levels


def test_c_may_be_tuned(run, tables):
    assert run(*FIT, *SEVERAL, "--C", "auto").returncode == 0
    fitted = load_model(tables / "model.json")
    assert isinstance(fitted, DualBoostRegressorCV)
    assert fitted.quantiles == LEVELS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--quantiles", "0.1,0.9"), "--quantiles is no option of the loss squared: set --loss quantile, or leave it"),
        (("--loss", "quantile", "--quantiles", "0.1;0.9"), "--quantiles 0.1;0.9: give numbers with commas between"),
        (("--loss", "quantile", "--quantiles", "0.9,0.1"), "quantiles=[0.9, 0.1] must be increasing numbers above 0"),
        (("--loss", "quantile", "--quantiles", "nan,0.1"), "quantiles=[nan, 0.1] must be increasing numbers above 0"),
        (("--loss", "quantile", "--quantiles", "0.9"), "quantiles=[0.9] must have two levels or more"),
        ((*SEVERAL, "--quantile", "0.5"), "--quantile and --quantiles 0.05,0.5,0.95 are both given: leave one"),
        ((*SEVERAL, "--optimize", "weights"), "use optimize='leaves'"),
        (
            ("--interval-calibration", "conformal"),
            "--interval-calibration conformal is for intervals: add --loss quantile --quantiles",
        ),
        (("--quantiles", "0.1,0.9", "--target", "colour"), "column 'colour' must hold numbers, for regression"),
        (
            ("--interval-calibration", "conformal", "--target", "colour"),
            "column 'colour' must hold numbers, for regression",
        ),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_told(options, message, run, tables):
    pd.read_csv(tables / "train.csv").dropna(subset="colour").to_csv(tables / "train.csv", index=False)
    done = run(*FIT, *options)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_predictions_have_quantiles_and_an_interval(run, model, tables):
    fitted, features = load_model(model), features_of(pd.read_csv(tables / "test.csv"))
    assert run("predict", model, "test.csv", "-o", "out.parquet").returncode == 0
    found = pd.read_parquet(tables / "out.parquet")
    assert list(found) == ["prediction", *NAMES, "lower", "upper"]
    np.testing.assert_array_equal(found["prediction"], fitted.predict(features))
    np.testing.assert_array_equal(found[NAMES], fitted.predict_quantiles(features))
    np.testing.assert_array_equal(found[["lower", "upper"]], fitted.predict_interval(features))
    first = json.loads(run("predict", model, "test.csv", "--json").stdout)[0]
    assert first == pytest.approx(found.iloc[0].to_dict())


def test_evaluate_judges_quantiles_and_the_interval(run, model, tables):
    frame = pd.read_csv(tables / "test.csv")
    figures = json.loads(run("evaluate", model, "test.csv", "--target", "y", "--json").stdout)
    fitted, y = load_model(model), frame["y"].to_numpy()
    below = y[:, None] - fitted.predict_quantiles(features_of(frame))
    lower, upper = fitted.predict_interval(features_of(frame)).T
    expected = {
        "pinball_loss": np.mean(np.maximum(LEVELS * below, (np.array(LEVELS) - 1.0) * below)),
        "coverage": np.mean([low <= true <= high for low, true, high in zip(lower, y, upper, strict=True)]),
        "mean_width": np.mean(upper) - np.mean(lower),
    }
    assert list(figures) == ["rows", "rmse", "mae", "r2", *expected, "trees", "leaves"]
    for name, value in expected.items():
        assert figures[name] == pytest.approx(value), name


def test_show_trees_and_rules(run, model):
    fitted = load_model(model)
    trees = run("show", model).stdout
    assert trees.startswith("loss             quantile\n")
    assert trees.count("values up to") == 5
    assert all(f" for {name}" in trees for name in NAMES)
    rules = fitted.rules()
    lines = [line for line in run("show", model, "--rules", "--most", "2").stdout.splitlines() if "  if " in line]
    for line, (_, rule) in zip(lines, rules.head(2).iterrows(), strict=True):
        values, conditions = line.split("  if ")
        assert conditions == rule["conditions"]
        found = [part.split(" for ") for part in values.split(", ")]
        assert [name for _, name in found] == NAMES
        np.testing.assert_allclose(
            [float(value) for value, _ in found], [rule[f"value_{name}"] for name in NAMES], rtol=1e-3
        )
    assert len(json.loads(run("show", model, "--json").stdout)["rules"]) == len(rules)


def test_thin_refuses(run, model):
    done = run("thin", model, "train.csv", "--target", "y", "-o", "small.json")
    assert done.returncode == 1
    assert "model with loss='quantile' cannot be thinned; with one of these it can: squared" in done.stderr


def test_formulations_lists_them(run):
    listed = {row["name"]: row["option"] for row in json.loads(run("formulations", "--json").stdout)}
    assert listed["quantile"] == "--loss"
