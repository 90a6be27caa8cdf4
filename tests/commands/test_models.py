import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from io import StringIO

import numpy as np
import pandas as pd
import psutil
import pytest

from dualboost import load_model
from dualboost.data.table_files import csv_content

from ..command_line import called
from ..thoroughness import how_many, only_thorough

FIT = ("fit", "train.csv", "--target", "label", "--max-depth", "2")


@pytest.fixture
def model(run, tables):
    assert run(*FIT, "-o", "model.json").returncode == 0
    return tables / "model.json"


def test_fit_tells_what_it_did(start, tables):
    done = start(*FIT, "--json")
    figures = json.loads(done.stdout)
    assert done.stderr == ""
    assert figures["rows"] == 300
    assert figures["gap"] <= 1e-6
    assert figures["trees"] == load_model(tables / "model.json").n_trees_


def test_c_may_be_tuned_or_given(run, tables):
    tuned = json.loads(run(*FIT, "--C", "auto", "--json").stdout)
    assert tuned["C"] == load_model(tables / "model.json").C_
    assert json.loads(run(*FIT, "--C", "0.3", "--json").stdout)["C"] == 0.3
    wrong = run(*FIT, "--C", "much")
    assert (wrong.returncode, wrong.stderr) == (1, "dualboost: --C much: give a number, or auto.\n")


def test_leaves_or_weights_are_optimised(run, tables):
    few = (*FIT, "--max-trees", "4", "--json")
    default = json.loads(run(*few).stdout)
    assert default["formulation"] == "logistic"
    assert load_model(tables / "model.json").fitted_.ensemble.intercept == default["intercept"] != 0
    shown = run("show", "model.json").stdout
    assert "values up to" in shown
    assert "weight 0" not in shown
    assert json.loads(run(*few, "--formulation", "cg", "--optimize", "leaves").stdout)["trees"] == 4
    assert load_model(tables / "model.json").optimize == "leaves"
    assert json.loads(run(*few, "--formulation", "nm").stdout)["intercept"] == 0
    refused = run(*few, "--formulation", "nm", "--optimize", "leaves")
    assert refused.returncode == 1
    assert "use optimize='weights'" in refused.stderr


def test_classes_may_be_balanced(run, tables):
    assert run(*FIT, "--max-trees", "3", "--class-weight", "balanced").returncode == 0
    assert load_model(tables / "model.json").class_weight == "balanced"
    assert "--class-weight heavy: write balanced, or no=5" in run(*FIT, "--class-weight", "heavy").stderr


def test_trees_may_be_held_back(run, tables):
    limits = ("--min-samples-leaf", "7", "--max-leaf-nodes", "3", "--subsample", "0.8")
    assert run(*FIT, "--max-trees", "3", *limits).returncode == 0
    model = load_model(tables / "model.json")
    assert (model.min_samples_leaf, model.max_leaf_nodes, model.subsample) == (7, 3, 0.8)
    assert max(tree.n_leaves for tree in model.estimators_) <= 3


def test_columns_may_be_dropped(run, tables):
    run(*FIT, "--drop", "side", "--drop", "a")
    assert list(load_model(tables / "model.json").feature_names_in_) == ["b", "c", "d"]
    assert "no column 'z' (--drop)" in run(*FIT, "--drop", "z").stderr


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


HOSTILE = ["=HYPERLINK(1)", "-1", "\x1b]0;\x07 \u202e", "a\n+9.9 if \x85b", "@x"]


@pytest.fixture
def hostile(tables):
    """A model file, and its table with the labels: columns, categories and classes with what must not be printed."""
    from dualboost import DualBoostClassifier

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"\x1b[2Ja\nb": rng.normal(size=300), "\u202e": rng.choice(["\x07", "\t=1", "c"], 300)})
    code = np.digitize(frame.iloc[:, 0], [-0.8, -0.2, 0.3, 0.9]) ^ (frame.iloc[:, 1] == "c").astype(int).to_numpy()
    y = np.array(HOSTILE)[np.minimum(code, 4)]
    DualBoostClassifier(max_depth=2, max_trees=8).fit(frame, y).save(tables / "hostile.json")
    frame.assign(label=y).to_parquet(tables / "hostile.parquet")
    return tables


@pytest.mark.parametrize(
    "command",
    [
        ("show", "hostile.json"),
        ("show", "hostile.json", "--rules"),
        ("show", "hostile.json", "--json"),
        ("predict", "hostile.json", "hostile.parquet", "--json"),
        ("evaluate", "hostile.json", "hostile.parquet", "--target", "label"),
        ("evaluate", "hostile.json", "hostile.parquet", "--target", "\x1b\u202e"),
        ("predict", "hostile.json", "\x1b[2J.csv"),
        ("predict", "hostile.json", "test.csv"),
        ("show", "--\x1b[2J"),
    ],
    ids=repr,
)
def test_names_control_no_terminal(command, run, hostile):
    done = run(*command)
    printed = done.stdout + done.stderr
    assert printed.replace("\n", "").isprintable()
    assert "1b" in printed
    if "--json" in command:
        assert json.loads(done.stdout)


def test_a_name_makes_no_line_of_its_own(run, hostile):
    lines = run("show", "hostile.json", "--rules", "--most", "1000").stdout.partition("\n\n")[2].splitlines()
    assert len(lines) == load_model(hostile / "hostile.json").rules().shape[0]


@pytest.mark.parametrize("is_json", [False, True])
def test_predictions_control_no_terminal(is_json, hostile):
    pty = pytest.importorskip("pty")
    command = ("predict", "hostile.json", "hostile.parquet", *(["--json"] if is_json else []))
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "dualboost.cli", *command], cwd=hostile, stdout=theirs) as process:
        os.close(theirs)
        printed = "".join(iter(partial(_read_terminal, ours), ""))
    os.close(ours)
    assert process.returncode == 0
    assert printed.replace("\r\n", "").isprintable()
    assert "\\u001b]0;" in printed


def _read_terminal(descriptor):
    """What a pseudo-terminal holds; nothing at its end, which Linux gives as an error."""
    try:
        return os.read(descriptor, 1 << 16).decode("latin-1")
    except OSError:
        return ""


def test_redirected_output_holds_the_bytes_of_a_file(hostile):
    """A table with control characters, and a model."""
    (hostile / "train.csv").write_bytes(csv_content(pd.read_parquet(hostile / "hostile.parquet").iloc[:, 1:]))
    fit = ("fit", "train.csv", "--target", "label", "--max-depth", 1, "--max-trees", 2)
    for command, name in [(("predict", "hostile.json", "hostile.parquet"), "e.csv"), (fit, "e.json")]:
        there = called(*command, "-o", name, cwd=hostile)
        here = called(*command, "-o", "-", cwd=hostile)
        assert (there.returncode, here.returncode) == (0, 0), here.stderr
        assert here.stdout.encode() == (hostile / name).read_bytes()
    assert "\x1b]0;\x07 \u202e" in pd.read_csv(hostile / "e.csv")["prediction"].tolist()


@pytest.mark.parametrize("out", ["-", "out.csv", "out.csv.gz"])
def test_a_spreadsheet_computes_no_class(out, run, hostile):
    done = run("predict", "hostile.json", "hostile.parquet", "-o", out)
    source = StringIO(done.stdout) if out == "-" else hostile / out
    cells = pd.read_csv(source, dtype=str)["prediction"]
    assert set(cells) >= {"'=HYPERLINK(1)", "-1", "'@x"}
    assert not any(cell.startswith(("=", "+", "@", "-", "\t")) for cell in cells if cell != "-1")


def test_parquet_and_json_have_classes_as_they_are(run, hostile):
    run("predict", "hostile.json", "hostile.parquet", "-o", "out.parquet")
    printed = json.loads(run("predict", "hostile.json", "hostile.parquet", "--json").stdout)
    assert set(pd.read_parquet(hostile / "out.parquet")["prediction"]) == set(HOSTILE)
    assert {row["prediction"] for row in printed} == set(HOSTILE)


def test_predictions_in_a_csv_file_are_labels_again(run, hostile):
    run("predict", "hostile.json", "hostile.parquet", "-o", "out.csv")
    frame = pd.read_parquet(hostile / "hostile.parquet")
    frame.assign(label=pd.read_csv(hostile / "out.csv")["prediction"]).to_parquet(hostile / "again.parquet")
    done = run("evaluate", "hostile.json", "again.parquet", "--target", "label", "--json")
    assert json.loads(done.stdout)["accuracy"] == 1.0


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
    assert done.stderr == "dualboost: test.csv: the label 'maybe' is not one of the model's: 'no', 'yes'.\n"


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


def test_booleans_mean_the_same_in_python(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"flag": rng.random(200) < 0.5, "x": rng.normal(size=200)})
    frame.assign(y=np.where(frame["flag"], "a", "b")).to_csv(tmp_path / "flags.csv", index=False)
    assert run("fit", "flags.csv", "--target", "y", "-o", "model.json").returncode == 0
    assert load_model(tmp_path / "model.json").score(frame, np.where(frame["flag"], "a", "b")) == 1.0


@pytest.mark.filterwarnings("default::dualboost.errors.DataWarning")
def test_likely_mistakes_are_told(run, tables):
    frame = pd.read_csv(tables / "train.csv").assign(id=[f"u{k}" for k in range(300)])
    frame.to_csv(tables / "train.csv", index=False)
    done = run(*FIT)
    assert done.returncode == 0
    assert "column 'id' has 300 different values in 300 rows" in done.stderr
    assert "leave it out with --drop" in done.stderr
    frame["b"] = np.where(np.arange(300) % 30 == 17, "oops", (np.arange(300) % 5).astype(str))
    frame.to_csv(tables / "train.csv", index=False)
    done = run(*FIT)
    assert done.returncode == 0
    assert "column 'b' is text, as row 18 has 'oops'; its numbers or truth values become categories" in done.stderr


@pytest.mark.parametrize(
    ("out", "message"),
    [("train.csv", "is an input"), (".", "is a folder"), ("none/model.json", "there is no folder none")],
)
def test_outputs_are_checked_before_the_work(out, message, run, tables):
    before = (tables / "train.csv").read_bytes()
    done = run(*FIT, "-o", out)
    assert done.returncode == 1
    assert message in done.stderr
    assert (tables / "train.csv").read_bytes() == before


def test_whole_numbers_are_the_same_labels(run, tables):
    frame = pd.read_csv(tables / "train.csv")
    frame["label"] = (frame["label"] == "yes").astype(int)
    frame.to_csv(tables / "train.csv", index=False)
    run(*FIT)
    frame.assign(label=frame["label"].astype(float)).to_csv(tables / "train.csv", index=False)
    assert run("evaluate", "model.json", "train.csv", "--target", "label").returncode == 0


def test_a_column_with_almost_the_name_is_suggested(run, tables):
    assert "did you mean 'label'?" in run("fit", "train.csv", "--target", "Label").stderr


@only_thorough
def test_an_interrupted_fit_keeps_its_trees_and_says_so(tables):
    X = np.random.default_rng(0).normal(size=(20_000, 12))
    frame = pd.DataFrame(X, columns=list("abcdefghijkl")).assign(y=(X.sum(axis=1) > 0).astype(int))
    frame.to_csv(tables / "long.csv", index=False)
    command = [sys.executable, "-m", "dualboost.cli", "fit", "long.csv", "--target", "y", "--max-depth", "6"]
    command += ["--max-trees", "5000", "--formulation", "cg"]
    process = subprocess.Popen(
        command,
        cwd=tables,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs in the background ignore it
    )
    running = psutil.Process(process.pid)
    while running.cpu_times().user < how_many(3.0, 8.0):  # modules are imported by then, and trees are grown
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        _, message = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in message
