"""Files that are written are valid by the published schema."""

import json
from pathlib import Path

import numpy as np
import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor, load_model
from dualboost.formulations import (
    FORMULATIONS,
    NUMBER_LOSSES,
    ConvexBoost,
    LPBoost,
    QRLPBoost,
    QuantileLoss,
    SpatialLPBoost,
)
from dualboost.learners import LEARNERS
from dualboost.loading import read_model
from dualboost.model_file.checks import BODY, MOST_FEATURES, STOP_REASONS, read_file
from dualboost.model_file.trees import CATEGORY_TYPES, CLASS_TYPES
from dualboost.parameters import Choice, parameters_of
from dualboost.solvers import SOLVERS, SolverOptions

from ..golden import model_paths
from .json_schema import Schema

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "model.schema.json").read_text())
PARTS = SCHEMA["$defs"]
PATHS = model_paths()
GOLDEN = [json.loads(read_file(path)) for path in PATHS]


@pytest.mark.parametrize("model", GOLDEN, ids=[path.name for path in PATHS])
def test_saved_files_are_valid(model):
    assert Schema(SCHEMA).accepts(model)


@pytest.mark.parametrize("model", GOLDEN, ids=[path.name for path in PATHS])
def test_every_key_that_is_missing_or_added_makes_them_invalid(model):
    schema = Schema(SCHEMA)
    assert not schema.accepts(model | {"extra": 1})
    for key in model:
        assert not schema.accepts({name: value for name, value in model.items() if name != key}), key
    for key in model.get("parameters", ()):
        without = {name: value for name, value in model["parameters"].items() if name != key}
        assert not schema.accepts(model | {"parameters": without}), key
        assert not schema.accepts(model | {"parameters": without | {"more": 1}}), key
    for key, value in model.items():
        assert not schema.accepts(model | {key: [value]}), key
    for tree in model["trees"][:1]:
        for key in tree:
            without = {name: value for name, value in tree.items() if name != key}
            assert not schema.accepts(model | {"trees": [without]}), key


def test_schema_and_code_have_the_same_names():
    properties = PARTS["parameters"]["properties"]
    for kind, keys in BODY.items():
        assert PARTS[kind]["required"][4:] == list(keys)
        known, part = parameters_of(kind), PARTS[kind]["properties"].get("parameters")
        if part is not None:
            assert set(part["required"]) == set(known) <= set(properties)
            assert part["maxProperties"] == len(known)
        for name, parameter in known.items():
            if isinstance(parameter.kind, Choice):
                choices = {*parameter.kind.names} | ({None} if parameter.default is None else set())
                assert set(properties[name]["enum"]) == choices, name
    assert set(properties["formulation"]["oneOf"][0]["enum"]) == set(FORMULATIONS)
    assert properties["loss"]["oneOf"][0]["enum"] == list(NUMBER_LOSSES)
    assert set(PARTS["solver"]["properties"]) == set(SolverOptions().get_params())
    assert set(PARTS["solver"]["properties"]["method"]["enum"]) == {"auto", *SOLVERS}
    named, *objects = PARTS["learner"]["oneOf"]
    assert set(named["enum"]) == set(LEARNERS) == {one["properties"]["name"]["const"] for one in objects}
    for one in objects:
        learner = LEARNERS[one["properties"]["name"]["const"]]()
        assert set(one["properties"]) == {"name", *learner.get_params()} == set(one["required"])
    assert PARTS["classes"]["properties"]["type"]["enum"] == list(CLASS_TYPES)
    assert PARTS["categories"]["properties"]["type"]["enum"] == list(CATEGORY_TYPES)
    assert PARTS["fit"]["properties"]["stop_reason"]["enum"] == list(STOP_REASONS)
    assert PARTS["features"]["properties"]["count"]["maximum"] == MOST_FEATURES


OBJECTS = (
    ConvexBoost(loss="logistic", penalty="linf"),
    SpatialLPBoost(smoothness=0.5, neighbours=(1, 1)),
    SpatialLPBoost(smoothness=0),
    LPBoost(scale_free=True),
    QRLPBoost(scale_free=True),
)


@pytest.mark.parametrize("formulation", [*FORMULATIONS, *OBJECTS], ids=str)
def test_every_formulation_is_valid_as_it_is_written(formulation, tmp_path):
    X, y = np.arange(12.0)[:, None], np.arange(12) % 4 > 1
    clf = DualBoostClassifier(formulation, max_depth=2, max_trees=5).fit(X, y)
    clf.save(tmp_path / "model.json")
    written = json.loads((tmp_path / "model.json").read_text())
    assert Schema(SCHEMA).accepts(written)
    assert not Schema(SCHEMA).accepts(written | {"formulation": written["formulation"] | {"more": 1}})
    assert load_model(tmp_path / "model.json").formulation_ == clf.formulation_


@pytest.mark.parametrize("name", NUMBER_LOSSES)
def test_every_loss_is_valid_as_it_is_written(name, tmp_path):
    X, y = np.arange(12.0)[:, None], np.arange(12.0) % 5
    more = [QuantileLoss(quantiles=(0.1, 0.5, 0.9))] if name == "quantile" else []
    for loss in (name, NUMBER_LOSSES[name](), *more):
        reg = DualBoostRegressor(loss, max_depth=2, max_trees=3).fit(X, y)
        reg.save(tmp_path / "model.json")
        written = json.loads((tmp_path / "model.json").read_text())
        assert Schema(SCHEMA).accepts(written)
        assert not Schema(SCHEMA).accepts(written | {"formulation": written["formulation"] | {"more": 1}})
        assert not Schema(SCHEMA).accepts(written | {"task": written["task"] | {"scale": 0.0}})
        assert load_model(tmp_path / "model.json").formulation_ == reg.formulation_


def test_the_example_of_the_documentation_is_what_its_code_makes(tmp_path, monkeypatch):
    text = (Path(__file__).parents[2] / "docs" / "model_format.md").read_text(encoding="utf-8")
    code, example = (text.split(f"```{language}\n")[1].split("```")[0] for language in ("python", "json"))
    assert Schema(SCHEMA).accepts(json.loads(example))
    monkeypatch.chdir(tmp_path)
    made = {}
    exec(code, made)
    np.testing.assert_allclose(
        read_model(example).decision_function(made["X"]), made["clf"].decision_function(made["X"]), atol=1e-6
    )
    assert list(json.loads(Path("model.json").read_text())) == list(json.loads(example))
