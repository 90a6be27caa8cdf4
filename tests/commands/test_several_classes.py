"""Tables whose target has three classes, through every command."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, log_loss, roc_auc_score

from dualboost import load_model

from ..several_classes import three_classes

FIT = ("fit", "train.csv", "--target", "kind", "--max-depth", "3", "--max-trees", "6")
NAMES = np.array(["low", "mid", "very high"])


def features_of(frame):
    return frame.drop(columns="kind").astype({"colour": "category"})


@pytest.fixture
def tables(tmp_path):
    for name, seed in (("train", 0), ("test", 1)):
        X, y = three_classes(n=300, seed=seed)
        X.assign(kind=NAMES[y]).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


@pytest.fixture
def model(run, tables):
    assert run(*FIT, "-o", "model.json").returncode == 0
    return tables / "model.json"


def test_fit_tells_an_intercept_for_each_class(run, tables):
    done = run(*FIT, "--json")
    assert done.stderr == ""
    figures = json.loads(done.stdout)
    fitted = load_model(tables / "model.json")
    assert figures["intercept"] == fitted.intercept_.tolist()
    assert fitted.classes_.tolist() == NAMES.tolist()
    lines = run(*FIT).stdout.splitlines()
    intercepts = next(line for line in lines if line.startswith("intercept")).removeprefix("intercept").split(",")
    np.testing.assert_allclose(np.array(intercepts, dtype=float), fitted.intercept_, rtol=1e-3)


def test_c_may_be_tuned(run, tables):
    figures = json.loads(run(*FIT, "--C", "auto", "--json").stdout)
    assert figures["C"] == load_model(tables / "model.json").C_


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_predictions_have_a_probability_for_each_class(name, run, model, tables):
    done = run("predict", model, "test.csv", "-o", name)
    assert done.returncode == 0, done.stderr
    written = pd.read_parquet(tables / name) if name.endswith("parquet") else pd.read_csv(tables / name)
    features = features_of(pd.read_csv(tables / "test.csv"))
    fitted = load_model(model)
    assert written["prediction"].tolist() == fitted.predict(features).tolist()
    columns = ["probability_low", "probability_mid", "probability_very high"]
    assert list(written.columns) == ["prediction", *columns]
    np.testing.assert_allclose(written[columns], fitted.predict_proba(features), atol=1e-12)


def expected_figures(fitted, frame):
    """The figures by scikit-learn's own metrics for several classes."""
    labels, features = frame["kind"], features_of(frame)
    predicted, probabilities = fitted.predict(features), fitted.predict_proba(features)
    return {
        "rows": len(frame),
        "accuracy": fitted.score(features, labels),
        "balanced_accuracy": balanced_accuracy_score(labels, predicted),
        "auc": roc_auc_score(labels, probabilities, multi_class="ovr", labels=fitted.classes_),
        "log_loss": log_loss(labels, probabilities, labels=fitted.classes_),
    }, confusion_matrix(labels, predicted, labels=fitted.classes_)


def test_evaluate_agrees_with_scikit_learn(run, model, tables):
    figures = json.loads(run("evaluate", model, "test.csv", "--target", "kind", "--json").stdout)
    expected, table = expected_figures(load_model(model), pd.read_csv(tables / "test.csv"))
    for name, value in expected.items():
        assert figures[name] == pytest.approx(value, abs=1e-12), name
    for k, name in enumerate(NAMES):
        assert list(figures[f"true_{name}"].values()) == table[k].tolist()


def test_a_class_that_no_row_has_is_left_out_of_the_means(run, model, tables):
    frame = pd.read_csv(tables / "test.csv")
    frame[frame["kind"] != "mid"].to_csv(tables / "test.csv", index=False)
    done = run("evaluate", model, "test.csv", "--target", "kind", "--json")
    assert done.stderr == ""
    figures = json.loads(done.stdout)
    few = frame[frame["kind"] != "mid"]
    fitted = load_model(model)
    predicted, probabilities = fitted.predict(features_of(few)), fitted.predict_proba(features_of(few))
    is_low = few["kind"].to_numpy() == "low"
    recalls = [np.mean(predicted[is_low] == "low"), np.mean(predicted[~is_low] == "very high")]
    areas = [roc_auc_score(is_low, probabilities[:, 0]), roc_auc_score(~is_low, probabilities[:, 2])]
    assert figures["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert figures["auc"] == pytest.approx(np.mean(areas))
    assert set(figures["true_mid"].values()) == {0}
    frame[frame["kind"] == "low"].to_csv(tables / "test.csv", index=False)
    figures = json.loads(run("evaluate", model, "test.csv", "--target", "kind", "--json").stdout)
    assert (figures["auc"], figures["balanced_accuracy"]) == (None, None)


def test_show_trees_and_rules(run, model):
    trees = run("show", model).stdout
    assert trees.startswith("classes          low, mid, very high\n")
    assert trees.count("tree ") == 6
    assert "├─ if " in trees
    fitted = load_model(model)
    rules = run("show", model, "--rules", "--most", "3").stdout.splitlines()
    shown = [line for line in rules if "  if " in line]
    assert len(shown) == 3
    assert all(any(name in line.partition("  if ")[0] for name in NAMES) for line in shown)
    found = json.loads(run("show", model, "--json").stdout)
    assert found["classes"] == NAMES.tolist()
    assert found["intercept"] == fitted.intercept_.tolist()
    assert len(found["rules"]) == len(fitted.rules())


@pytest.mark.parametrize("target", ["id", "a"])
def test_targets_that_are_no_classes(target, run, tables):
    frame = pd.read_csv(tables / "train.csv").assign(id=range(300))
    frame.dropna().to_csv(tables / "train.csv", index=False)
    done = run("fit", "train.csv", "--target", target, "--task", "classification")
    assert done.returncode == 1
    assert done.stderr.startswith(f"dualboost: train.csv: '{target}' ")
    assert done.stderr.count("\n") == 1
    assert not (tables / "model.json").exists()


@pytest.mark.parametrize("option", [("--formulation", "lexi"), ("--optimize", "weights")])
def test_what_is_for_two_classes_is_told(option, run, tables):
    done = run(*FIT, *option)
    assert done.returncode == 1
    assert "y has 3 classes. 'logistic' learns them" in done.stderr
    assert done.stderr.count("\n") == 1
