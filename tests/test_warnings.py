"""A warning is given once a call of the user, however many models it fits; filters of Python are obeyed."""

import subprocess
import sys
import warnings

import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from dualboost import DualBoostClassifier
from dualboost.arguments import warn_user
from dualboost.errors import ConstantPredictionWarning, DataWarning, InvalidParameterError

from .estimators.test_edge_cases import rare
from .thoroughness import only_thorough

STUMPS = DualBoostClassifier(max_depth=1, max_trees=5)


def searched():
    return GridSearchCV(STUMPS, {"C": [1, 10]}, cv=3).fit(*rare())


def cross_validated():
    return cross_val_score(STUMPS, *rare(), cv=3)


def fitted_in_a_loop():
    X, y = rare()
    for start in range(3):
        DualBoostClassifier(max_depth=1, max_trees=5).fit(X[start * 50 :], y[start * 50 :])


@pytest.mark.parametrize("call", [searched, cross_validated, fitted_in_a_loop])
def test_many_fits_warn_once(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        call()
        assert [one.category for one in caught] == [ConstantPredictionWarning]
        call()  # from another line
    assert [one.category for one in caught] == [ConstantPredictionWarning] * 2


def test_errors_and_warnings_control_no_terminal():
    X, y = [[0.0], [1.0], [2.0]] * 4, ["\x1b[2J", "\u202e", "c"] * 4
    with pytest.raises(InvalidParameterError) as caught:
        DualBoostClassifier(monotonic_cst=[1]).fit(X, y)
    assert "\\u001b[2J, c, \\u202e" in str(caught.value)
    with pytest.warns(DataWarning) as given:
        warn_user("column \x1b[2J\nof X", DataWarning)
    assert str(given[0].message) == "column \\u001b[2J\nof X"


@pytest.mark.parametrize(("action", "times"), [("always", 3), ("ignore", 0)])
def test_filters_of_the_user_are_obeyed(action, times):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        fitted_in_a_loop()
    assert len(caught) == times


def test_a_warning_may_be_an_error_each_time():
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ConstantPredictionWarning):
                fitted_in_a_loop()


SEARCH = """
from sklearn.model_selection import GridSearchCV
from tests.test_warnings import STUMPS, rare

GridSearchCV(STUMPS, {"C": [1, 10, 100]}, cv=4, n_jobs=2).fit(*rare())
"""


@only_thorough
def test_processes_of_a_search_tell_it_once_each():
    """In a process of its own, since the processes of an earlier search stay, and have warned already."""
    printed = subprocess.run([sys.executable, "-c", SEARCH], capture_output=True, text=True, check=True).stderr
    assert 1 <= printed.count("ConstantPredictionWarning: ") <= 3


def test_texts_that_differ_in_words_are_told_each():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for text in ("3 rows are odd", "17 rows are odd", "3 columns are odd", "0.5% of rows are odd"):
            warn_user(text, DataWarning)
    assert [str(one.message) for one in caught] == ["3 rows are odd", "3 columns are odd", "0.5% of rows are odd"]
    assert {one.filename for one in caught} == {__file__}
