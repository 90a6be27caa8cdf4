"""Rules: the text, read back, selects the rows that it says; the weighted votes add up to the margin."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from dualboost import DualBoostClassifier
from dualboost.errors import DegenerateEnsembleWarning, MissingDependencyError, UnsupportedModelError
from dualboost.formulations import LPBoost
from dualboost.learners import LEARNERS

from ..thinning.models import numbers, table

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


@pytest.mark.parametrize("learner", ["cart", "optimal"])
@pytest.mark.parametrize(("depth", "voting"), [(1, "hard"), (2, "confidence"), (4, "hard")])
def test_the_text_selects_the_rows_that_are_counted(depth, voting, learner):
    X, y = table()
    depth = min(depth, 2) if learner == "optimal" else depth
    clf = DualBoostClassifier("cg", max_depth=depth, learner=LEARNERS[learner](voting=voting), max_trees=10).fit(X, y)
    rules = clf.rules()
    assert len(rules) == sum(clf.estimators_[j].n_leaves for j in np.flatnonzero(clf.weights_))
    margins = np.zeros(len(X))
    for rule in rules.itertuples():
        mask = selected(rule.conditions, X)
        assert mask.sum() == rule.rows, rule.conditions
        assert rule.share == pytest.approx(rule.rows / len(X))
        margins[mask] += rule.weighted_vote
    np.testing.assert_allclose(margins, clf.decision_function(X), atol=1e-9)


def test_strongest_first_and_columns():
    X, y = numbers()
    clf = DualBoostClassifier("lp", max_depth=2, max_trees=15).fit(X, y)
    rules = clf.rules()
    assert list(rules) == ["tree", "leaf", "weight", "conditions", "vote", "weighted_vote", "rows", "share"]
    assert (np.diff(rules["weighted_vote"].abs()) <= 1e-9).all()
    np.testing.assert_allclose(rules["weight"] * rules["vote"], rules["weighted_vote"])
    assert rules.groupby("tree")["weight"].first().sum() == pytest.approx(1.0)
    assert rules["conditions"].str.contains(r"x\d").all()
    assert not rules["conditions"].str.contains("missing").any()


def test_rows_are_multiplicities_or_those_given():
    X, y = numbers()
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    clf = DualBoostClassifier("lp", max_depth=2, max_trees=5).fit(X, y, sample_weight=weights)
    assert (clf.rules().groupby("tree")["rows"].sum() == weights.sum()).all()
    new = clf.rules(X[:30])
    assert (new.groupby("tree")["rows"].sum() == 30).all()
    assert (new["conditions"] == clf.rules()["conditions"]).all()


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
