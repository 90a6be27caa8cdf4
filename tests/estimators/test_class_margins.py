"""Several classes with a weight for each learner: the paper's formulations, from the front door."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from dualboost import CartLearner, DualBoostClassifier, DualBoostClassifierCV, load_model, to_lightgbm
from dualboost.errors import DualBoostWarning, UnsupportedFormulationError
from dualboost.formulations import FORMULATIONS

from ..thoroughness import every, how_many
from .test_multiclass import tables

MARGINS = [name for name, kind in FORMULATIONS.items() if "weights" in kind.optimizes_for_classes]
SOME = ("nm", "lp", "cg", "md", "erlp", "convex")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)


@pytest.fixture(scope="module")
def fitted(wine):
    X, _, y, _ = wine
    return DualBoostClassifier("nm", max_depth=2, max_trees=10).fit(X, y)


@pytest.mark.parametrize("name", every(MARGINS, SOME))
def test_each_formulation_learns_them(name, wine):
    X, Xt, y, yt = wine
    clf = DualBoostClassifier(name, max_depth=2, max_trees=12).fit(X, y)
    assert clf.gap_ <= 1e-6
    assert clf.score(Xt, yt) > 0.8
    assert log_loss(yt, clf.predict_proba(Xt)) < log_loss(yt, np.tile(np.bincount(y) / len(y), (len(yt), 1)))
    assert clf.history_["train_score"][-1] == pytest.approx(clf.score(X, y))


@settings(max_examples=how_many(8, 300))
@given(table=tables(), name=st.sampled_from(MARGINS), depth=st.integers(1, 3))
def test_every_table_has_a_certified_model(table, name, depth):
    X, y, weights = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DualBoostWarning)
        clf = DualBoostClassifier(name, max_depth=depth, max_trees=4).fit(X, y, weights)
    assert clf.gap_ <= 1e-6
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)
    assert set(clf.predict(X)) <= set(y)


def test_scores_are_margins(wine, fitted):
    _, X, _, y = wine
    scores = fitted.decision_function(X)
    assert scores.shape == (len(X), 3)
    assert (scores >= 0).all()
    np.testing.assert_allclose(scores.sum(axis=1), 1.0)
    shares = fitted.weights_ / fitted.weights_.sum()
    np.testing.assert_allclose(np.einsum("ijk,j->ik", fitted.votes(X), shares), scores, atol=1e-9)
    np.testing.assert_array_equal(fitted.margins(X, y) < 0, fitted.predict(X) != y)
    np.testing.assert_allclose(list(fitted.staged_decision_function(X))[-1], scores)


def test_duals_are_residuals(wine, fitted):
    X, _, y, _ = wine
    assert fitted.duals_.shape == (len(X), 3)
    np.testing.assert_allclose(fitted.duals_.sum(axis=1), 0.0, atol=1e-9)
    assert (fitted.duals_[np.arange(len(y)), y] >= 0).all()


def test_files_pickles_rules_explanations_and_exports(wine, fitted, tmp_path):
    _, X, _, _ = wine
    fitted.save(tmp_path / "model.json")
    for other in (load_model(tmp_path / "model.json"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))
    exported = to_lightgbm(fitted)
    found, own = exported.predict(X), fitted.predict_proba(X)
    agree = found.argmax(axis=1) == own.argmax(axis=1)
    np.testing.assert_allclose(found[agree], own[agree], atol=1e-5)
    assert agree.mean() > 0.9
    explained = fitted.explain(X)
    found = explained.values.sum(axis=1) + explained.base_value
    np.testing.assert_allclose(found, fitted.decision_function(X), atol=1e-9)
    assert len(fitted.rules()) == fitted.n_leaves_


def test_any_learner(wine):
    X, Xt, y, yt = wine
    for learner in (LogisticRegression(max_iter=2000), "optimal", CartLearner(criterion="edge", voting="confidence")):
        clf = DualBoostClassifier("lp", learner=learner, max_depth=2, max_trees=6).fit(X, y)
        assert clf.gap_ <= 1e-6
        assert clf.score(Xt, yt) > 0.8


def test_exact_stumps_prove_their_optimum():
    X, y = load_iris(return_X_y=True)
    clf = DualBoostClassifier("lp", C=0.05, learner="optimal", max_depth=1, max_trees=200).fit(X, y)
    assert clf.certified_
    assert clf.bound_ == pytest.approx(clf.objective_, rel=1e-6)


def test_tuning_stopping_and_weights(wine):
    X, Xt, y, yt = wine
    tuned = DualBoostClassifierCV("nm", Cs=3, cv=2, max_depth=2, max_trees=6).fit(X, y)
    assert tuned.gap_ <= 1e-6
    assert tuned.score(Xt, yt) > 0.8
    stopped = DualBoostClassifier("lp", max_depth=2, max_trees=20, validation_fraction=0.3, n_iter_no_change=3)
    stopped.fit(X, y, np.arange(len(y)) % 3 + 1)
    assert stopped.gap_ <= 1e-6


def test_a_weight_of_two_is_the_row_twice(wine):
    X, Xt, y, _ = wine
    twice = np.arange(len(X)) % 3 == 0
    weighted = DualBoostClassifier("lp", C=0.1, max_depth=2, max_trees=5).fit(X, y, np.where(twice, 2.0, 1.0))
    repeated = DualBoostClassifier("lp", C=0.1, max_depth=2, max_trees=5).fit(
        np.concatenate([X, X[twice]]), np.append(y, y[twice])
    )
    np.testing.assert_allclose(weighted.decision_function(Xt), repeated.decision_function(Xt), atol=1e-6)


def test_threads_change_nothing(wine):
    X, Xt, y, _ = wine
    one, two = (DualBoostClassifier("nm", max_depth=2, max_trees=5, n_jobs=k).fit(X, y) for k in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(Xt), two.predict_proba(Xt))


@pytest.mark.parametrize("name", ["soft", "mlp", "cq", "spatial", "lexi"])
def test_the_others_say_what_to_do(name):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(UnsupportedFormulationError, match=r"Only binary.*'logistic'.*'nm'.*OneVsRest"):
        DualBoostClassifier(name).fit(X, y)


def test_an_empty_ensemble_predicts_the_majority():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(DualBoostWarning, match="is empty"):
        clf = DualBoostClassifier("lp", C=1e-6).fit(X, y)
    assert (clf.predict(X) == np.bincount(y).argmax()).all()
