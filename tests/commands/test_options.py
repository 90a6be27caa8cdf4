"""Standard input and output, weights, epsilon, losses, and what --help takes."""

import io
import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dualboost import DualBoostClassifier, load_model
from dualboost import parameters as options
from dualboost.commands import COMMANDS
from dualboost.formulations import FORMULATIONS, NUMBER_LOSSES, ConvexBoost, EpsilonInsensitiveLoss
from dualboost.formulations.convex import LOSSES
from dualboost.learners import LEARNERS

FIT = ("fit", "train.csv", "--target", "label", "--max-depth", "2", "--max-trees", "4")


@pytest.fixture
def given(monkeypatch):
    """Puts bytes at standard input."""
    return lambda content: monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))


@pytest.fixture
def call(tmp_path):
    """Runs a command in this process, whose standard input a test has set."""
    from ..command_line import called

    return lambda *arguments: called(*arguments, cwd=tmp_path)


def test_names_to_choose_from_are_those_of_the_registries():
    assert tuple(FORMULATIONS) == options.FORMULATIONS
    assert tuple(name for name, kind in FORMULATIONS.items() if kind.has_sides) == options.WITH_SIDES
    assert tuple(NUMBER_LOSSES) == options.LOSSES_FOR_NUMBERS
    assert tuple(LOSSES) == options.LOSSES_FOR_CLASSES
    assert tuple(LEARNERS) == options.LEARNERS


@pytest.mark.parametrize("command", list(COMMANDS))
def test_help_imports_no_library(command):
    """--help takes as long as the imports: half a second means that there are none but click's."""
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from dualboost.commands import dualboost\n"
        f"done = CliRunner().invoke(dualboost, [{command!r}, '--help'])\n"
        "assert done.exit_code == 0 and 'Usage' in done.output, done.output\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'lightgbm', 'narwhals'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["csv", "gzip", "parquet"])
def test_a_table_comes_from_standard_input(kind, call, tables, given):
    frame, written = pd.read_csv(tables / "train.csv"), io.BytesIO()
    frame.to_parquet(written) if kind == "parquet" else frame.to_csv(
        written, index=False, compression="gzip" if kind == "gzip" else None
    )
    assert call(*FIT).returncode == 0
    expected = (tables / "model.json").read_bytes()
    given(written.getvalue())
    done = call("fit", "-", *FIT[2:])
    assert done.returncode == 0, done.stderr
    assert (tables / "model.json").read_bytes() == expected
    given(written.getvalue())
    assert call("predict", "model.json", "-").stdout == call("predict", "model.json", "train.csv").stdout
    given(written.getvalue())
    assert "accuracy" in call("evaluate", "model.json", "-", "--target", "label").stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "standard input: cannot be read as CSV"),
        (b"a,label\n", "standard input: the table has no rows"),
        (b"\x1f\x8bnothing", "standard input: cannot be decompressed"),
        (b"PAR1nothing", "standard input: cannot be read as Parquet"),
        (b"a;label\n1;2\n", "standard input: columns are separated by semicolons"),
        (b"a,label\ninf,x\n1,y\n", "standard input: column 'a' contains infinity in row 1"),
    ],
)
def test_what_is_no_table_at_standard_input_is_told(content, message, call, given):
    given(content)
    done = call("fit", "-", *FIT[2:])
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(f"dualboost: {message}")


def test_results_go_to_standard_output(run, tables):
    done = run(*FIT, "-o", "-", "--json")
    assert sorted(path.name for path in tables.iterdir()) == ["test.csv", "train.csv"]
    assert json.loads(done.stdout)["model"] == "DualBoostClassifier"
    assert json.loads(done.stderr)["trees"] == 4
    run(*FIT)
    assert (tables / "model.json").read_text() == done.stdout
    to_terminal = run("predict", "model.json", "test.csv")
    assert run("predict", "model.json", "test.csv", "-o", "-").stdout == to_terminal.stdout
    thinned = run("thin", "model.json", "train.csv", "--target", "label", "--tolerance", "0.5", "-o", "-", "--json")
    assert json.loads(thinned.stdout)["model"] == "DualBoostClassifier"
    assert json.loads(thinned.stderr)["trees"]["after"] == 1
    assert not (tables / "-").exists()


@pytest.mark.parametrize("name", ["p.xlsx", "p", "p.json"])
def test_predictions_are_written_in_a_format_that_the_name_tells(name, run, tables):
    run(*FIT)
    done = run("predict", "model.json", "test.csv", "-o", name)
    expected = f"dualboost: --out {name}: a table's name ends with one of .csv, .csv.gz, .parquet.\n"
    assert (done.returncode, done.stderr) == (1, expected)
    assert not (tables / name).exists()


@pytest.mark.parametrize("command", ["predict", "evaluate", "show", "thin"])
def test_a_model_file_that_is_not_there_is_told_in_a_line(command, run, tables):
    more = {
        "predict": ("test.csv",),
        "evaluate": ("test.csv", "--target", "label"),
        "thin": ("test.csv", "--target", "label", "-o", "small.json"),
    }
    done = run(command, "none.json", *more.get(command, ()))
    assert (done.returncode, done.stderr) == (1, "dualboost: none.json: there is no such model file.\n")


def test_weights_are_multiplicities(run, tables):
    frame = pd.read_csv(tables / "train.csv")
    counts = np.arange(len(frame)) % 3
    frame.assign(n=counts).to_csv(tables / "train.csv", index=False)
    figures = json.loads(run(*FIT, "--sample-weight", "n", "--json").stdout)
    weighted = load_model(tables / "model.json")
    assert list(weighted.feature_names_in_) == [name for name in frame if name != "label"]
    assert figures["weighted_training_accuracy"] > 0.8
    frame.loc[frame.index.repeat(counts)].to_csv(tables / "train.csv", index=False)
    run(*FIT)
    repeated = load_model(tables / "model.json")
    X = frame.drop(columns="label")
    np.testing.assert_allclose(repeated.decision_function(X), weighted.decision_function(X), atol=1e-9)


def test_epsilon_and_the_loss_of_convex(run, tables):
    assert run(*FIT, "--formulation", "erlp", "--epsilon", "0.05").returncode == 0
    assert load_model(tables / "model.json").epsilon == 0.05
    assert run(*FIT, "--formulation", "convex", "--loss", "logistic").returncode == 0
    assert load_model(tables / "model.json").formulation == ConvexBoost(loss="logistic")
    assert "has no epsilon" in run(*FIT, "--epsilon", "0.05").stderr
    assert "--loss logistic is not for classification by logistic: set --formulation convex" in (
        run(*FIT, "--loss", "logistic").stderr
    )


def test_epsilon_of_a_loss_for_numbers(run, tables):
    frame = pd.read_csv(tables / "train.csv")
    frame.assign(label=frame["b"] + 0.1).to_csv(tables / "train.csv", index=False)
    assert run(*FIT, "--loss", "epsilon_insensitive", "--epsilon", "0.2").returncode == 0
    assert load_model(tables / "model.json").loss == EpsilonInsensitiveLoss(epsilon=0.2)
    assert "--epsilon is no option of the loss squared" in run(*FIT, "--epsilon", "0.2").stderr
    assert "--loss exponential is not for regression" in run(*FIT, "--loss", "exponential").stderr


def test_numbers_may_be_declared_categories(run, tables):
    frame = pd.read_csv(tables / "train.csv")
    frame.assign(zone=np.arange(len(frame)) % 4).to_csv(tables / "train.csv", index=False)
    run(*FIT, "--categorical", "zone")
    known = load_model(tables / "model.json").fitted_.encoder.categories
    assert [values.tolist() for values in known.values()] == [["left", "right"], ["0", "1", "2", "3"]]
    assert run("predict", "model.json", "train.csv").returncode == 0
    assert "no column 'Zone' (--categorical); did you mean 'zone'?" in run(*FIT, "--categorical", "Zone").stderr


def test_keys_of_json_have_no_spaces(run, tables):
    run(*FIT)
    figures = json.loads(run("evaluate", "model.json", "test.csv", "--target", "label", "--json").stdout)
    assert list(figures["true_no"]) == ["predicted_no", "predicted_yes"]
    assert "predicted no: " in run("evaluate", "model.json", "test.csv", "--target", "label").stdout
    shown = json.loads(run("show", "model.json", "--json").stdout)
    assert all(" " not in key for part in (figures, shown, *shown["rules"]) for key in part)


def test_tuning_shows_how_far_it_is(tables, capsys, monkeypatch):
    from dualboost import DualBoostClassifierCV

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    frame = pd.read_csv(tables / "train.csv")
    for formulation in ("logistic", "lp"):
        clf = DualBoostClassifierCV(formulation, Cs=3, cv=2, max_trees=3, verbose=1)
        clf.fit(frame.drop(columns="label"), frame["label"])
        assert "6/6" in capsys.readouterr().err


def test_the_command_line_without_its_packages_says_how_to_install_them(monkeypatch, capsys):
    from dualboost import cli

    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"needs the package click: pip install 'click>=8\.1' 'pandas>=2\.0' 'pyarrow"):
        cli._run()


def test_a_thinned_model_of_another_library_needs_a_file(run, tables):
    frame = pd.read_csv(tables / "train.csv").drop(columns="side")
    import lightgbm

    light = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1).fit(frame[list("abcd")], frame["label"])
    light.booster_.save_model(tables / "light.txt")
    done = run("thin", "light.txt", "train.csv", "--target", "label", "-o", "-")
    assert done.stderr == "dualboost: --out -: the name of such a model ends with .txt.\n"


def test_a_model_that_was_fitted_in_python_predicts_a_file(run, tables):
    """Categories that are numbers are read as numbers, those that are text as text."""
    frames = [pd.read_csv(tables / name) for name in ("train.csv", "test.csv")]
    train, test = (frame.assign(zone=np.arange(len(frame)) % 5, code="0" + frame["side"].str[0]) for frame in frames)
    labels = np.where(np.isin(train["zone"], (1, 3)), "yes", "no")
    clf = DualBoostClassifier(max_trees=4, categorical_features=["side", "zone", "code"])
    clf.fit(train.drop(columns="label"), labels).save(tables / "model.json")
    test.to_csv(tables / "test.csv", index=False)
    done = run("predict", "model.json", "test.csv")
    assert done.stderr == ""
    expected = clf.predict(test.drop(columns="label"))
    assert [line.split(",")[0] for line in done.stdout.splitlines()[1:]] == expected.tolist()
    assert set(expected) == {"no", "yes"}
