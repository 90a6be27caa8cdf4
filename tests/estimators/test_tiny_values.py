"""Features with values that LightGBM reads as zero, such as p-values."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dualboost import CartLearner, DualBoostClassifier, DualBoostRegressor, OptimalLearner, load_model, to_lightgbm
from dualboost.errors import UnsupportedModelError
from dualboost.inspection.rules import number
from dualboost.models.ensemble import Ensemble
from dualboost.trees.growing import Branch, Split, build_tree

from ..thoroughness import every

LEARNERS = every(["cart", "optimal", CartLearner(criterion="edge"), OptimalLearner(max_depth=2)], few=["cart"])


def p_values(n_rows=300):
    """Numbers from 1 down to 1e-120, and another feature that says nothing."""
    rng = np.random.default_rng(0)
    return np.column_stack([10.0 ** -rng.uniform(0, 120, n_rows), rng.normal(size=n_rows)])


@pytest.mark.parametrize("formulation", ["nm", "logistic"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_model_that_predicts_is_the_one_that_was_fitted(learner, n_classes, formulation):
    X = p_values()
    y = np.digitize(np.log10(X[:, 0]), [-60, -40][: n_classes - 1])
    clf = DualBoostClassifier(formulation, learner=learner, max_depth=2, max_trees=15).fit(X, y)
    assert clf.score(X, y) == pytest.approx(clf.history_["train_score"][-1])
    assert clf.score(X, y) > 0.98
    *_, last = clf.staged_predict(X)
    np.testing.assert_array_equal(last, clf.predict(X))
    np.testing.assert_allclose(clf.decision_function(sparse.csr_matrix(X)), clf.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("learner", LEARNERS[:2])
def test_numbers_are_predicted_from_tiny_values(learner):
    X = p_values()
    y = np.log10(X[:, 0])
    assert DualBoostRegressor(learner=learner, max_trees=15).fit(X, y).score(X, y) > 0.98


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cart_finds_the_splits_that_it_finds_in_logarithms(sign):
    X = p_values()
    X[::7, 0], X[3::11, 0] = 0.0, np.nan
    y = (X[:, 0] < 1e-80) | np.isnan(X[:, 0])
    logarithms = np.where(X > 0, np.log10(np.where(X > 0, X, 1.0)), -1000.0)
    logarithms[np.isnan(X)] = np.nan
    options = {"max_depth": 2, "max_trees": 5}
    one = DualBoostClassifier(**options).fit(sign * X[:, :1], y).decision_function(sign * X[:, :1])
    other = DualBoostClassifier(**options).fit(sign * logarithms[:, :1], y).decision_function(sign * logarithms[:, :1])
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_files_and_explanations_hold_them_and_lightgbm_is_refused(tmp_path):
    X = pd.DataFrame(p_values(), columns=["p", "x"])
    y = X["p"] < 1e-60
    clf = DualBoostClassifier("nm", learner="optimal").fit(X, y)
    clf.save(tmp_path / "model.json")
    scores = clf.decision_function(X)
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").decision_function(X), scores)
    explained = clf.explain(X)
    np.testing.assert_allclose(explained.base_value + explained.values.sum(axis=1), scores, atol=1e-9)
    assert clf.rules()["conditions"].str.contains(r"p <= \d.*e-6\d").any()
    with pytest.raises(UnsupportedModelError, match=r"the feature 'p' at .*e-6\d.*take the logarithm"):
        to_lightgbm(clf)


@pytest.mark.parametrize("missing_left", [False, True])
@pytest.mark.parametrize("threshold", [0.0, 1e-36, -1e-36, 1e-300, -5e-324, 1e-34, -1e-34, 1.0, np.inf])
def test_votes_near_zero_are_those_of_the_trees(threshold, missing_left):
    cuts = [threshold, 1e-60, -2.0, 0.0]
    trees = [build_tree(Branch(Split(0, cut, missing_left=missing_left), 1.0)) for cut in cuts]
    learners = [tree.with_votes(np.array([1.0, -1.0])) for tree in trees]
    ensemble = Ensemble(learners, np.array([1.0, 2.0, 4.0, 8.0]), 0.0, 2)
    sizes = [0.0, 5e-324, 1e-300, 1e-60, 1e-36, 1e-35, 1e-34, 1.0, 1e300]
    values = np.array([*sizes, *(-size for size in sizes), np.nan])
    X = np.column_stack([values, values])
    expected = next(ensemble.staged(X, [ensemble.weights], [0.0]))
    np.testing.assert_allclose(ensemble.scores(X), expected, atol=1e-12)
    np.testing.assert_allclose(ensemble.scores(sparse.csc_matrix(X)), expected, atol=1e-12)


def test_only_zero_is_written_as_zero():
    assert [number(value) for value in (0.0, 1.0000000180025095e-35, 2e-40)] == ["0", "0", "2e-40"]
