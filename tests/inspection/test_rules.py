"""Rules and trees as text: the text, read back, selects the rows that are counted; the values add up to the scores."""

import re
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.commands.models import _rules, _trees
from dualboost.errors import DegenerateEnsembleWarning, MissingDependencyError, UnsupportedModelError
from dualboost.formulations import LPBoost
from dualboost.inspection.rules import (
    Condition,
    Names,
    class_text,
    draw_tree,
    leaf_conditions,
    names_of,
    number,
    rule_text,
    split_text,
    strongest,
)
from dualboost.learners import LEARNERS
from dualboost.plots import plot_tree
from dualboost.trees.tree import Tree, constant_tree

from ..numbers_to_learn import amounts, counts
from ..thinning.models import numbers, table, truths
from . import classes
from .classes import three_classes

NAMES = Names(["age", "job", "income"], {1: np.array(["a", "b", "c"])}, np.array([False, True, True]))
NUMBER = r"-?[\d.]+(?:e-?\d+)?"


def selected(conditions, X):
    """The rows of a frame that a rule's text speaks of."""
    mask = np.ones(len(X), dtype=bool)
    for part in [] if conditions == "always" else conditions.split(" and "):
        mask &= _selected_by_one(part, X)
    return mask


def _selected_by_one(part, X):
    if part.startswith("("):
        inner = part[1:-1].removesuffix(" or missing")
        name = next(name for name in X.columns if re.search(rf"\b{name}\b", inner))
        return _selected_by_one(inner, X) | X[name].isna().to_numpy()
    if match := re.fullmatch(r"(\w+) (not )?missing", part):
        return X[match[1]].isna().to_numpy() ^ bool(match[2])
    if match := re.fullmatch(r"(\w+) (not )?in \{(.*)\}", part):
        return X[match[1]].astype(object).isin(match[3].split(", ")).to_numpy() ^ bool(match[2])
    low, name, high = re.fullmatch(rf"(?:({NUMBER}) < )?(\w+)(?: <= ({NUMBER}))?(?: > {NUMBER})?", part).groups()
    if above := re.search(rf" > ({NUMBER})$", part):
        low = above[1]
    values = X[name].to_numpy(dtype=float)
    return (values > float(low or "-inf")) & (values <= float(high or "inf"))


def two(learner="cart", depth=1, voting="hard"):
    options = {"max_depth": depth, "learner": LEARNERS[learner](voting=voting), "max_trees": 10}
    return DualBoostClassifier("cg", **options), table


MODELS = {
    "stumps": two(),
    "depth 2": two(depth=2, voting="confidence"),
    "depth 4": two(depth=4),
    "optimal stumps": two("optimal"),
    "optimal": two("optimal", depth=2, voting="confidence"),
    "three classes, stumps": (DualBoostClassifier(max_depth=1, max_trees=8), three_classes),
    "three classes": (DualBoostClassifier(max_depth=4, max_trees=8), three_classes),
    "numbers": (DualBoostRegressor(max_depth=3, max_trees=6), amounts),
    "weights": (DualBoostRegressor("absolute", C=6.0, optimize="weights", max_depth=2, max_trees=20), amounts),
    "counts": (DualBoostRegressor("poisson", max_depth=2, max_trees=6), counts),
    "quantiles": (DualBoostRegressor("quantile", quantiles=[0.1, 0.9], max_depth=3, max_trees=4), amounts),
}
COLUMNS = ["tree", "leaf", "weight", "conditions", "vote", "weighted_vote", "rows", "share"]


@cache
def fitted(name):
    """A model of the table, or of the data sets with several classes, and its training rows."""
    if name in classes.DATA:
        return classes.fitted(name), classes.DATA[name]()[0]
    estimator, data = MODELS[name]
    return estimator.fit(*data()), data()[0]


def values_of(rules):
    """The values of the rules, a column for each score."""
    names = [name for name in rules if name.startswith("value_")] or ["weighted_vote"]
    return rules[names].to_numpy()


@pytest.mark.parametrize("name", MODELS)
def test_the_text_selects_the_rows_that_are_counted_and_the_values_add_up(name):
    model, X = fitted(name)
    rules, in_units = model.rules(), model.fitted_.in_units
    assert len(rules) == model.n_leaves_
    scores = np.zeros((len(X), in_units.n_outputs))
    for rule, values in zip(rules.itertuples(), values_of(rules), strict=True):
        mask = selected(rule.conditions, X)
        assert mask.sum() == rule.rows, rule.conditions
        assert rule.share == pytest.approx(rule.rows / len(X))
        scores[mask] += values
    np.testing.assert_allclose(scores + in_units.intercept, in_units.scores(model._features(X)), rtol=1e-9, atol=1e-9)
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(model.fitted_.in_units.decide(model._features(X)), model.decision_function(X))


@pytest.mark.parametrize("name", [*MODELS, "iris", "digits", "table"])
def test_columns_and_order(name):
    model, _ = fitted(name)
    rules = model.rules()
    values, n_outputs = values_of(rules), model.fitted_.in_units.n_outputs
    assert [column for column in rules if column in COLUMNS] == COLUMNS
    assert rules.shape[1] == (9 + n_outputs if n_outputs > 1 else 8)
    np.testing.assert_allclose(rules["weight"] * rules["vote"], rules["weighted_vote"])
    strength = np.abs(values).max(axis=1)
    assert (np.diff(strength) <= 1e-6 * max(strength.max(), 1e-3)).all()
    weights = rules.groupby("tree")["weight"].first()
    if model.fitted_.ensemble.is_normalised:
        assert weights.sum() == pytest.approx(1.0)
    elif name != "weights":
        np.testing.assert_allclose(rules.assign(s=strength).groupby("tree")["s"].max(), weights)
    if n_outputs == 1:
        return
    if hasattr(model, "classes_"):
        assert (rules["label"].to_numpy() == model.classes_[values.argmax(axis=1)]).all()
        np.testing.assert_allclose(rules["weighted_vote"], values.max(axis=1))
    else:
        each = np.arange(len(values)), np.abs(values).argmax(axis=1)
        assert (rules["quantile"] == np.array(["q0.1", "q0.9"])[each[1]]).all()
        np.testing.assert_allclose(rules["weighted_vote"], values[each])


@pytest.mark.parametrize(
    ("clf", "data"),
    [(DualBoostClassifier("lp", max_depth=2, max_trees=5), numbers), (DualBoostClassifier(max_trees=4), classes.iris)],
    ids=["two", "several"],
)
def test_rows_are_multiplicities_or_the_rows_of_X(clf, data):
    X, y = data()
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    rules = clf.fit(X, y, sample_weight=weights).rules()
    assert (rules.groupby("tree")["rows"].sum() == weights.sum()).all()
    new = clf.rules(X[:30])
    assert (new.groupby("tree")["rows"].sum() == 30).all()
    assert (new["conditions"] == rules["conditions"]).all()


def test_features_without_names_and_without_missing_values():
    conditions = DualBoostClassifier("lp", max_depth=2, max_trees=15).fit(*numbers()).rules()["conditions"]
    assert conditions.str.contains(r"x\d").all()
    assert not conditions.str.contains("missing").any()


def test_the_unit_of_y_does_not_change_the_order_of_rules():
    X, y = amounts()
    one, tiny = (DualBoostRegressor(max_depth=2, max_trees=4).fit(X, factor * y).rules() for factor in (1.0, 1e-15))
    assert one["conditions"].tolist() == tiny["conditions"].tolist()
    np.testing.assert_allclose(tiny["weighted_vote"] * 1e15, one["weighted_vote"], rtol=1e-6)


def test_missing_values_split_off_by_themselves():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": np.where(rng.random(200) < 0.4, np.nan, rng.integers(0, 3, 200))})
    clf = DualBoostClassifier("nm", max_trees=3, learner="optimal").fit(X, X["age"].isna())
    assert set(clf.rules()["conditions"]) == {"age missing", "age not missing"}


def test_an_empty_ensemble_has_no_rules():
    X, y = numbers()
    with pytest.warns(DegenerateEnsembleWarning):
        clf = DualBoostClassifier(LPBoost(C=1e-6)).fit(X, y)
    assert clf.rules().shape == (0, 8)


def test_what_has_no_rules(monkeypatch):
    X, y = numbers()
    with pytest.raises(NotFittedError):
        DualBoostClassifier().rules()
    with pytest.raises(UnsupportedModelError, match=r"rules needs an ensemble of trees.*learner='cart'"):
        DualBoostClassifier(learner=LogisticRegression(), max_trees=3).fit(X, y).rules()
    clf = DualBoostClassifier(max_trees=3).fit(X, y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match="pip install 'pandas"):
        clf.rules()


# Conditions of trees made by hand.


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


def test_the_strongest_classes_are_for_and_against():
    values = np.array([0.1, -0.9, 0.2, 0.0, 0.15, -0.3])
    assert strongest(values, 3) == [2, 5, 1]
    assert strongest(values, 9) == [2, 4, 0, 3, 5, 1]
    assert class_text(values, "abcdef") == "+0.20 for c, -0.30 for f, -0.90 for b, …"
    assert class_text(values[:3], "abc") == "+0.20 for c, +0.10 for a, -0.90 for b"


@pytest.mark.parametrize("name", ["iris", "digits", "table"])
def test_trees_and_rules_as_text(name):
    clf, _ = fitted(name)
    heaviest = int(np.argmax(clf.weights_))
    tree, text = clf.estimators_[heaviest], _trees(clf)[0]
    leaves = [line for line in text.splitlines() if line.endswith(" rows)")]
    assert len(leaves) == tree.n_leaves
    for values, covers in zip(clf.weights_[heaviest] * tree.votes, tree.covers, strict=True):
        expected = f"{class_text(values, clf.classes_)} ({covers:g} rows)"
        assert any(line.endswith(expected) for line in leaves), expected
    rules, lines = clf.rules(), _rules(clf)
    assert len(lines) == len(rules)
    for line, label, conditions in zip(lines, rules["label"], rules["conditions"], strict=True):
        assert line.split(" for ")[1].split(",")[0] == str(label)
        assert line.endswith(f"  if {conditions}")


def test_a_cut_between_zero_and_one_separates_truth_values():
    names = Names(["member", "share"], {}, np.array([False, False]), truths=frozenset({0}))
    assert Condition(high=1e-35).text(0, names) == "member is False"
    assert Condition(low=0.5).text(0, names) == "member is True"
    assert Condition(high=0.5).text(1, names) == "share <= 0.5"
    assert Condition(high=1.5).text(0, names) == "member <= 1.5"
    assert Condition(low=0.5, high=0.4).text(0, names) == "member missing"


def test_truth_values_in_rules_trees_effects_and_plots():
    X, y = truths(n=800)
    clf = DualBoostClassifier(max_depth=2, max_trees=8).fit(X, y)
    rules = " ".join(clf.rules()["conditions"])
    assert {"member is True", "member is False"} <= set(re.findall(r"member is \w+", rules))
    assert not re.search(r"(member|asked) (<=|>)", rules)
    assert "if member is False" in "".join(draw_tree(tree, names_of(clf.fitted_)) for tree in clf.estimators_)
    drawn = {text.get_text() for k in range(len(clf.estimators_)) for text in plot_tree(clf, k).texts}
    assert {"member is False", "asked is False"} & drawn
    assert not any(text.startswith(("member <", "asked <")) for text in drawn)
    effects = clf.effects()
    assert set(effects.loc[effects["feature"] == "member", "value"]) == {"False", "True", "missing"}
    single = effects[(effects["feature"] == "member") & effects["other_feature"].isna()].set_index("value")["share"]
    assert single["True"] == pytest.approx(X["member"].mean())
    assert "False, True" in clf._repr_html_()
