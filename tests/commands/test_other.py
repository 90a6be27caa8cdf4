"""``thin``, ``show``, ``formulations``, ``completion``, and how errors look."""

import json
import subprocess
import sys

import lightgbm
import pandas as pd
import pytest
import xgboost

from dualboost import DualBoostClassifier, load_model
from dualboost.datasets import make_ringnorm
from dualboost.formulations import FORMULATIONS, NUMBER_LOSSES

from ..thoroughness import only_thorough


@pytest.fixture
def rings(tmp_path):
    X, y = make_ringnorm(900, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(20)]).assign(label=(y > 0).astype(int))
    frame.to_csv(tmp_path / "rings.csv", index=False)
    return frame


THIN = ("rings.csv", "--target", "label", "--tolerance", "0.05", "--json")


def test_thin_a_model_of_ours(run, rings, tmp_path):
    X, y = rings.drop(columns="label"), rings["label"]
    DualBoostClassifier("cg", max_trees=60).fit(X, y).save(tmp_path / "model.json")
    figures = json.loads(run("thin", "model.json", *THIN, "-o", "small.json").stdout)
    before, after = figures["trees"]["before"], figures["trees"]["after"]
    assert all(name.isidentifier() for name in figures)
    assert after < before
    assert len(load_model(tmp_path / "small.json").estimators_) in (after, after + 1)  # the intercept is a tree too


@pytest.mark.parametrize("name", ["model.json", "model.ubj"])
def test_thin_a_model_of_xgboost(name, run, rings, tmp_path):
    X, y = rings.drop(columns="label"), rings["label"]
    xgboost.XGBClassifier(n_estimators=40, max_depth=2).fit(X, y).save_model(tmp_path / name)
    done = run("thin", name, *THIN, "-o", f"small_{name}")
    assert done.returncode == 0, done.stderr
    small = xgboost.Booster(model_file=str(tmp_path / f"small_{name}"))
    assert small.num_boosted_rounds() == json.loads(done.stdout)["trees"]["after"] < 40


def test_thin_a_model_of_lightgbm(run, rings, tmp_path):
    X, y = rings.drop(columns="label"), rings["label"]
    lightgbm.LGBMClassifier(n_estimators=40, max_depth=2, verbose=-1, n_jobs=1).fit(X, y).booster_.save_model(
        tmp_path / "model.txt"
    )
    done = run("thin", "model.txt", *THIN, "-o", "small.txt")
    assert done.returncode == 0, done.stderr
    small = lightgbm.Booster(model_file=tmp_path / "small.txt")
    assert small.num_trees() == json.loads(done.stdout)["trees"]["after"] < 40


@only_thorough
@pytest.mark.parametrize("name", ["model.json", "model.txt", "ours.json"])
def test_thin_models_of_three_classes(name, run, rings, tmp_path):
    X = rings.drop(columns="label")
    label = pd.cut(X["x0"] + X["x1"], 3, labels=["low", "middle", "high"]).astype(str)
    rings.assign(label=label).to_csv(tmp_path / "rings.csv", index=False)
    codes = label.map({"high": 0, "low": 1, "middle": 2})
    if name == "model.json":
        xgboost.XGBClassifier(n_estimators=15, max_depth=2).fit(X, codes).save_model(tmp_path / name)
    elif name == "model.txt":
        model = lightgbm.LGBMClassifier(n_estimators=15, max_depth=2, verbose=-1, n_jobs=1).fit(X, codes)
        model.booster_.save_model(tmp_path / name)
    else:
        DualBoostClassifier(max_trees=15, max_depth=2).fit(X, label).save(tmp_path / name)
    done = run("thin", name, *THIN, "-o", f"small_{name}")
    assert done.returncode == 0, done.stderr
    trees = json.loads(done.stdout)["trees"]
    assert trees["after"] < trees["before"] == (15 if name == "ours.json" else 45)
    if name == "model.json":
        assert 3 * xgboost.Booster(model_file=str(tmp_path / f"small_{name}")).num_boosted_rounds() == trees["after"]
    rings.to_csv(tmp_path / "rings.csv", index=False)
    done = run("thin", name, *THIN, "-o", f"small_{name}")
    assert done.returncode == 1
    assert "must hold 3 labels" in done.stderr or "the classes of the model are" in done.stderr


@pytest.mark.parametrize("name", ["model.txt", "model.ubj", "model.json"])
def test_what_is_no_model_is_told(name, run, rings, tmp_path):
    (tmp_path / name).write_text("{nothing")
    done = run("thin", name, *THIN, "-o", f"small_{name}")
    assert done.returncode == 1
    assert done.stderr.startswith(f"dualboost: {name}: ")
    assert done.stderr.count("\n") == 1


def test_a_thinned_model_keeps_its_kind(run, rings, tmp_path):
    fitted = xgboost.XGBClassifier(n_estimators=5).fit(rings.drop(columns="label"), rings["label"])
    fitted.save_model(tmp_path / "m.json")
    done = run("thin", "m.json", *THIN, "-o", "small.txt")
    assert done.returncode == 1
    assert "ends with .json or .ubj" in done.stderr


def test_show_trees_and_rules(run, rings, tmp_path):
    fitted = DualBoostClassifier(max_depth=2, max_trees=5).fit(rings.drop(columns="label"), rings["label"])
    fitted.save(tmp_path / "model.json")
    trees = run("show", "model.json").stdout
    assert trees.count("tree ") == fitted.n_trees_
    assert "├─ if x" in trees
    assert "└─ else" in trees
    rules = run("show", "model.json", "--rules", "--most", "3").stdout
    assert rules.count("  if ") == 3
    assert "more (--most" in rules
    found = json.loads(run("show", "model.json", "--json").stdout)
    assert len(found["rules"]) == len(fitted.rules())


def test_formulations_are_listed(run):
    listed = json.loads(run("formulations", "--json").stdout)
    assert [row["name"] for row in listed if row["option"] == "--formulation"] == list(FORMULATIONS)
    assert [row["name"] for row in listed if row["option"] == "--loss"] == list(NUMBER_LOSSES)
    assert all(row["optimises"] and row["C"] and row["use"] for row in listed)
    text = run("formulations").stdout
    assert all(one.title in text for one in [*FORMULATIONS.values(), *NUMBER_LOSSES.values()])
    assert text.index("For classes") < text.index("For numbers (--loss)") < text.index("Squared loss")


def test_help_lists_every_command_and_imports_none():
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from dualboost.commands import COMMANDS, dualboost\n"
        "text = CliRunner().invoke(dualboost, ['--help']).output\n"
        "assert all(does in ' '.join(text.split()) for _, does in COMMANDS.values()), text\n"
        "assert 'sklearn' not in sys.modules\n"
        "assert all(dualboost.get_command(None, name).name == name for name in COMMANDS)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_what_thinning_may_lose_is_a_score_of_ones_choice(run, tables):
    run("fit", "train.csv", "--target", "label", "--max-trees", "6", "--max-depth", "2")
    done = run("thin", "model.json", "train.csv", "--target", "label", "--scoring", "roc_auc", "-o", "small.json")
    assert "roc_auc, validation" in done.stdout
    done = run("thin", "model.json", "train.csv", "--target", "label", "--scoring", "auc", "-o", "small.json")
    assert "scoring='auc' is not known" in done.stderr


def test_a_shell_completes_commands_and_options(run, monkeypatch):
    monkeypatch.setenv("_DUALBOOST_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "dualboost f")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert run().stdout.split() == ["plain,fit", "plain,formulations"]
    monkeypatch.setenv("COMP_WORDS", "dualboost fit --max")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert run().stdout.split() == [f"plain,--max-{name}" for name in ("depth", "trees", "leaf-nodes", "features")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell, run):
    assert "_DUALBOOST_COMPLETE" in run("completion", shell).stdout


def test_errors_are_one_line_and_exit_codes_tell(start, run, tmp_path):
    missing = start("predict", "model.json", "new.csv")
    assert (missing.returncode, missing.stderr.count("\n")) == (1, 1)
    assert run("fit").returncode == 2
    assert "Traceback" not in missing.stderr
    debugged = run("--debug", "predict", "model.json", "new.csv")
    assert debugged.returncode == 1
    assert "Traceback" in debugged.stderr
