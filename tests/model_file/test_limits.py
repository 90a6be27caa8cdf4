"""The limits of trees in model files: written, valid by the schema, read, and refused where they are damaged."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor, load_model
from dualboost.errors import ModelFormatError

from .json_schema import Schema

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "model.schema.json").read_text())
LIMITS = [
    {"min_samples_leaf": 3, "max_leaf_nodes": 4, "max_features": "sqrt", "subsample": 0.9},
    {"min_samples_leaf": 0.05, "max_features": np.float64(0.5), "subsample": 1},
    {"interaction_cst": [{0, 1}, {2}], "monotonic_cst": [1, 0, -1]},
    {"interaction_cst": "pairwise", "monotonic_cst": np.array([0, 1, 0])},
    {"monotonic_cst": {"a": 1, "c": -1}, "max_features": 2, "warm_start": True},
]


def fitted(kind, **limits):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    y = X["a"].to_numpy() + rng.normal(size=120)
    estimator = DualBoostRegressor if kind == "numbers" else DualBoostClassifier
    return estimator(max_depth=2, max_trees=2, **limits).fit(X, y if kind == "numbers" else y > 0), X


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_limits_are_kept(limits, kind, tmp_path):
    model, X = fitted(kind, **limits)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    for name, value in limits.items():
        assert getattr(loaded, name) == (value.tolist() if isinstance(value, np.ndarray) else value)
    assert Schema(SCHEMA).accepts(json.loads((tmp_path / "model.json").read_text()))


WRONG = [
    ("monotonic_cst", [1, 2, 0], r"monotonic_cst\[1\] is 2; it must be -1, 0 or 1"),
    ("monotonic_cst", {"a": 1}, "monotonic_cst is an object"),
    ("monotonic_cst", [{"feature": "a"}], r"monotonic_cst\[0\].sign is missing"),
    (
        "monotonic_cst",
        [{"feature": "a", "sign": 1}] * 2,
        r"monotonic_cst\[1\].feature is 'a', which has a sign already",
    ),
    ("interaction_cst", [[0], 1], r"interaction_cst\[1\] is 1; it must be a list"),
    ("interaction_cst", [["a"]], r"interaction_cst\[0\]\[0\] is 'a'"),
    ("min_samples_leaf", None, "min_samples_leaf is null"),
    ("max_leaf_nodes", 1, "parameters are refused: max_leaf_nodes=1"),
    ("subsample", 2, "parameters are refused: subsample=2"),
    ("warm_start", 1, "warm_start is 1"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG, ids=lambda part: str(part))
def test_what_is_damaged_is_refused(name, value, message, tmp_path):
    model, _ = fitted("classes")
    model.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    document["parameters"][name] = value
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ModelFormatError, match=message):
        load_model(tmp_path / "model.json")


@pytest.mark.parametrize("name", sorted({name for limits in LIMITS for name in limits}))
def test_files_without_them_are_refused(name, tmp_path):
    model, _ = fitted("classes")
    model.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    del document["parameters"][name]
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ModelFormatError, match=f"parameters.{name} is missing"):
        load_model(tmp_path / "model.json")
