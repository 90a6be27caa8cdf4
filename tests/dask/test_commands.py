"""``dualboost fit --scheduler``: files that the workers of a cluster read."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from dualboost import load_model
from dualboost.commands.fitting import fit
from dualboost.errors import InvalidDataError, InvalidParameterError

from ..thoroughness import only_thorough
from .test_fits import table


def run(*arguments):
    return CliRunner().invoke(fit, [str(one) for one in arguments], catch_exceptions=False)


@only_thorough
def test_a_folder_of_files(client, tmp_path):
    frame = table(600)
    frame[:250].to_parquet(tmp_path / "a.parquet")
    frame[250:].to_parquet(tmp_path / "b.parquet")
    address, out = client.scheduler.address, tmp_path / "model.json"
    options = ("--target", "label", "--max-depth", 2, "--max-trees", 4, "--drop", "noise", "-o", out)
    spread = run(tmp_path / "*.parquet", "--scheduler", address, "--checkpoint", tmp_path / "kept", "--json", *options)
    figures = json.loads(spread.stdout)
    assert (figures["rows"], figures["features"], figures["task"]) == (600, 6, "classification")
    frame.to_parquet(tmp_path / "all.parquet")
    alone = run(tmp_path / "all.parquet", "--learner", "xgboost", "--json", *options[:-1], tmp_path / "alone.json")
    assert figures["objective"] == pytest.approx(json.loads(alone.stdout)["objective"], rel=1e-8)
    features = frame.drop(columns=["label", "noise"])
    assert load_model(out).score(features, frame["label"]) > 0.7


def test_labels_are_those_of_one_machine_and_files_have_the_same_columns(client, tmp_path):
    frame = table(60).assign(label=np.arange(60.0) % 2)
    frame[:30].to_parquet(tmp_path / "a.parquet")
    frame[30:].astype({"label": int}).to_parquet(tmp_path / "b.parquet")
    asked = ("--target", "label", "--max-trees", 1, "--scheduler", client.scheduler.address, "-o", tmp_path / "m.json")
    run(tmp_path / "*.parquet", *asked)
    assert load_model(tmp_path / "m.json").classes_.tolist() == [0, 1]
    frame[30:].drop(columns="x1").to_parquet(tmp_path / "b.parquet")
    with pytest.raises(InvalidDataError, match=r"b.parquet: there is no column 'x1', which .*a.parquet has"):
        run(tmp_path / "*.parquet", *asked)


def test_what_cannot_be_fitted_over_a_cluster_is_said(client, tmp_path, monkeypatch):
    monkeypatch.setattr("dualboost.commands.estimators.LONGEST_WAIT", 0.5)
    table(60).to_parquet(tmp_path / "a.parquet")
    address = client.scheduler.address
    with pytest.raises(InvalidDataError, match="there is no column 'lable'"):
        run(tmp_path / "a.parquet", "--target", "lable", "--scheduler", address)
    with pytest.raises(InvalidDataError, match="Parquet"):
        run(tmp_path / "a.csv", "--target", "label", "--scheduler", address)
    with pytest.raises(InvalidParameterError, match="--C auto"):
        run(tmp_path / "a.parquet", "--target", "label", "--scheduler", address, "--C", "auto")
    with pytest.raises(InvalidParameterError, match="no scheduler responds"):
        run(tmp_path / "a.parquet", "--target", "label", "--scheduler", "tcp://127.0.0.1:1")
