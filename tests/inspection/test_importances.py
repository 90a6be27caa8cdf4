"""``feature_importances_``, and scikit-learn's own tools of inspection."""

import matplotlib
import numpy as np
import pytest
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression

from dualboost import DualBoostClassifier
from dualboost.errors import DegenerateEnsembleWarning
from dualboost.formulations import LPBoost

from ..thinning.models import numbers, table

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def test_importances_are_weighted_gain_shares():
    X, y = table()
    clf = DualBoostClassifier("cg", max_depth=3, max_trees=10).fit(X, y)
    expected = np.zeros(X.shape[1])
    for weight, tree in zip(clf.weights_, clf.estimators_, strict=True):
        for feature, gain in zip(tree.feature, tree.gain, strict=True):
            expected[feature] += weight * gain / tree.gain.sum()
    np.testing.assert_allclose(clf.feature_importances_, expected / expected.sum(), atol=1e-12)
    assert clf.feature_importances_.sum() == pytest.approx(1.0)
    assert {"a", "colour"} == set(X.columns[np.argsort(clf.feature_importances_)[-2:]])


def test_importances_without_a_split_are_zero():
    X, y = numbers()
    with pytest.warns(DegenerateEnsembleWarning):
        clf = DualBoostClassifier(LPBoost(C=1e-6)).fit(X, y)
    assert not clf.feature_importances_.any()


def test_importances_of_other_learners_sum_to_one():
    X, y = numbers()
    clf = DualBoostClassifier(learner=LogisticRegression(), max_trees=3).fit(X, y)
    assert clf.feature_importances_.sum() == pytest.approx(1.0)
    assert clf.feature_importances_.argmax() == 0


def test_partial_dependence_follows_the_label():
    X, y = numbers()
    clf = DualBoostClassifier("cg", max_depth=2, max_trees=20).fit(X, y)
    (average,) = partial_dependence(clf, X, [0], response_method="decision_function")["average"]
    assert average[-1] > average[0]


def test_permutation_importance_finds_the_features_that_matter():
    X, y = numbers()
    clf = DualBoostClassifier("cg", max_depth=2, max_trees=20).fit(X, y)
    found = permutation_importance(clf, X, y, n_repeats=3, random_state=0).importances_mean
    assert set(np.argsort(found)[-2:]) == {0, 1}


def test_partial_dependence_display_with_categories():
    X, y = table()
    X = X.assign(colour=X["colour"].cat.add_categories("none").fillna("none"))
    clf = DualBoostClassifier("cg", max_depth=2, max_trees=20).fit(X, y)
    display = PartialDependenceDisplay.from_estimator(clf, X, ["a", "colour"], categorical_features=["colour"])
    assert display.axes_.size == 2
    plt.close(display.figure_)
