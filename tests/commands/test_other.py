"""``thin``, ``show``, ``formulations``, ``completion``, and how errors look."""

import json

import lightgbm
import pandas as pd
import pytest
import xgboost

from dualboost import DualBoostClassifier, load_model
from dualboost.datasets import make_ringnorm
from dualboost.formulations import FORMULATIONS


@pytest.fixture
def rings(tmp_path):
    X, y = make_ringnorm(900, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(20)]).assign(label=(y > 0).astype(int))
    frame.to_csv(tmp_path / "rings.csv", index=False)
    return frame


THIN = ("rings.csv", "--target", "label", "--tolerance", "0.05", "--json")


def test_thin_a_model_of_ours(run, rings, tmp_path):
    X, y = rings.drop(columns="label"), rings["label"]
    DualBoostClassifier("cg", max_iter=60).fit(X, y).save(tmp_path / "model.json")
    figures = json.loads(run("thin", "model.json", *THIN, "-o", "small.json").stdout)
    before, after = figures["trees"]
    assert after < before
    assert len(load_model(tmp_path / "small.json").estimators_) in (after, after + 1)  # the intercept is a tree too


@pytest.mark.parametrize("name", ["model.json", "model.ubj"])
def test_thin_a_model_of_xgboost(name, run, rings, tmp_path):
    X, y = rings.drop(columns="label"), rings["label"]
    xgboost.XGBClassifier(n_estimators=40, max_depth=2).fit(X, y).save_model(tmp_path / name)
    done = run("thin", name, *THIN, "-o", f"small_{name}")
    assert done.returncode == 0, done.stderr
    small = xgboost.Booster(model_file=str(tmp_path / f"small_{name}"))
    assert small.num_boosted_rounds() == json.loads(done.stdout)["trees"][1] < 40


def test_thin_a_model_of_lightgbm(run, rings, tmp_path):
    X, y = rings.drop(columns="label"), rings["label"]
    lightgbm.LGBMClassifier(n_estimators=40, max_depth=2, verbose=-1).fit(X, y).booster_.save_model(
        tmp_path / "model.txt"
    )
    done = run("thin", "model.txt", *THIN, "-o", "small.txt")
    assert done.returncode == 0, done.stderr
    assert lightgbm.Booster(model_file=tmp_path / "small.txt").num_trees() == json.loads(done.stdout)["trees"][1] < 40


@pytest.mark.parametrize("name", ["model.txt", "model.ubj", "model.json"])
def test_what_is_no_model_is_told(name, run, rings, tmp_path):
    (tmp_path / name).write_text("{nothing")
    done = run("thin", name, *THIN, "-o", "small.json")
    assert done.returncode == 1
    assert done.stderr.startswith(f"dualboost: {name}: ")
    assert done.stderr.count("\n") == 1


def test_show_trees_and_rules(run, rings, tmp_path):
    fitted = DualBoostClassifier(max_depth=2, max_iter=5).fit(rings.drop(columns="label"), rings["label"])
    fitted.save(tmp_path / "model.json")
    trees = run("show", "model.json").stdout
    assert trees.count("tree ") == fitted.n_columns_
    assert "├─ if x" in trees
    assert "└─ else" in trees
    rules = run("show", "model.json", "--rules", "--most", "3").stdout
    assert rules.count("  if ") == 3
    assert "more (--most" in rules
    found = json.loads(run("show", "model.json", "--json").stdout)
    assert len(found["rules"]) == len(fitted.rules())


def test_formulations_are_listed(run):
    listed = json.loads(run("formulations", "--json").stdout)
    assert [row["name"] for row in listed] == list(FORMULATIONS)
    assert all(row["optimises"] and row["C"] and row["use"] for row in listed)
    text = run("formulations").stdout
    assert all(one.title in text for one in FORMULATIONS.values())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell, run):
    assert "_DUALBOOST_COMPLETE" in run("completion", shell).stdout


def test_errors_are_one_line_and_exit_codes_tell(run, tmp_path):
    missing = run("predict", "model.json", "new.csv")
    assert (missing.returncode, missing.stderr.count("\n")) == (1, 1)
    assert run("fit").returncode == 2
    assert "Traceback" not in missing.stderr
    debugged = run("--debug", "predict", "model.json", "new.csv")
    assert debugged.returncode == 1
    assert "Traceback" in debugged.stderr
