"""Rules, SHAP values, importances, text and the summary of models with several classes."""

from dataclasses import replace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
import shap
from lightgbm import Booster
from scipy import sparse
from sklearn.inspection import permutation_importance

from dualboost import DualBoostClassifier, DualBoostClassifierCV
from dualboost.commands.models import _rules, _trees
from dualboost.errors import DegenerateEnsembleWarning, UnsupportedModelError
from dualboost.inspection.html import fitted_html
from dualboost.inspection.rules import class_text, strongest
from dualboost.trees.lightgbm_text import format_model

from .classes import DATA, fitted, iris, three_classes
from .test_explain import shapley_values
from .test_rules import selected

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SETS = ["iris", "digits", "table"]


def values_of(rules, clf):
    return rules[[f"value_{label}" for label in clf.classes_]].to_numpy()


@pytest.fixture(scope="module")
def empty():
    with pytest.warns(DegenerateEnsembleWarning):
        return DualBoostClassifier(max_trees=3).fit(np.zeros((9, 2)), np.arange(9) % 3)


@pytest.mark.parametrize("depth", [1, 4])
def test_the_text_of_a_rule_selects_rows_and_its_values_add_up(depth):
    X, y = three_classes()
    clf = DualBoostClassifier(max_depth=depth, max_trees=8).fit(X, y)
    rules = clf.rules()
    assert len(rules) == clf.n_leaves_
    scores = np.zeros((len(X), 3))
    for conditions, rows, values in zip(rules["conditions"], rules["rows"], values_of(rules, clf), strict=True):
        mask = selected(conditions, X)
        assert mask.sum() == rows, conditions
        scores[mask] += values
    np.testing.assert_allclose(scores + clf.intercept_, clf.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_a_rule_names_the_class_that_it_speaks_for_most(name):
    clf = fitted(name)
    rules = clf.rules()
    values = values_of(rules, clf)
    assert (rules["label"].to_numpy() == clf.classes_[values.argmax(axis=1)]).all()
    np.testing.assert_allclose(rules["weighted_vote"], values.max(axis=1))
    np.testing.assert_allclose(rules["weight"] * rules["vote"], rules["weighted_vote"])
    C_value = np.abs(values).max(axis=1)
    assert (np.diff(C_value) <= 1e-9).all()
    np.testing.assert_allclose(rules.assign(s=C_value).groupby("tree")["s"].max(), clf.weights_[clf.weights_ > 0])


def test_rules_count_the_rows_given():
    X, y = iris()
    weights = np.arange(len(y)) % 3
    clf = DualBoostClassifier(max_depth=2, max_trees=4).fit(X, y, sample_weight=weights)
    assert (clf.rules().groupby("tree")["rows"].sum() == weights.sum()).all()
    assert (clf.rules(X[:30]).groupby("tree")["rows"].sum() == 30).all()


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 1.7, 300)])
def test_shapley_values_by_their_definition(weights):
    X, y = three_classes(n=300)
    X = X[["a", "b", "d", "colour"]]
    clf = DualBoostClassifier(max_depth=3, max_trees=4).fit(X, y, sample_weight=weights)
    explained, codes = clf.explain(X[:6]), clf._features(X[:6])
    for k in range(3):
        trees = [tree.with_votes(tree.votes[:, k]) for tree in clf.estimators_]
        for row, x in enumerate(codes):
            phi, base = shapley_values(trees, clf.weights_, x)
            np.testing.assert_allclose(explained.values[row, :, k], phi, rtol=0, atol=1e-6)
            assert explained.base_value[k] == pytest.approx(base + clf.intercept_[k], abs=1e-6)


@pytest.mark.parametrize("name", SETS)
def test_values_add_up_to_the_scores(name):
    clf, (X, _) = fitted(name), DATA[name]()
    explained = clf.explain(X)
    assert explained.values.shape == (*X.shape, len(clf.classes_))
    assert explained.base_value.shape == (len(clf.classes_),)
    assert explained.class_names == [str(label) for label in clf.classes_]
    total = explained.base_value + explained.values.sum(axis=1)
    np.testing.assert_allclose(total, clf.decision_function(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(explained.base_value, clf.decision_function(X).mean(axis=0), atol=1e-9)


def test_shap_agrees_on_the_model_as_text():
    clf, (X, _) = fitted("digits"), DATA["digits"]()
    text = format_model(*clf.fitted_.ensemble.scaled_trees(), X.shape[1], n_classes=10)
    theirs, ours = shap.TreeExplainer(Booster(model_str=text))(X[:40]), clf.explain(X[:40])
    np.testing.assert_allclose(ours.values, theirs.values, atol=1e-9)
    np.testing.assert_allclose(np.tile(ours.base_value, (40, 1)), theirs.base_values, atol=1e-9)


def test_importances_are_the_bars_of_shap():
    clf, (X, _) = fitted("iris"), DATA["iris"]()
    explained = clf.explain(X)
    shap.summary_plot(list(np.moveaxis(explained.values, 2, 0)), X, show=False)
    ax = plt.gca()
    ends = {}
    for bar in ax.patches:
        ends[bar.get_y()] = max(ends.get(bar.get_y(), 0.0), bar.get_x() + bar.get_width())
    drawn = [ends[height] for height in sorted(ends)]
    names = [label.get_text() for label in ax.get_yticklabels()]
    plt.close("all")
    expected = dict(zip(explained.feature_names, explained.importances(), strict=True))
    np.testing.assert_allclose(drawn, [expected[name] for name in names], atol=1e-9)


def test_sparse_features():
    X, y = DATA["digits"]()
    clf = DualBoostClassifier(max_depth=2, max_trees=4).fit(sparse.csr_matrix(X), y)
    given = sparse.csr_matrix(X[:50])
    np.testing.assert_allclose(clf.explain(given).values, clf.explain(X[:50]).values, atol=1e-12)
    assert len(clf.rules(given)) == clf.n_leaves_


def test_an_ensemble_without_a_tree(empty):
    assert empty.rules().shape == (0, 12)
    explained = empty.explain(np.zeros((2, 2)))
    assert not explained.values.any()
    np.testing.assert_allclose(explained.base_value, empty.intercept_)
    assert not empty.feature_importances_.any()
    assert "0 of" in fitted_html(empty)


def test_trees_without_row_counts_are_refused():
    clf, (X, _) = fitted("iris"), DATA["iris"]()
    uncounted = [replace(tree, covers=None) for tree in clf.estimators_]
    clf = clf.with_fitted(clf.fitted_.with_learners(uncounted, clf.weights_))
    with pytest.raises(UnsupportedModelError, match="number of training rows"):
        clf.explain(X)
    assert clf.rules()["rows"].isna().all()


@pytest.mark.parametrize("name", SETS)
def test_importances_are_weighted_gain_shares(name):
    clf = fitted(name)
    expected = np.zeros(clf.n_features_in_)
    for weight, tree in zip(clf.weights_, clf.estimators_, strict=True):
        for feature, gain in zip(tree.feature, tree.gain, strict=True):
            expected[feature] += weight * gain / tree.gain.sum()
    np.testing.assert_allclose(clf.feature_importances_, expected / expected.sum(), atol=1e-12)


def test_the_features_that_matter_matter_to_all_measures():
    clf, (X, y) = fitted("table"), DATA["table"]()
    permuted = permutation_importance(clf, X, y, n_repeats=2, random_state=0).importances_mean
    for found in (permuted, clf.explain(X).importances(), clf.feature_importances_):
        assert set(X.columns[np.argsort(found)[-3:]]) == {"a", "b", "colour"}


@pytest.mark.parametrize("name", SETS)
def test_the_summary_draws_the_history(name):
    clf = fitted(name)
    root = ElementTree.fromstring(fitted_html(clf))
    objective, training = (line.attrib["points"].split() for line in root.iter("polyline"))
    assert len(objective) == len(training) == clf.n_iter_
    assert f"{clf.n_trees_} of {clf.n_generated_}" in "".join(root.itertext())
    assert clf._repr_html_().endswith(fitted_html(clf))


def test_the_strongest_classes_are_for_and_against():
    values = np.array([0.1, -0.9, 0.2, 0.0, 0.15, -0.3])
    assert strongest(values, 3) == [2, 5, 1]
    assert strongest(values, 9) == [2, 4, 0, 3, 5, 1]
    assert class_text(values, "abcdef") == "+0.20 for c, -0.30 for f, -0.90 for b, …"
    assert class_text(values[:3], "abc") == "+0.20 for c, +0.10 for a, -0.90 for b"


@pytest.mark.parametrize("name", SETS)
def test_trees_and_rules_as_text(name):
    clf = fitted(name)
    heaviest = int(np.argmax(clf.weights_))
    tree, text = clf.estimators_[heaviest], _trees(clf)[0]
    leaves = [line for line in text.splitlines() if line.endswith(" rows)")]
    assert len(leaves) == tree.n_leaves
    for values, covers in zip(clf.weights_[heaviest] * tree.votes, tree.covers, strict=True):
        said = f"{class_text(values, clf.classes_)} ({covers:g} rows)"
        assert any(line.endswith(said) for line in leaves), said
    rules = clf.rules()
    lines = _rules(clf)
    assert len(lines) == len(rules)
    for line, label, conditions in zip(lines, rules["label"], rules["conditions"], strict=True):
        assert line.split(" for ")[1].split(",")[0] == str(label)
        assert line.endswith(f"  if {conditions}")


def test_the_tuned_estimator():
    X, y = three_classes()
    tuned = DualBoostClassifierCV(Cs=3, max_trees=4, max_depth=2, random_state=0).fit(X, y)
    explained = tuned.explain(X)
    total = explained.base_value + explained.values.sum(axis=1)
    np.testing.assert_allclose(total, tuned.decision_function(X), atol=1e-9)
    assert "label" in tuned.rules()
