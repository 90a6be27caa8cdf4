"""Every refusal names the argument and its value."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from dualboost import CartLearner, ClassifierLearner, DualBoostClassifier, DualBoostClassifierCV, SolverOptions
from dualboost.arguments import require_choice, require_fraction, require_integer, require_positive
from dualboost.datasets import make_twonorm
from dualboost.errors import InvalidDataError, InvalidParameterError
from dualboost.estimators.parameters import as_sample_weight
from dualboost.formulations import ConvexBoost


@pytest.mark.parametrize("value", [0, 1.5, True, "3", None])
def test_integers(value):
    with pytest.raises(InvalidParameterError, match="max_trees="):
        require_integer("max_trees", value, least=1)


@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan, True, "1", None])
def test_positive_numbers(value):
    with pytest.raises(InvalidParameterError, match="tol="):
        require_positive("tol", value)


@pytest.mark.parametrize("value", [0, 1, 1.5, "0.1", True])
def test_fractions(value):
    with pytest.raises(InvalidParameterError, match="validation_fraction="):
        require_fraction("validation_fraction", value)


def test_choices():
    assert require_choice("voting", "hard", ["hard"]) == "hard"
    with pytest.raises(InvalidParameterError, match=r"voting=\[1\].*'hard'"):
        require_choice("voting", [1], ["hard"])


def test_numpy_numbers_are_numbers():
    assert require_integer("max_trees", np.int64(3), least=1) == 3
    assert require_positive("tol", np.float32(0.5)) == 0.5


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
