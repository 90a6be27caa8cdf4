"""SHAP values: against the definition, and that they add up to the margin whatever the ensemble."""

from dataclasses import replace
from itertools import combinations
from math import factorial

import numpy as np
import pytest
import shap
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from dualboost import CartLearner, DualBoostClassifier, DualBoostClassifierCV, to_lightgbm
from dualboost.errors import DegenerateEnsembleWarning, UnsupportedModelError
from dualboost.formulations import LPBoost
from dualboost.learners import LEARNERS
from dualboost.models.ensemble import Ensemble
from dualboost.trees.tree import Tree, constant_tree

from ..conftest import ALL_FORMULATIONS
from ..thinning.models import numbers, table
from ..thoroughness import how_many


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


def assert_adds_up(clf, X):
    explained = clf.explain(X)
    assert explained.values.shape == X.shape
    total = explained.base_value + explained.values.sum(axis=1)
    np.testing.assert_allclose(total, clf.decision_function(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 1.7, 300)])
@pytest.mark.parametrize(
    "options",
    [{"max_depth": 3}, {"max_depth": 2, "learner": CartLearner(voting="confidence")}, {"learner": "optimal"}],
    ids=str,
)
def test_shapley_values_by_their_definition(options, weights):
    X, y = table(n=300)
    X = X[["a", "b", "d", "colour"]]
    clf = DualBoostClassifier("cg", max_trees=6, **options).fit(X, y, sample_weight=weights)
    used = np.flatnonzero(clf.weights_)
    trees, shares = [clf.estimators_[j] for j in used], clf.weights_[used] / clf.weights_.sum()
    explained, codes = clf.explain(X[:12]), clf._features(X[:12])
    for row, x in enumerate(codes):
        phi, base = shapley_values(trees, shares, x)
        np.testing.assert_allclose(explained.values[row], phi, rtol=0, atol=1e-6)
        assert explained.base_value == pytest.approx(base, abs=1e-6)


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
    found = Ensemble([tree], np.ones(1), 0.0, 2).contributions(X)
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


def test_the_base_value_is_the_mean_margin_of_the_training_rows():
    X, y = numbers(missing=True)
    weights = np.linspace(0.2, 3.0, len(y))
    clf = DualBoostClassifier("lp", max_depth=3, max_trees=15).fit(X, y, sample_weight=weights)
    mean = np.average(clf.decision_function(X), weights=weights)
    assert clf.explain(X[:3]).base_value == pytest.approx(mean, abs=1e-6)


def test_shap_agrees_on_the_exported_model():
    X, y = numbers(missing=True)
    clf = DualBoostClassifier("cg", max_depth=3, max_trees=15).fit(X, y)
    theirs = shap.TreeExplainer(to_lightgbm(clf))(X[:50])
    ours = clf.explain(X[:50])
    np.testing.assert_allclose(ours.values, theirs.values, atol=1e-9)
    np.testing.assert_allclose(ours.base_value, theirs.base_values, atol=1e-9)


def test_sparse_features():
    X, y = numbers()
    X[np.abs(X) < 0.7] = 0.0
    clf = DualBoostClassifier("cg", max_depth=2, max_trees=10).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(clf.explain(sparse.csr_matrix(X)).values, clf.explain(X).values, atol=1e-12)


def test_single_leaves_move_the_base_value_only():
    ensemble = Ensemble([constant_tree(-1.0), constant_tree(1.0)], np.array([3.0, 1.0]), 0.0, 2)
    np.testing.assert_allclose(ensemble.contributions(np.zeros((2, 2))), [[0.0, 0.0, -0.5]] * 2)


def test_an_empty_ensemble_answers_with_the_class_balance():
    X, y = numbers()
    with pytest.warns(DegenerateEnsembleWarning):
        clf = DualBoostClassifier(LPBoost(C=1e-6)).fit(X, y)
    assert not clf.explain(X).values.any()
    assert_adds_up(clf, X)


def test_the_tuned_estimator_and_names():
    X, y = table()
    tuned = DualBoostClassifierCV("nm", Cs=3, max_trees=10, max_depth=2, random_state=0).fit(X, y)
    assert_adds_up(tuned, X)
    explained = tuned.explain(X)
    assert explained.feature_names == list(X.columns)
    np.testing.assert_allclose(explained.importances(), np.abs(explained.values).mean(axis=0))


def test_what_cannot_be_explained():
    X, y = numbers()
    with pytest.raises(NotFittedError):
        DualBoostClassifier().explain(X)
    with pytest.raises(UnsupportedModelError, match=r"explain needs an ensemble of trees.*FittedClassifier"):
        DualBoostClassifier(learner=LogisticRegression(), max_trees=3).fit(X, y).explain(X)
    clf = DualBoostClassifier(max_trees=3).fit(X, y)
    uncounted = [replace(tree, covers=None) for tree in clf.estimators_]
    clf = clf.with_fitted(clf.fitted_.with_learners(uncounted, clf.weights_))
    with pytest.raises(UnsupportedModelError, match="number of training rows"):
        clf.explain(X)
