"""What the estimator promises where the values of all leaves are corrected."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, load_model, to_lightgbm
from dualboost.errors import (
    ConstantPredictionWarning,
    DegenerateEnsembleWarning,
    InterruptedFitWarning,
    InvalidParameterError,
    UnsupportedFormulationError,
)
from dualboost.formulations import FORMULATIONS, ConvexBoost
from dualboost.formulations.convex import LOSSES

from ..conftest import small_dataset
from ..paper_programmes import leaves
from ..thoroughness import every

LEAF_LOSSES = ["logistic", "lp", "cg", *(ConvexBoost(loss=loss) for loss in LOSSES)]
CAN = {"logistic", "lp", "cg", "convex"}
"""The formulations whose losses are possible with corrected leaves."""


def label(formulation):
    return formulation if isinstance(formulation, str) else f"{formulation.name}-{formulation.loss}"


def leaf_fit(formulation="logistic", X=None, y=None, sample_weight=None, **options):
    if X is None:
        X, y = small_dataset("twonorm", 200)
    options = {"optimize": "leaves", "max_depth": 2, "max_trees": 5} | options
    return DualBoostClassifier(formulation, **options).fit(X, y, sample_weight)


def indicators(clf, X):
    """One column for each leaf of the trees of a fitted model."""
    return np.concatenate([np.eye(tree.n_leaves)[tree.leaves(X)] for tree in clf.estimators_], axis=1)


@pytest.mark.parametrize("formulation", LEAF_LOSSES, ids=label)
def test_the_result_is_certified_and_optimal(formulation):
    """No values of the leaves do better, by another solver over the indicators written out."""
    X, y = small_dataset("ringnorm")
    clf = leaf_fit(formulation, X, y, C=0.3 if label(formulation) != "logistic" else 30.0)
    assert clf.gap_ <= 1e-6
    assert 0 < clf.n_trees_ <= len(clf.estimators_) <= 5
    signs = np.where(y == clf.classes_[1], 1.0, -1.0)
    loss = {"convex-logistic": "convex logistic"}.get(label(formulation), label(formulation).split("-")[-1])
    expected = leaves(indicators(clf, X), signs, clf.formulation_.C, loss)
    assert clf.objective_ == pytest.approx(expected, rel=3e-6)


@pytest.mark.parametrize("n_rows", [300, 26_000])
def test_threads_do_not_change_a_bit(n_rows):
    X, y = small_dataset("waveform", n_rows)
    options = {"max_depth": 3, "max_trees": 4}
    one, *others = (leaf_fit(X=X, y=y, n_jobs=n_jobs, **options) for n_jobs in (1, 2, 5))
    for other in others:
        np.testing.assert_array_equal(other.weights_, one.weights_)
        np.testing.assert_array_equal(other.decision_function(X[:500]), one.decision_function(X[:500]))
        np.testing.assert_array_equal(other.duals_, one.duals_)
        assert (other.intercept_, other.objective_) == (one.intercept_, one.objective_)


@pytest.mark.parametrize("C", [None, 20.0])
def test_neither_the_scale_of_weights_nor_repeated_rows_change_the_model(C):
    X, y = small_dataset("breast_cancer")
    plain = leaf_fit(X=X, y=y, C=C).decision_function(X)
    scaled = leaf_fit(X=X, y=y, C=C, sample_weight=np.full(len(y), 7.0)).decision_function(X)
    repeated = leaf_fit(X=np.repeat(X, 3, axis=0), y=np.repeat(y, 3), C=C).decision_function(X)
    np.testing.assert_allclose(scaled, plain, atol=1e-6)
    np.testing.assert_allclose(repeated, plain, atol=1e-6)


def test_weights_are_multiplicities():
    X, y = small_dataset("waveform")
    copies = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = leaf_fit(X=X, y=y, sample_weight=copies)
    repeated = leaf_fit(X=np.repeat(X, copies, axis=0), y=np.repeat(y, copies))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


def test_the_order_of_rows_does_not_matter():
    X, y = small_dataset("integers")
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(
        leaf_fit(X=X[order], y=y[order]).decision_function(X), leaf_fit(X=X, y=y).decision_function(X)
    )


@pytest.mark.parametrize("optimize", ["weights", "leaves"])
def test_probabilities_are_calibrated_in_the_large(optimize):
    """The free intercept sees to it that the mean probability is the share of the class."""
    X, y = small_dataset("waveform")
    weights = np.random.default_rng(1).random(len(y))
    clf = leaf_fit(X=X, y=y, sample_weight=weights, optimize=optimize)
    probabilities = clf.predict_proba(X)
    assert np.average(probabilities[:, 1], weights=weights) == pytest.approx(
        np.average(y == clf.classes_[1], weights=weights), abs=1e-4
    )
    np.testing.assert_allclose(np.log(probabilities[:, 1] / probabilities[:, 0]), clf.decision_function(X), atol=1e-9)


def test_without_a_split_the_probabilities_are_the_class_balance():
    y = np.arange(12) % 3 == 0
    with pytest.warns(DegenerateEnsembleWarning, match="No split"):
        clf = DualBoostClassifier().fit(np.ones((12, 2)), y)
    np.testing.assert_allclose(clf.predict_proba(np.zeros((2, 2))), [[2 / 3, 1 / 3]] * 2, atol=1e-4)
    assert not len(clf.estimators_)
    assert not clf.feature_importances_.any()


@pytest.mark.parametrize("name", [name for name in FORMULATIONS if name not in CAN])
def test_other_formulations_are_refused(name):
    with pytest.raises(
        UnsupportedFormulationError, match=f"optimize='leaves' needs a loss.*'{name}'.*optimize='weights'"
    ):
        leaf_fit(name)


def test_learners_that_are_no_trees_are_refused():
    with pytest.raises(InvalidParameterError, match=r"optimize='leaves' needs learners that are trees.*LogisticReg"):
        leaf_fit(learner=LogisticRegression())
    with pytest.raises(InvalidParameterError, match="optimize='boughs'"):
        leaf_fit(optimize="boughs")
    X, y = small_dataset("twonorm")
    assert DualBoostClassifier(learner=LogisticRegression(), max_trees=3).fit(X, y).gap_ <= 1e-6


@pytest.mark.parametrize("learner", ["optimal", ["cart", "optimal"]], ids=str)
def test_other_growers(learner):
    X, y = small_dataset("integers")
    clf = leaf_fit(X=X, y=y, learner=learner, max_depth=1)
    assert clf.gap_ <= 1e-6
    assert clf.score(X, y) > 0.7


@pytest.mark.parametrize("formulation", ["logistic", "cg"])
@pytest.mark.parametrize("max_trees", [1, 4])
def test_never_more_trees_than_asked_for(formulation, max_trees):
    clf = leaf_fit(formulation, max_trees=max_trees)
    assert clf.n_trees_ == len(clf.estimators_) == max_trees
    stages = [len(stage.trees) for stage in clf.fitted_.stages.stages]
    assert stages[-1] == max_trees
    assert clf.n_generated_ >= max(stages)


def stop_after(n_iterations, how):
    def callback(iteration):
        if iteration.iteration == n_iterations:
            return how()
        return False

    return callback


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("n_iterations", [1, 7])
def test_an_early_end_returns_a_certified_ensemble(n_iterations):
    """While trees are grown, and after more than asked for."""
    X, y = small_dataset("ringnorm")
    asked = leaf_fit(X=X, y=y, callbacks=stop_after(n_iterations, lambda: True))
    with pytest.warns(InterruptedFitWarning):
        interrupted = leaf_fit(X=X, y=y, callbacks=stop_after(n_iterations, interrupt))
    for clf, reason in ((asked, "callback"), (interrupted, "interrupted")):
        assert clf.stop_reason_ == reason
        assert clf.gap_ <= 1e-6
        assert len(clf.estimators_) == min(n_iterations, 5)
        *_, last = clf.staged_decision_function(X)
        np.testing.assert_allclose(last, clf.decision_function(X), atol=1e-9)


@pytest.mark.filterwarnings("ignore::dualboost.errors.SolverWarning")  # on a slow machine there is no time to solve
def test_an_early_end_by_time():
    clf = leaf_fit(max_trees=400, time_limit=0.5, callbacks=lambda iteration: time.sleep(0.02))
    assert clf.stop_reason_ == "time_limit"
    assert clf.gap_ <= 1e-6
    assert clf.n_generated_ < 400


def test_early_stopping_keeps_the_best_iteration():
    X, y = small_dataset("ringnorm")
    options = {"validation_fraction": 0.3, "n_iter_no_change": 3, "random_state": 0, "scoring": "neg_log_loss"}
    clf = leaf_fit(X=X, y=y, max_trees=60, **options)
    assert clf.stop_reason_ == "no_improvement"
    assert clf.gap_ <= 1e-6
    assert len(clf.estimators_) < clf.n_generated_


def test_stages_end_with_the_model():
    X, y = small_dataset("waveform")
    clf = leaf_fit(X=X, y=y)
    *_, last = clf.staged_predict(X)
    np.testing.assert_array_equal(last, clf.predict(X))
    assert len(list(clf.staged_predict(X))) == clf.n_iter_ == len(clf.history_["gap"])


def table_model(formulation="logistic", **options):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"number": rng.normal(size=200), "kind": pd.Categorical(rng.choice(["a", "b", "c"], 200))})
    X.loc[::9, "number"] = np.nan
    y = np.where((X["number"].fillna(1.0) > 0) ^ (X["kind"] == "b") ^ (rng.random(200) < 0.1), "yes", "no")
    return leaf_fit(formulation, X, y, **options), X, y


def test_votes_weights_and_intercept_are_the_score():
    clf, X, y = table_model()
    scores = clf.decision_function(X)
    votes = clf.votes(X)
    assert np.abs(votes).max() == 1.0
    np.testing.assert_allclose(votes @ clf.weights_ + clf.intercept_, scores, atol=1e-12)
    np.testing.assert_allclose(clf.margins(X, y), np.where(y == "yes", scores, -scores), atol=1e-12)


def test_explanations_and_rules_add_up_to_the_score():
    clf, X, _ = table_model()
    scores = clf.decision_function(X)
    explained = clf.explain(X)
    np.testing.assert_allclose(explained.base_value + explained.values.sum(axis=1), scores, atol=1e-9)
    assert explained.base_value == pytest.approx(scores.mean(), abs=1e-9)
    rules = clf.rules()
    assert len(rules) == clf.n_leaves_
    values = {(rule.tree, rule.leaf): rule.weighted_vote for rule in rules.itertuples()}
    features = clf._features(X)
    found = sum(np.array([values[j, leaf] for leaf in tree.leaves(features)]) for j, tree in enumerate(clf.estimators_))
    np.testing.assert_allclose(found + clf.intercept_, scores, atol=1e-9)
    assert clf.feature_importances_.sum() == pytest.approx(1.0)


def test_lightgbm_gives_the_same_probabilities():
    clf, X, _ = table_model()
    booster = to_lightgbm(clf)
    np.testing.assert_allclose(booster.predict(X), clf.predict_proba(X)[:, 1], atol=1e-12)
    np.testing.assert_allclose(booster.predict(X, raw_score=True), clf.decision_function(X), atol=1e-12)
    of_another_loss = leaf_fit("cg")
    X, _ = small_dataset("twonorm")
    np.testing.assert_allclose(
        to_lightgbm(of_another_loss).predict(X), of_another_loss.decision_function(X), atol=1e-12
    )


@pytest.mark.parametrize("formulation", every(LEAF_LOSSES, few=["logistic", "lp"]), ids=label)
def test_a_file_holds_the_model(formulation, tmp_path):
    clf, X, y = table_model(formulation=formulation)
    clf.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert (loaded.intercept_, loaded.optimize) == (clf.intercept_, "leaves")
    np.testing.assert_array_equal(loaded.fit(X, y).weights_, clf.weights_)


def test_a_file_holds_what_tuning_found(tmp_path):
    X, y = small_dataset("waveform")
    cv = DualBoostClassifierCV(Cs=[5.0, 50.0], max_trees=4, select="sparsest", scoring="neg_log_loss", random_state=0)
    cv.fit(X, y).save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert len(cv.path_["C"]) > len(set(cv.path_["C"]))
    assert (cv.scores_ < 0).all()
    for name in cv.path_:
        np.testing.assert_array_equal(loaded.path_[name], cv.path_[name])
    assert loaded.fitted_.tuning.max_trees == cv.fitted_.tuning.max_trees >= len(cv.estimators_)


def test_near_values_of_C_have_the_same_trees():
    X, y = small_dataset("twonorm")
    one, other = (leaf_fit(X=X, y=y, C=len(y) / ridge) for ridge in (9.0, 1.0))
    for a, b in zip(one.estimators_, other.estimators_, strict=True):
        np.testing.assert_array_equal(a.leaves(X), b.leaves(X))
    assert one.weights_.max() < other.weights_.max()


@pytest.mark.filterwarnings("ignore::dualboost.errors.ConstantPredictionWarning")
@pytest.mark.parametrize("C", [1e-8, 1e8])
def test_extreme_values_of_C_are_certified(C):
    clf = leaf_fit(C=C)
    assert clf.gap_ <= 1e-6
    assert clf.stop_reason_ == "max_trees"


def test_a_rare_class_is_learnt():
    """Without the intercept of the class balance, no split of the first tree would be worth its ridge."""
    rng = np.random.default_rng(0)
    X = (rng.random((2000, 12)) < 0.5).astype(float)
    y = (X[:, :3].all(axis=1)) & (rng.random(2000) < 0.6)
    with pytest.warns(ConstantPredictionWarning, match="predicts class False for every training row"):
        clf = DualBoostClassifier(max_trees=10).fit(X, y)
    assert clf.n_trees_ > 0
    assert roc_auc_score(y, clf.predict_proba(X)[:, 1]) > 0.95


@pytest.mark.filterwarnings("ignore::dualboost.errors.DegenerateEnsembleWarning")  # ten rows say little
def test_rows_without_a_category_are_predicted_as_they_were_trained():
    """LightGBM itself trains the one without as a row of another category than its tree says."""
    kinds = ["green", "green", "blue", "blue", None, "green", "green", "green", "green", "green"]
    table = pd.DataFrame({"kind": kinds, "number": [1.36, 0, 0, 0, 1.28, 0, 0, 0, 0.45, 0]})
    y = np.array([2.38, 0.25, 0.13, -0.15, 2.88, 1.32, -0.13, -0.42, -0.98, 1.30])
    weights = np.array([1.0, 1, 2, 3, 1, 3, 1, 3, 3, 2])
    reg = DualBoostRegressor("absolute", C=20).fit(table, y, sample_weight=weights)
    mean_loss = np.average(np.abs(y - reg.predict(table)), weights=weights) / reg.fitted_.target.scale
    ridge = 0.5 * sum((own**2).sum() for own in reg.fitted_.stages.stages[-1].values)
    assert reg.objective_ == pytest.approx(reg.formulation_.C * mean_loss + ridge, rel=1e-6)
