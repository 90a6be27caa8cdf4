"""``export``: the ending decides the format, and the file equals the export in Python."""

import json
import sqlite3

import lightgbm
import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor, load_model, to_c, to_sql

from ..export.running import compiled, numbers_for_c
from ..numbers_to_learn import amounts
from ..thinning.models import numbers, table


@pytest.fixture
def model(tmp_path):
    X, y = table()
    clf = DualBoostClassifier(max_depth=2, max_trees=5).fit(X, np.array(["no", "yes"])[y])
    clf.save(tmp_path / "model.json")
    return clf, X


def test_c(run, model, tmp_path):
    clf, X = model
    figures = json.loads(run("export", "model.json", "-o", "model.c", "--json").stdout)
    text = (tmp_path / "model.c").read_text()
    assert figures == {"export": "model.c", "bytes": len(text), "trees": clf.n_trees_, "leaves": clf.n_leaves_}
    functions = compiled(text)
    assert [functions.model_predict(row.ctypes) for row in numbers_for_c(functions, clf, X)] == [
        int(label == "yes") for label in clf.predict(X)
    ]
    run("export", "model.json", "-o", "other.c", "--name", "credit")
    assert (tmp_path / "other.c").read_text() == to_c(clf, name="credit")


def test_sql(run, model, tmp_path):
    clf, X = model
    assert run("export", "model.json", "-o", "model.sql", "--probability-of", "yes").returncode == 0
    connection = sqlite3.connect(":memory:")
    X.assign(colour=X["colour"].astype(object)).to_sql("t", connection, index=False)
    found = connection.execute(f"SELECT {(tmp_path / 'model.sql').read_text()} FROM t").fetchall()
    np.testing.assert_allclose(np.ravel(found), clf.predict_proba(X)[:, 1], rtol=1e-12)
    run("export", "model.json", "-o", "model.sql")
    assert (tmp_path / "model.sql").read_text() == to_sql(clf) + "\n"


def test_onnx_and_lightgbm(run, model, tmp_path):
    X, y = numbers()
    clf = DualBoostClassifier(max_depth=2, max_trees=5).fit(X, y)
    clf.save(tmp_path / "plain.json")
    for name in ("model.onnx", "model.txt"):
        assert run("export", "plain.json", "-o", name).returncode == 0
    onnx.checker.check_model(onnx.load(tmp_path / "model.onnx"))
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(["probabilities"], {"X": X})[0], clf.predict_proba(X), rtol=1e-12)
    booster = lightgbm.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_allclose(booster.predict(X), clf.predict_proba(X)[:, 1], rtol=1e-9)


def test_quantiles_and_numbered_classes(run, tmp_path):
    X, y = amounts()
    reg = DualBoostRegressor("quantile", quantiles=[0.1, 0.9], max_trees=3).fit(X, y)
    reg.save(tmp_path / "q.json")
    run("export", "q.json", "-o", "q.sql", "--quantile", "0.9")
    assert (tmp_path / "q.sql").read_text() == to_sql(reg, quantile=0.9) + "\n"
    run("export", "q.json", "-o", "q.sql", "--end", "lower")
    assert (tmp_path / "q.sql").read_text() == to_sql(reg, end="lower") + "\n"
    clf = DualBoostClassifier(max_trees=2).fit(*numbers())
    clf.save(tmp_path / "n.json")
    run("export", "n.json", "-o", "n.sql", "--probability-of", "1")
    assert (tmp_path / "n.sql").read_text() == to_sql(clf, probability_of=1) + "\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "model.java"), "must end with one of .c, .sql, .onnx, .txt"),
        (("-o", "model.json"), "is an input"),
        (("-o", "nowhere/model.c"), "there is no folder"),
        (("-o", "model.c", "--quantile", "0.5"), "--quantile 0.5 is not for .c"),
        (("-o", "model.sql", "--probability-of", "maybe"), "must be one of the classes"),
        (("-o", "model.sql", "--quantile", "0.5"), "is not for such a model"),
        (("-o", "model.c", "--name", "1st"), "must be a name in C"),
    ],
)
def test_errors_are_one_line(run, model, tmp_path, arguments, message):
    done = run("export", "model.json", *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"model.json"}


def test_a_fitted_model_file_of_the_command_line(run, tables):
    run("fit", "train.csv", "--target", "label", "--max-trees", "4")
    assert run("export", "model.json", "-o", "model.sql", "--probability-of", "yes").returncode == 0
    test, connection = pd.read_csv(tables / "test.csv"), sqlite3.connect(":memory:")
    test.to_sql("t", connection, index=False)
    found = connection.execute(f"SELECT {(tables / 'model.sql').read_text()} FROM t").fetchall()
    clf = load_model(tables / "model.json")
    features = test.drop(columns="label").astype({"side": "category"})
    np.testing.assert_allclose(np.ravel(found), clf.predict_proba(features)[:, 1], rtol=1e-12)
