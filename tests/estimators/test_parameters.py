"""Every refusal names the argument and its value."""

import inspect
import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from dualboost import (
    CartLearner,
    ClassifierLearner,
    DualBoostClassifier,
    DualBoostClassifierCV,
    DualBoostRegressor,
    DualBoostRegressorCV,
    SolverOptions,
)
from dualboost.datasets import make_twonorm
from dualboost.errors import InvalidDataError, InvalidParameterError
from dualboost.estimators.modes import MODES
from dualboost.estimators.parameters import CHECKS, as_sample_weight
from dualboost.formulations import ConvexBoost, MDBoost
from dualboost.model_file.objects import CODECS
from dualboost.parameters import ALL, TABLE, Choice, Other, parameters_of

ESTIMATORS = (DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, DualBoostRegressorCV)
UNHASHABLE = ([1, "x"], {"a": 1}, np.array([1, 2]))
HEADER = re.compile(r"^    (\w[\w, ]*?) : (.*)$", re.MULTILINE)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_signatures_and_docstrings_are_those_of_the_table(kind):
    known = parameters_of(kind.__name__)
    assert kind().get_params() == {name: one.default for name, one in known.items()}
    signature = inspect.signature(kind).parameters
    assert {name: one.default for name, one in signature.items()} == kind().get_params()
    text = kind.__doc__.split("    Parameters\n    ----------\n")[1].split("    Attributes\n")[0]
    headers = {name: what for names, what in HEADER.findall(text) for name in names.split(", ")}
    assert headers.keys() == known.keys()
    for name, parameter in known.items():
        if headers[name].startswith("as for "):
            continue
        shown = repr(parameter.default).replace("'", '"').replace("e-0", "e-")
        assert headers[name].endswith(f"default={shown}"), name
        if isinstance(parameter.kind, Choice):
            assert all(f'"{choice}"' in headers[name] for choice in parameter.kind.names), name


def test_the_table_is_complete():
    own = {one.name for one in TABLE if isinstance(one.kind, Other)}
    assert set(CODECS) == own
    assert set(CHECKS) <= own
    assert {name for mode in MODES.values() for name in mode.parameters} <= {one.name for one in TABLE}
    assert all(set(one.of) <= set(ALL) and one.help.endswith(".") for one in TABLE)


WRONG = {
    **dict.fromkeys(("max_depth", "max_trees", "max_leaf_nodes", "n_iter_no_change"), (0, 1.5, True, "3")),
    **dict.fromkeys(("time_limit", "epsilon"), (0, -1.0, np.inf, np.nan, True, "1")),
    "tol": (None, 0, -1.0, np.inf, np.nan, True, "1"),
    **dict.fromkeys(("optimize", "device", "select"), ("x", 1, True, *UNHASHABLE)),
    "interval_calibration": ("x", 1, True, *UNHASHABLE, "conformal"),  # the last without quantiles
    "calibration": ("x", None, *UNHASHABLE),
    "validation_fraction": (0, 1, 1.5, "0.1", True),
    "subsample": (0, 1.1, np.nan, True, "1"),
    "min_samples_leaf": (0, 1.0, 1.5, np.nan, True, None, "sqrt"),
    "max_features": (0, 1.5, np.nan, True, "all"),
    "warm_start": (1, None, "yes"),
    "verbose": (-1, 1.5, None),
    "n_jobs": (0, 1.5, True),
    "random_state": (-1, "x"),
    "solver": ("ipm", {}),
    "cv": ([1, "x"], {"a": 1}, 1, "x"),
    "Cs": ("x", 0, [[]], {"a": 1}),
    "scoring": ("x", [1, "x"], {"a": 1}),
    "callbacks": (1, "x"),
    "class_weight": ("x", [1], {0: 0}),
    "interaction_cst": ("x", 1, [1]),
    "monotonic_cst": ("x", 1, [2, 0], {"a": 1}),
    "learner": ("oak", []),
    "formulation": ("x", *UNHASHABLE),
    "loss": ("x", *UNHASHABLE),
    "quantiles": ("x", 0.5, [0.5]),
    "categorical_features": ("x", 1, [1.5]),
    "C": (0, -1.0, "x"),
}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_wrong_value_is_an_error_that_names_the_argument(kind):
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    assert WRONG.keys() == {one.name for one in TABLE if one.of}
    for name in parameters_of(kind.__name__):
        for value in WRONG[name]:
            needed = {"loss": "quantile"} if name == "quantiles" else {}
            needed |= {"validation_fraction": 0.5} if name == "scoring" else {}
            with pytest.raises(InvalidParameterError, match=re.escape(name)):
                kind(**needed | {name: value}).fit(X, y)


@pytest.mark.parametrize("value", [*UNHASHABLE, "x"], ids=str)
@pytest.mark.parametrize(
    ("made", "name"),
    [
        (lambda value: ConvexBoost(loss=value), "loss"),
        (lambda value: ConvexBoost(penalty=value), "penalty"),
        (lambda value: MDBoost(negative_weights=value), "negative_weights"),
        (lambda value: CartLearner(voting=value), "voting"),
        (lambda value: DualBoostClassifier("lp", solver=SolverOptions(method=value)), "method"),
        (lambda value: DualBoostClassifier(solver=SolverOptions(method=value)), "method"),
        (lambda value: SolverOptions(schedule=value), "schedule"),
    ],
)
def test_choices_of_objects_name_the_argument_and_the_choices(made, name, value):
    with pytest.raises(InvalidParameterError, match=rf"{name}=.* is not known; choose one of \['"):
        made(value).fit(np.arange(20.0)[:, None], np.arange(20) % 2)


def test_numpy_numbers_are_numbers():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    options = {"max_trees": np.int64(3), "tol": np.float32(1e-5), "min_samples_leaf": np.float64(0.1)}
    assert DualBoostClassifier(**options, warm_start=np.bool_(False)).fit(X, y).n_trees_ <= 3


def test_sample_weights():
    np.testing.assert_array_equal(as_sample_weight(None, 2), [1.0, 1.0])
    np.testing.assert_array_equal(as_sample_weight(3, 2), [3.0, 3.0])
    np.testing.assert_array_equal(as_sample_weight([1, 0], 2), [1.0, 0.0])
    with pytest.raises(InvalidDataError, match="sample_weight='balanced'"):
        as_sample_weight("balanced", 2)
    with pytest.raises(InvalidDataError, match=r"contains -2\.0"):
        as_sample_weight([1.0, -2.0], 2)


@pytest.mark.parametrize(
    ("clf", "grid"),
    [
        (
            DualBoostClassifier(ConvexBoost(), max_trees=4),
            {"formulation__loss": ["logistic", "exponential"], "formulation__C": [0.1, 1.0]},
        ),
        (DualBoostClassifier("lp", learner=CartLearner(), max_trees=4), {"learner__voting": ["hard", "confidence"]}),
        (
            DualBoostClassifier("lp", learner=ClassifierLearner(LogisticRegression()), max_trees=2),
            {"learner__classifier__C": [0.1, 1.0]},
        ),
        (
            DualBoostClassifier("lp", solver=SolverOptions(), max_trees=4),
            {"solver__reoptimize": ["as_needed", "every"]},
        ),
    ],
    ids=["formulation", "learner", "classifier", "solver"],
)
def test_parameters_of_parameters_are_searched_over(clf, grid):
    X, y = make_twonorm(120, random_state=0)
    before = clf.get_params()
    search = GridSearchCV(clf, grid, cv=2, error_score="raise").fit(X, y)
    assert set(search.best_params_) == set(grid)
    assert {name: value for name, value in clf.get_params().items() if "__" in name} == {
        name: value for name, value in before.items() if "__" in name
    }


def test_arguments_beyond_the_first_two_have_names():
    with pytest.raises(TypeError):
        DualBoostClassifier("nm", 0.1, 0.01)
    with pytest.raises(TypeError):
        DualBoostClassifierCV("nm", 10, 0.01)


def test_what_tuning_would_choose_is_not_given():
    X, y = make_twonorm(120, random_state=0)
    with pytest.raises(InvalidParameterError, match="which is to be chosen from Cs"):
        DualBoostClassifierCV(ConvexBoost(C=1.0)).fit(X, y)


@pytest.mark.parametrize("name", ["learner__voting", "formulation__C"])
def test_options_of_a_name_need_the_object(name):
    with pytest.raises(InvalidParameterError, match=rf"{name} needs an object.*CartLearner"):
        DualBoostClassifier("lp").set_params(**{name: 1})
    clf = DualBoostClassifier("lp").set_params(learner=CartLearner(), learner__voting="confidence")
    assert clf.learner.voting == "confidence"
