import json

import numpy as np
import pandas as pd
import pytest

from dualboost import load_model

FIT = ("fit", "train.csv", "--target", "label", "--max-depth", "2")


@pytest.fixture
def model(run, tables):
    assert run(*FIT, "-o", "model.json").returncode == 0
    return tables / "model.json"


def test_fit_tells_what_it_did(run, tables):
    done = run(*FIT, "--json")
    figures = json.loads(done.stdout)
    assert done.stderr == ""
    assert figures["rows"] == 300
    assert figures["gap"] <= 1e-6
    assert figures["trees"] == load_model(tables / "model.json").n_columns_


def test_c_may_be_tuned_or_given(run, tables):
    tuned = json.loads(run(*FIT, "--C", "auto", "--json").stdout)
    assert tuned["C"] == load_model(tables / "model.json").C_
    assert json.loads(run(*FIT, "--C", "0.3", "--json").stdout)["C"] == 0.3
    wrong = run(*FIT, "--C", "much")
    assert (wrong.returncode, wrong.stderr) == (1, "dualboost: --C much: give a number, or auto.\n")


def test_columns_may_be_dropped(run, tables):
    run(*FIT, "--drop", "side", "--drop", "a")
    assert list(load_model(tables / "model.json").feature_names_in_) == ["b", "c", "d"]
    assert "no column 'z' to drop" in run(*FIT, "--drop", "z").stderr


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_predictions_are_the_models(name, run, model, tables):
    done = run("predict", model, "test.csv", "-o", name)
    assert done.returncode == 0, done.stderr
    written = pd.read_parquet(tables / name) if name.endswith("parquet") else pd.read_csv(tables / name)
    frame = pd.read_csv(tables / "test.csv")
    frame["side"] = frame["side"].astype("category")
    fitted = load_model(model)
    features = frame[list(fitted.feature_names_in_)]
    assert written["prediction"].tolist() == fitted.predict(features).tolist()
    expected = fitted.predict_proba(features)
    np.testing.assert_allclose(written[["probability_no", "probability_yes"]], expected, atol=1e-12)


def test_predictions_go_to_the_terminal(run, model):
    lines = run("predict", model, "test.csv").stdout.splitlines()
    assert lines[0] == "prediction,probability_no,probability_yes"
    assert len(lines) == 101
    assert len(json.loads(run("predict", model, "test.csv", "--json").stdout)) == 100


def test_evaluate_counts(run, model, tables):
    figures = json.loads(run("evaluate", model, "test.csv", "--target", "label", "--json").stdout)
    fitted = load_model(model)
    frame = pd.read_csv(tables / "test.csv")
    frame["side"] = frame["side"].astype("category")
    assert figures["accuracy"] == fitted.score(frame.drop(columns="label"), frame["label"])
    counts = [*figures["true_no"].values(), *figures["true_yes"].values()]
    assert sum(counts) == figures["rows"] == 100


def test_one_class_has_no_balance(run, model, tables):
    frame = pd.read_csv(tables / "test.csv")
    frame[frame["label"] == "yes"].to_csv(tables / "test.csv", index=False)
    figures = json.loads(run("evaluate", model, "test.csv", "--target", "label", "--json").stdout)
    assert figures["balanced_accuracy"] is None
    assert figures["log_loss"] > 0


def test_unknown_labels_are_told(run, model, tables):
    frame = pd.read_csv(tables / "test.csv")
    frame.assign(label="maybe").to_csv(tables / "test.csv", index=False)
    done = run("evaluate", model, "test.csv", "--target", "label")
    assert done.stderr == "dualboost: test.csv: the label 'maybe' is not one of the model's: ['no', 'yes'].\n"


def test_a_category_that_is_new_is_a_gap(run, model, tables):
    frame = pd.read_csv(tables / "test.csv")
    frame.assign(side="above").to_csv(tables / "test.csv", index=False)
    assert run("predict", model, "test.csv", "-o", "new.csv").returncode == 0
    frame.assign(side=None).to_csv(tables / "test.csv", index=False)
    run("predict", model, "test.csv", "-o", "gap.csv")
    assert (tables / "new.csv").read_text() == (tables / "gap.csv").read_text()


def test_a_model_without_names_fits_no_table(run, tables):
    from dualboost import DualBoostClassifier

    X = np.arange(20.0).reshape(-1, 1)
    DualBoostClassifier().fit(X, X[:, 0] > 9).save(tables / "bare.json")
    assert "without column names" in run("predict", "bare.json", "test.csv").stderr
