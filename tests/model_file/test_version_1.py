"""Files of version 1 are read as the same models in the words of version 2, and refused as strictly."""

import json

import pytest

from dualboost import CartLearner, OptimalLearner, SolverOptions
from dualboost.errors import ModelFormatError
from dualboost.formulations import LPBoost, MDBoost
from dualboost.loading import read_model
from dualboost.model_file.checks import read_file

from ..golden import FOLDER


def document(name):
    return json.loads(read_file(FOLDER / f"{name}.json"))


def loaded(name, used=None, **parameters):
    """A file of version 1 with other arguments, and another formulation if it is given."""
    model = document(name)
    model["parameters"] |= parameters
    if used is not None:
        model["formulation"] = used
    return read_model(json.dumps(model))


def test_arguments_have_their_new_names():
    clf = loaded("stumps")
    assert (clf.max_trees, clf.solver, clf.learner, clf.epsilon) == (12, None, "cart", None)
    assert clf.stop_reason_ in ("max_trees", "converged")
    assert list(clf.history_["n_trees"]) == document("stumps")["history"]["n_columns"]
    assert list(loaded("tuned").path_["n_trees"]) == document("tuned")["tuning"]["path"]["n_columns"]


def test_options_are_gathered_in_objects():
    clf = loaded(
        "pool", method="ipm", pool="rotate", columns_per_iteration="all", voting="confidence", criterion="edge"
    )
    assert clf.solver == SolverOptions("ipm", columns_per_iteration="all", schedule="rotate")
    assert clf.learner == [CartLearner(None, "edge", "confidence"), OptimalLearner(2, "confidence")]
    assert loaded("pool").learner == ["cart", OptimalLearner(2)]
    assert loaded("confidence").learner == CartLearner(voting="confidence")


def test_epsilon_is_kept_where_it_meant_something():
    assert loaded("numbered_category", epsilon=0.3).epsilon == 0.3
    assert loaded("stumps", epsilon=0.3).epsilon is None
    assert loaded("pool", epsilon=0.3).epsilon is None


def test_an_argument_replaced_the_C_of_an_object():
    clf = loaded("pool", C=7.0)
    assert clf.C is None
    assert clf.formulation == MDBoost(C=7.0, negative_weights="clip")
    assert loaded("pool").formulation.C == 2.0
    assert loaded("tuned", formulation={"name": "nm", "C": 0.5}).formulation.C is None


def test_active_rows_were_a_formulation():
    used = {"name": "dda", "C": 0.1, "sample": 50}
    named = loaded("stumps", used, formulation="dda")
    assert (named.formulation, named.solver.active_rows) == ("lp", 20_000)
    given = loaded("stumps", used, formulation={"name": "dda", "C": None, "sample": 50})
    assert (given.formulation, given.solver.active_rows) == (LPBoost(), 50)
    assert given.formulation_ == LPBoost(C=0.1)


WRONG = [
    ("parameters", "max_trees", 5, "max_trees is not a key of version 1"),
    ("parameters", "solver", None, "solver is not a key of version 1"),
    ("parameters", "max_iter", "many", "max_trees is 'many'"),
    ("parameters", "method", "gurobi", "parameters.master is 'gurobi'"),
    ("parameters", "reoptimize", "never", "reoptimize='never'"),
    ("parameters", "pool", 1, "parameters.pool is 1"),
    ("parameters", "columns_per_iteration", 0, "columns_per_iteration=0"),
    ("parameters", "voting", "loud", "voting='loud'"),
    ("parameters", "criterion", "odd", "criterion='odd'"),
    ("parameters", "n_thresholds", 0, "n_thresholds=0"),
    ("parameters", "tree_time_limit", 0, "tree_time_limit=0"),
    ("parameters", "epsilon", 0, "parameters.epsilon is 0"),
    ("parameters", "learner", {"name": "cart", "max_depth": 0}, "max_depth is 0"),
    ("parameters", "learner", {"name": "cart", "max_depth": 1, "voting": "hard"}, "voting is not a key"),
    ("parameters", "learner", 3, "parameters.learner is 3"),
    ("parameters", "formulation", {"name": "dda", "C": None, "sample": 1}, "sample is 1"),
    ("parameters", "more", 1, "parameters.more is not a key"),
    ("fit", "n_trees", 1, "fit.n_trees is not a key of version 1"),
    ("fit", "stop_reason", "max_trees", "which version 1 of the format does not have"),
    ("history", "n_trees", [], "history.n_trees is not a key of version 1"),
]


@pytest.mark.parametrize(("part", "name", "value", "message"), WRONG, ids=str)
def test_what_is_wrong_is_named(part, name, value, message):
    model = document("stumps")
    model[part][name] = value
    with pytest.raises(ModelFormatError, match=message):
        read_model(json.dumps(model))


@pytest.mark.parametrize("part", ["parameters", "formulation", "fit", "history"])
@pytest.mark.parametrize("value", [None, 3, "x", [], {}], ids=str)
def test_parts_of_another_kind_are_refused(part, value):
    if (part, value) == ("parameters", {}):
        return  # all arguments have defaults, but the formulation is then another than the one used
    with pytest.raises(ModelFormatError, match=part):
        read_model(json.dumps(document("stumps") | {part: value}))
