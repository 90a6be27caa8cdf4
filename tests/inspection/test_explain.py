"""SHAP values against their definition and against shap, and importances of features."""

from dataclasses import replace
from itertools import combinations
from math import factorial

import matplotlib
import numpy as np
import pytest
import shap
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression

from dualboost import CartLearner, DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, to_lightgbm
from dualboost.errors import DegenerateEnsembleWarning, UnsupportedModelError
from dualboost.formulations import LPBoost
from dualboost.inspection.html import fitted_html
from dualboost.learners import LEARNERS
from dualboost.models.ensemble import Ensemble
from dualboost.trees.tree import Tree, constant_tree

from ..conftest import ALL_FORMULATIONS
from ..numbers_to_learn import amounts, counts
from ..thinning.models import numbers, table
from ..thoroughness import how_many
from . import classes
from .classes import three_classes

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def expectation(tree, x, known, node):
    """The mean vote below a node where only the features in ``known`` are."""
    if node < 0:
        return float(tree.votes[~node])
    left, right = int(tree.left[node]), int(tree.right[node])
    if tree.feature[node] in known:
        goes_left = tree._goes_left(node, x[[tree.feature[node]]])[0]
        return expectation(tree, x, known, left if goes_left else right)
    below = [tree.node_covers()[child] if child >= 0 else tree.covers[~child] for child in (left, right)]
    values = [expectation(tree, x, known, child) for child in (left, right)]
    return float(np.average(values, weights=below))


def shapley_values(trees, shares, x):
    """By the definition, over all subsets of features."""
    n = len(x)

    def value(known):
        roots = [0 if len(tree.feature) else ~0 for tree in trees]
        return sum(w * expectation(t, x, known, root) for t, w, root in zip(trees, shares, roots, strict=True))

    phi = np.zeros(n)
    for feature in range(n):
        others = [k for k in range(n) if k != feature]
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for known in combinations(others, size):
                phi[feature] += weight * (value({*known, feature}) - value(set(known)))
    return phi, value(set())


def assert_adds_up(model, X):
    """The values of each row, and for several outputs of each output, add up to its score in units of y."""
    explained, in_units = model.explain(X), model.fitted_.in_units
    n_outputs = in_units.n_outputs
    assert explained.values.shape == ((*X.shape, n_outputs) if n_outputs > 1 else X.shape)
    assert explained.class_names == model.fitted_.target.output_names
    total = explained.base_value + explained.values.sum(axis=1)
    assert np.shape(explained.base_value) == ((n_outputs,) if n_outputs > 1 else ())
    expected = in_units.decide(model._features(X))
    np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-6 if in_units.is_normalised else 1e-9)
    return explained


DEFINED = {
    "margins": (DualBoostClassifier("cg", max_depth=3, max_trees=6), table),
    "confidence": (
        DualBoostClassifier("cg", max_depth=2, max_trees=6, learner=CartLearner(voting="confidence")),
        table,
    ),
    "optimal": (DualBoostClassifier("cg", max_trees=6, learner="optimal"), table),
    "classes": (DualBoostClassifier(max_depth=3, max_trees=4), three_classes),
}


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 1.7, 300)])
@pytest.mark.parametrize("name", DEFINED)
def test_shapley_values_by_their_definition(name, weights):
    estimator, data = DEFINED[name]
    X, y = data(n=300)
    X = X[["a", "b", "d", "colour"]]
    clf = clone(estimator).fit(X, y, sample_weight=weights)
    trees, constants = clf.fitted_.ensemble.scaled_trees
    explained, codes = clf.explain(X[:6]), clf._features(X[:6])
    values = explained.values.reshape(*X[:6].shape, -1)
    for k, base_value in enumerate(np.ravel(explained.base_value)):
        of_one = [tree.with_votes(tree.votes[:, k]) for tree in trees]
        for row, x in enumerate(codes):
            phi, base = shapley_values(of_one, np.ones(len(trees)), x)
            np.testing.assert_allclose(values[row, :, k], phi, rtol=0, atol=1e-6)
            assert base_value == pytest.approx(base + constants[k], abs=1e-6)


@pytest.mark.parametrize("covers", [[5.0, 0.0, 3.0], [0.0, 0.0, 3.0], [0.25, 1e-12, 0.5], [3e9, 1e9, 2e9]])
def test_leaves_without_rows_and_with_very_many(covers):
    tree = Tree(
        feature=np.array([0, 1]),
        threshold=np.array([0.5, 0.5]),
        left=np.array([1, ~0]),
        right=np.array([~2, ~1]),
        missing_left=np.array([False, False]),
        categories={},
        gain=np.ones(2),
        votes=np.array([1.0, -1.0, -0.5]),
        covers=np.array(covers),
    )
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [np.nan, np.nan]])
    found = Ensemble([tree], np.ones(1), 0.0, 2).contributions(X)[:, 0]
    np.testing.assert_allclose(found.sum(axis=1), tree.vote(X), atol=1e-9)
    filled = replace(tree, covers=np.maximum(covers, 1e-8 * np.sum(covers)))
    for row, x in enumerate(X):
        np.testing.assert_allclose(found[row, :2], shapley_values([filled], [1.0], x)[0], atol=1e-6)


@settings(max_examples=how_many(10, 40))
@given(
    formulation=st.sampled_from(ALL_FORMULATIONS),
    depth=st.integers(1, 5),
    voting=st.sampled_from(["hard", "confidence"]),
    learner=st.sampled_from(["cart", "optimal"]),
    seed=st.integers(0, 10**6),
    weighted=st.booleans(),
)
def test_values_add_up_to_the_margin(formulation, depth, voting, learner, seed, weighted):
    X, y = table(n=80, seed=seed)
    weights = np.random.default_rng(seed).gamma(1.0, size=80) if weighted else None
    depth = min(depth, 2) if learner == "optimal" else depth
    options = {"learner": LEARNERS[learner](voting=voting), "max_trees": 8, "calibration": "training"}
    clf = DualBoostClassifier(formulation, max_depth=depth, **options)
    clf.fit(X, y, sample_weight=weights)
    assert_adds_up(clf, table(n=60, seed=seed + 1)[0])


MODELS = {
    "iris": lambda: (classes.fitted("iris"), classes.iris()[0]),
    "digits": lambda: (classes.fitted("digits"), classes.digits()[0]),
    "table": lambda: (classes.fitted("table"), classes.three_classes()[0]),
    "numbers": lambda: fit(DualBoostRegressor(max_depth=3, max_trees=6), amounts),
    "weights": lambda: fit(
        DualBoostRegressor("absolute", C=6.0, optimize="weights", max_depth=2, max_trees=20), amounts
    ),
    "counts": lambda: fit(DualBoostRegressor("poisson", max_depth=2, max_trees=6), counts),
    "quantiles": lambda: fit(DualBoostRegressor("quantile", quantiles=[0.1, 0.9], max_depth=2, max_trees=4), amounts),
    "tuned": lambda: fit(DualBoostClassifierCV("nm", Cs=3, max_trees=10, max_depth=2, random_state=0), table),
    "tuned, classes": lambda: fit(DualBoostClassifierCV(Cs=3, max_trees=4, max_depth=2, random_state=0), three_classes),
}


def fit(estimator, data):
    X, y = data()
    return estimator.fit(X, y), X


@pytest.mark.parametrize("name", MODELS)
def test_values_add_up_to_the_scores(name):
    model, X = MODELS[name]()
    explained = assert_adds_up(model, X)
    features = list(X.columns) if hasattr(X, "columns") else [f"x{k}" for k in range(X.shape[1])]
    assert explained.feature_names == features
    importances = np.abs(explained.values).mean(axis=0).reshape(len(features), -1).sum(axis=1)
    np.testing.assert_allclose(explained.importances(), importances)
    if name in classes.DATA:
        np.testing.assert_allclose(explained.base_value, model.decision_function(X).mean(axis=0), atol=1e-9)
    if name in ("numbers", "weights", "counts"):
        assert importances.argmax() in (0, 5)
        new, _ = amounts(n=100, seed=4)
        explained, predicted = assert_adds_up(model, new), model.predict(new)
        total = explained.base_value + explained.values.sum(axis=1)
        np.testing.assert_allclose(np.exp(total) if name == "counts" else total, predicted, rtol=1e-9)


def test_the_base_value_is_the_mean_margin_of_the_training_rows():
    X, y = numbers(missing=True)
    weights = np.linspace(0.2, 3.0, len(y))
    clf = DualBoostClassifier("lp", max_depth=3, max_trees=15).fit(X, y, sample_weight=weights)
    mean = np.average(clf.decision_function(X), weights=weights)
    assert clf.explain(X[:3]).base_value == pytest.approx(mean, abs=1e-6)


SHAP = {
    "two": (DualBoostClassifier("cg", max_depth=3, max_trees=15), lambda: numbers(missing=True), 1e-9),
    "numbers": (
        DualBoostRegressor(max_depth=2, max_trees=5),
        lambda: (amounts()[0].drop(columns="colour"), amounts()[1]),
        1e-4,
    ),
    "classes": (DualBoostClassifier(max_depth=3, max_trees=6), classes.digits, 1e-9),
}


@pytest.mark.parametrize(("estimator", "data", "atol"), SHAP.values(), ids=SHAP)
def test_shap_agrees_on_the_exported_model(estimator, data, atol):
    X, y = data()
    model = clone(estimator).fit(X, y)
    theirs, ours = shap.TreeExplainer(to_lightgbm(model))(X[:40]), model.explain(X[:40])
    np.testing.assert_allclose(ours.values, theirs.values, atol=atol)
    np.testing.assert_allclose(ours.base_value + np.zeros_like(theirs.base_values), theirs.base_values, atol=atol)


def test_importances_are_the_bars_of_shap():
    clf, (X, _) = classes.fitted("iris"), classes.iris()
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


@pytest.mark.parametrize(
    ("clf", "data"),
    [
        (DualBoostClassifier("cg", max_depth=2, max_trees=10), numbers),
        (DualBoostClassifier(max_trees=4), classes.digits),
    ],
    ids=["two", "several"],
)
def test_sparse_features(clf, data):
    X, y = data()
    X[np.abs(X) < 0.7] = 0.0
    clf.fit(sparse.csr_matrix(X), y)
    given = sparse.csr_matrix(X[:50])
    np.testing.assert_allclose(clf.explain(given).values, clf.explain(X[:50]).values, atol=1e-12)
    assert len(clf.rules(given)) == clf.n_leaves_


def test_single_leaves_move_the_base_value_only():
    ensemble = Ensemble([constant_tree(-1.0), constant_tree(1.0)], np.array([3.0, 1.0]), 0.0, 2)
    np.testing.assert_allclose(ensemble.contributions(np.zeros((2, 2))), [[[0.0, 0.0, -0.5]]] * 2)


EMPTY = {
    "two": (DualBoostClassifier(LPBoost(C=1e-6)), *numbers()),
    "classes": (DualBoostClassifier(max_trees=3), np.zeros((9, 2)), np.arange(9) % 3),
    "numbers": (DualBoostRegressor(max_trees=3), np.zeros((20, 2)), np.full(20, 7.0)),
}


@pytest.mark.parametrize(("estimator", "X", "y"), EMPTY.values(), ids=EMPTY)
def test_an_empty_ensemble(estimator, X, y):
    with pytest.warns(DegenerateEnsembleWarning):
        model = clone(estimator).fit(X, y)
    assert model.rules().shape == (0, 12 if len(np.unique(y)) == 3 else 8)
    explained = assert_adds_up(model, X)
    assert not explained.values.any()
    if hasattr(model, "classes_") and len(model.classes_) == 2:
        assert explained.base_value == pytest.approx(model.fitted_.ensemble.baseline)
    else:
        np.testing.assert_allclose(explained.base_value, 7.0 if len(y) == 20 else model.intercept_)
    assert not model.feature_importances_.any()
    assert "0 of" in fitted_html(model)


@pytest.mark.parametrize("data", [numbers, classes.iris], ids=["two", "several"])
def test_trees_without_row_counts_are_refused(data):
    X, y = data()
    clf = DualBoostClassifier(max_trees=3).fit(X, y)
    uncounted = [replace(tree, covers=None) for tree in clf.estimators_]
    clf = clf.with_fitted(clf.fitted_.with_learners(uncounted, clf.weights_))
    with pytest.raises(UnsupportedModelError, match="number of training rows"):
        clf.explain(X)
    assert clf.rules()["rows"].isna().all()


def test_what_cannot_be_explained():
    X, y = numbers()
    with pytest.raises(NotFittedError):
        DualBoostClassifier().explain(X)
    with pytest.raises(UnsupportedModelError, match=r"explain needs an ensemble of trees.*FittedClassifier"):
        DualBoostClassifier(learner=LogisticRegression(), max_trees=3).fit(X, y).explain(X)


IMPORTANT = {
    "two": lambda: fit(DualBoostClassifier("cg", max_depth=3, max_trees=10), table),
    "iris": MODELS["iris"],
    "digits": MODELS["digits"],
    "table": MODELS["table"],
}


@pytest.mark.parametrize("name", IMPORTANT)
def test_importances_are_weighted_gain_shares(name):
    clf, X = IMPORTANT[name]()
    expected = np.zeros(X.shape[1])
    for weight, tree in zip(clf.weights_, clf.estimators_, strict=True):
        for feature, gain in zip(tree.feature, tree.gain, strict=True):
            expected[feature] += weight * gain / tree.gain.sum()
    np.testing.assert_allclose(clf.feature_importances_, expected / expected.sum(), atol=1e-12)
    assert clf.feature_importances_.sum() == pytest.approx(1.0)
    if name == "two":
        assert {"a", "colour"} == set(X.columns[np.argsort(clf.feature_importances_)[-2:]])


def test_importances_of_other_learners_sum_to_one():
    X, y = numbers()
    clf = DualBoostClassifier(learner=LogisticRegression(), max_trees=3).fit(X, y)
    assert clf.feature_importances_.sum() == pytest.approx(1.0)
    assert clf.feature_importances_.argmax() == 0


def test_the_features_that_matter_matter_to_all_measures():
    clf, X = MODELS["table"]()
    permuted = permutation_importance(clf, X, classes.three_classes()[1], n_repeats=2, random_state=0).importances_mean
    for found in (permuted, clf.explain(X).importances(), clf.feature_importances_):
        assert set(X.columns[np.argsort(found)[-3:]]) == {"a", "b", "colour"}
    X, y = numbers()
    clf = DualBoostClassifier("cg", max_depth=2, max_trees=20).fit(X, y)
    permuted = permutation_importance(clf, X, y, n_repeats=3, random_state=0).importances_mean
    assert set(np.argsort(permuted)[-2:]) == {0, 1}


def test_partial_dependence_of_scikit_learn():
    X, y = numbers()
    clf = DualBoostClassifier("cg", max_depth=2, max_trees=20).fit(X, y)
    (average,) = partial_dependence(clf, X, [0], response_method="decision_function")["average"]
    assert average[-1] > average[0]
    X, y = table()
    X = X.assign(colour=X["colour"].cat.add_categories("none").fillna("none"))
    clf = DualBoostClassifier("cg", max_depth=2, max_trees=20).fit(X, y)
    display = PartialDependenceDisplay.from_estimator(clf, X, ["a", "colour"], categorical_features=["colour"])
    assert display.axes_.size == 2
    plt.close(display.figure_)
