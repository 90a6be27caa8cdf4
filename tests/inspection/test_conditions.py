"""Conditions of hand-made trees, as text."""

import numpy as np
import pytest

from dualboost.inspection.rules import Names, leaf_conditions, number, rule_text, split_text
from dualboost.trees.tree import Tree, constant_tree

NAMES = Names(["age", "job", "income"], {1: np.array(["a", "b", "c"])}, np.array([False, True, True]))


def chain(*tests, missing_left=None):
    """A tree whose left sides are leaves and whose right sides go on; tests are (feature, threshold or codes)."""
    n = len(tests)
    sets = {k: np.array(sorted(t)) for k, (_, t) in enumerate(tests) if isinstance(t, set)}
    return Tree(
        feature=np.array([feature for feature, _ in tests]),
        threshold=np.array([0.0 if isinstance(t, set) else t for _, t in tests]),
        left=np.array([~k for k in range(n)]),
        right=np.array([*range(1, n), ~n]),
        missing_left=np.array(missing_left or [False] * n),
        categories=sets,
        gain=np.ones(n),
        votes=np.zeros(n + 1),
    )


def texts(tree):
    return [rule_text(path, NAMES) for _, path in sorted(leaf_conditions(tree).items())]


def test_features_without_missing_values_do_not_mention_them():
    assert texts(chain((0, 37.5))) == ["age <= 37.5", "age > 37.5"]


def test_the_side_of_a_missing_value_is_named():
    assert texts(chain((2, 5.0))) == ["income <= 5", "(income > 5 or missing)"]
    assert texts(chain((2, 5.0), missing_left=[True])) == ["(income <= 5 or missing)", "income > 5"]


def test_tests_of_one_feature_are_merged():
    assert texts(chain((2, 5.0), (2, 9.0), missing_left=[False, True])) == [
        "income <= 5",
        "(5 < income <= 9 or missing)",
        "income > 9",
    ]
    assert texts(chain((1, {0, 1}), (1, {2}))) == ["job in {a, b}", "job in {c}", "job not in {a, b, c}"]


def test_several_features():
    assert texts(chain((0, 37.5), (1, {0, 2}), (2, 5.0)))[2] == "age > 37.5 and job not in {a, c} and income <= 5"


def test_splits_on_being_missing():
    assert texts(chain((2, np.inf))) == ["income not missing", "income missing"]
    assert texts(chain((1, {0}), missing_left=[True])) == [
        "(job in {a} or missing)",
        "job not in {a} and job not missing",
    ]


def test_a_leaf_that_no_row_reaches():
    assert texts(chain((0, 5.0), (0, 3.0), missing_left=[True, False])) == ["age <= 5", "never", "age > 5"]


def test_a_single_leaf_and_a_single_split():
    assert texts(constant_tree(1.0)) == ["always"]
    assert split_text(chain((2, 5.0), missing_left=[True]), 0, NAMES) == "income <= 5"


def test_codes_without_names():
    assert NAMES.category(1, 7) == "7"
    assert Names(["x0"], {}, np.array([False])).category_set(0, {3, 1}) == "{1, 3}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (16.795000000000005, "16.795"),
        (1.0000000180025095e-35, "0"),
        (20231231.5, "20231231.5"),
        (-0.000123456789, "-0.000123457"),
        (1e300, "1e+300"),
        (np.inf, "inf"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text
