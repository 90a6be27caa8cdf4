"""Columns of booleans read as booleans in rules, trees as text, effects, notebooks and pictures of trees."""

import re

import numpy as np
import pytest

from dualboost import DualBoostClassifier
from dualboost.inspection.rules import Condition, Names, draw_tree, names_of
from dualboost.plots import plot_tree

from ..thinning.models import truths

NAMES = Names(["member", "share"], {}, np.array([False, False]), truths=frozenset({0}))


@pytest.fixture(scope="module")
def fitted():
    return DualBoostClassifier(max_depth=2, max_trees=8).fit(*truths(n=800))


def test_a_cut_between_zero_and_one_tells_truth_values_apart():
    assert Condition(high=1e-35).text(0, NAMES) == "member is False"
    assert Condition(low=0.5).text(0, NAMES) == "member is True"
    assert Condition(high=0.5).text(1, NAMES) == "share <= 0.5"
    assert Condition(high=1.5).text(0, NAMES) == "member <= 1.5"
    assert Condition(low=0.5, high=0.4).text(0, NAMES) == "member missing"


def test_rules_and_trees_say_so(fitted):
    rules = " ".join(fitted.rules()["conditions"])
    assert "member is True" in rules
    assert "member is False" in rules
    assert not re.search(r"(member|asked) (<=|>)", rules)
    names = names_of(fitted.fitted_)
    assert "if member is False" in "".join(draw_tree(tree, names, ["0", "1"]) for tree in fitted.estimators_)


def test_effects_say_so_and_add_up(fitted):
    table = fitted.effects()
    assert set(table.loc[table["feature"] == "member", "value"]) == {"False", "True", "missing"}
    X, _ = truths(n=800)
    first = table[(table["feature"] == "member") & table.get("other_feature").isna()].set_index("value")["share"]
    assert first["True"] == pytest.approx(X["member"].mean())
    assert "False, True" in fitted._repr_html_()


def test_a_tree_says_so(fitted):
    found = {text.get_text() for k in range(len(fitted.estimators_)) for text in plot_tree(fitted, k).texts}
    assert {"member is False", "asked is False"} & found
    assert not any(text.startswith(("member <", "asked <")) for text in found)
