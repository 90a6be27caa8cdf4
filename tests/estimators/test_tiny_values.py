"""Features with values that LightGBM reads as zero, such as p-values."""

import pickle

import lightgbm
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dualboost import (
    CartLearner,
    DualBoostClassifier,
    DualBoostRegressor,
    OptimalLearner,
    load_model,
    thin,
    to_lightgbm,
)
from dualboost.errors import UnsupportedModelError
from dualboost.inspection.rules import number
from dualboost.models.ensemble import Ensemble
from dualboost.trees.growing import Branch, Split, build_tree
from dualboost.trees.lightgbm_text import parse_trees

from ..export.running import TARGETS, answers
from ..thoroughness import every

LEARNERS = every(["cart", "optimal", CartLearner(criterion="edge"), OptimalLearner(max_depth=2)], few=["cart"])

EDGE = float(np.float32(1e-35))
"""The largest number that LightGBM reads as zero."""
EDGES = [neighbour for edge in (EDGE, 1e-35) for neighbour in (np.nextafter(edge, 0.0), edge, np.nextafter(edge, 1.0))]
NEAR_ZERO = np.array([sign * size for size in (0.0, 5e-324, 1e-36, *EDGES, 1e-34, 1.0) for sign in (1.0, -1.0)])


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
@pytest.mark.parametrize("threshold", [*NEAR_ZERO, 1e-300, np.inf])
@pytest.mark.parametrize("other", [0, 1])
def test_votes_near_zero_are_those_of_the_trees(other, threshold, missing_left):
    """Alone, and beside other cuts of the same feature."""
    cuts = [(0, threshold), *((other, cut) for cut in (1e-60, -2.0, 0.0))]
    trees = [build_tree(Branch(Split(feature, cut, missing_left=missing_left), 1.0)) for feature, cut in cuts]
    learners = [tree.with_votes(np.array([1.0, -1.0])) for tree in trees]
    ensemble = Ensemble(learners, np.array([1.0, 2.0, 4.0, 8.0]), 0.0, 2)
    values = np.array([*NEAR_ZERO, 1e-300, -1e-300, 1e-60, -1e-60, 1e300, -1e300, np.nan])
    X = np.column_stack([values, values])
    expected = next(ensemble.staged(X, [ensemble.weights], [0.0]))
    np.testing.assert_allclose(ensemble.decide(X), expected, atol=1e-12)
    np.testing.assert_allclose(ensemble.decide(sparse.csc_matrix(X)), expected, atol=1e-12)


def three_values(n_classes, with_missing):
    """A feature that is below zero, zero or above, which decides the class, and rows around zero."""
    x = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], 200)
    y = (x >= 0).astype(int) + (x > 0) * (n_classes > 2)
    X = np.column_stack([np.where(np.arange(200) % 9 == 0, np.nan, x) if with_missing else x, np.arange(200) % 7])
    new = np.concatenate([NEAR_ZERO, [np.nan]]) if with_missing else NEAR_ZERO
    return X, y, np.column_stack([new, np.arange(len(new)) % 7])


@pytest.mark.parametrize("with_missing", [False, True])
@pytest.mark.parametrize(("formulation", "n_classes"), [("nm", 2), ("logistic", 2), ("nm", 3), ("logistic", 3)])
def test_the_edge_of_zero_is_on_one_side_wherever_it_is_asked(formulation, n_classes, with_missing, tmp_path):
    X, y, new = three_values(n_classes, with_missing)
    clf = DualBoostClassifier(formulation, max_depth=2, max_trees=3, calibration="training").fit(X, y)
    scores = clf.decision_function(new)
    total = np.tensordot(clf.weights_, [tree.vote(new) for tree in clf.estimators_], axes=1) + clf.intercept_
    by_votes = total if formulation == "logistic" else total / clf.weights_.sum()
    np.testing.assert_allclose(by_votes, scores, atol=1e-9)
    *_, last = clf.staged_predict(new)
    np.testing.assert_array_equal(last, clf.predict(new))
    np.testing.assert_array_equal(clf.predict(new)[new[:, 0] == -EDGE], clf.predict(new)[new[:, 0] == 0][0])
    clf.save(tmp_path / "model.json")
    for same in (pickle.loads(pickle.dumps(clf)), load_model(tmp_path / "model.json")):
        np.testing.assert_array_equal(same.decision_function(new), scores)
    for run in TARGETS.values():
        for method, answer in run(clf, new).items():
            np.testing.assert_allclose(answer, answers(clf, new)[method], atol=1e-9)
    curve = clf.fitted_.calibration
    raw = scores if n_classes == 2 else curve.slope * scores + curve.intercepts
    np.testing.assert_allclose(to_lightgbm(clf).predict(new, raw_score=True), raw, atol=1e-9)


def test_a_cut_between_numbers_that_lightgbm_reads_as_zero_is_refused_there():
    """Also where it is at zero, or where LightGBM's own cut would be."""
    for low, high in ((-1e-36, 1e-36), (-EDGE, np.nextafter(-EDGE, 0.0)), (0.0, 1e-36)):
        x = np.repeat([low, high], 20)
        for learner in LEARNERS:
            clf = DualBoostClassifier("nm", learner=learner, max_trees=2).fit(x[:, None], x > low)
            assert clf.score(x[:, None], x > low) == 1.0
            with pytest.raises(UnsupportedModelError, match="reads all numbers up to 1e-35 as zero"):
                to_lightgbm(clf)


def test_trees_of_a_thinned_lightgbm_model_are_read_as_it_predicts():
    X, y, new = three_values(2, with_missing=True)
    model = lightgbm.LGBMClassifier(n_estimators=8, min_child_samples=1, verbosity=-1).fit(X, y)
    thinned = thin(model, X, y, C=1.0).model
    trees = parse_trees(thinned.booster_.model_to_string())
    np.testing.assert_allclose(sum(tree.vote(new) for tree in trees), thinned.predict(new, raw_score=True), atol=1e-12)


def test_only_zero_is_written_as_zero():
    assert [number(value) for value in (0.0, 1.0000000180025095e-35, 2e-40)] == ["0", "0", "2e-40"]
