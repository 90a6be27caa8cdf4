"""Several classes: one score a class from the leaves of trees, and margins under the formulations of the paper."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from dualboost import CartLearner, DualBoostClassifier, DualBoostClassifierCV, load_model, to_lightgbm
from dualboost.errors import (
    DataWarning,
    DegenerateEnsembleWarning,
    DualBoostWarning,
    InvalidDataError,
    UnsupportedFormulationError,
)
from dualboost.formulations import FORMULATIONS

from ..thoroughness import every, how_many


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)


@pytest.fixture(scope="module")
def fitted(digits):
    X, _, y, _ = digits
    return DualBoostClassifier(max_depth=4, max_trees=15).fit(X, y)


@st.composite
def tables(draw):
    """A table of a few rows: 2 to 12 classes, classes with one row, missing values, weights, ties."""
    n_classes = draw(st.integers(2, 12))
    n_rows = draw(st.integers(n_classes, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    names = draw(st.sampled_from([list(range(12)), list("abcdefghijkl"), [f"class {k}" for k in range(12)]]))
    codes = np.append(np.arange(n_classes), (rng.random(n_rows - n_classes) ** 3 * n_classes).astype(int))
    X = np.round(rng.normal(size=(n_rows, draw(st.integers(1, 5)))) + codes[:, None] * rng.random(), 1)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    weights = rng.integers(1, 4, n_rows) if draw(st.booleans()) else None
    return X, np.array(names)[codes], weights


@settings(max_examples=how_many(15, 1000))
@given(table=tables(), depth=st.integers(1, 4), C=st.sampled_from([None, 0.1, 100.0]))
def test_every_table_has_a_certified_model(table, depth, C):
    X, y, weights = table
    with warnings.catch_warnings():
        for category in (DegenerateEnsembleWarning, DataWarning):  # of a table with one row a class
            warnings.simplefilter("ignore", category)
        clf = DualBoostClassifier(C=C, max_depth=depth, max_trees=5).fit(X, y, weights)
    probabilities = clf.predict_proba(X)
    assert clf.gap_ <= 1e-6
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert set(clf.predict(X)) <= set(y)


def test_one_tree_serves_all_classes(digits, fitted):
    _, X, _, y = digits
    assert fitted.n_trees_ <= 15
    assert fitted.score(X, y) > 0.93
    assert log_loss(y, fitted.predict_proba(X)) < 0.3


def test_attributes_and_answers_have_one_number_a_class(digits, fitted):
    _, X, _, y = digits
    scores = fitted.decision_function(X)
    assert scores.shape == (len(X), 10)
    assert fitted.intercept_.shape == (10,)
    np.testing.assert_allclose(np.einsum("ijk,j->ik", fitted.votes(X), fitted.weights_) + fitted.intercept_, scores)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[scores.argmax(axis=1)])
    np.testing.assert_array_equal(fitted.margins(X, y) < 0, fitted.predict(X) != y)
    np.testing.assert_allclose(list(fitted.staged_decision_function(X))[-1], scores, atol=1e-12)


def test_duals_are_the_residuals_of_the_rows(digits, fitted):
    X, _, y, _ = digits
    assert fitted.duals_.shape == (len(X), 10)
    np.testing.assert_allclose(fitted.duals_.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(fitted.duals_.sum(axis=0), 0.0, atol=1e-9)
    assert (fitted.duals_[np.arange(len(y)), y] >= 0).all()


def test_threads_and_the_order_of_the_rows_change_nothing(digits):
    X, Xt, y, _ = digits
    order = np.random.default_rng(0).permutation(len(X))
    one = DualBoostClassifier(max_depth=3, max_trees=5).fit(X, y)
    other = DualBoostClassifier(max_depth=3, max_trees=5, n_jobs=2).fit(X[order], y[order])
    np.testing.assert_array_equal(one.predict_proba(Xt), other.predict_proba(Xt))


def test_tuning_and_early_stopping(digits):
    X, Xt, y, yt = digits
    tuned = DualBoostClassifierCV(Cs=2, cv=2, max_depth=3, max_trees=6, scoring="neg_log_loss").fit(X, y)
    assert tuned.scores_.shape == (2, 2)
    assert tuned.gap_ <= 1e-6
    assert tuned.score(Xt, yt) > 0.85
    stopped = DualBoostClassifier(
        max_depth=3, max_trees=12, validation_fraction=0.2, n_iter_no_change=3, random_state=0
    )
    stopped.fit(X, y)
    assert stopped.stop_reason_ in ("no_improvement", "max_trees")
    assert np.nanmax(stopped.history_["validation_score"]) > 0.85


def test_a_class_that_a_fold_lacks():
    X, y = load_iris(return_X_y=True)
    y = y.astype(object)
    y[7] = "lonely"
    y = y.astype(str)
    clf = DualBoostClassifierCV(Cs=2, cv=3, max_depth=2, max_trees=4, scoring="neg_log_loss").fit(X, y)
    assert clf.predict_proba(X).shape == (150, 4)
    DualBoostClassifier(max_depth=2, max_trees=4, validation_fraction=0.2, random_state=0).fit(X, y)


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    colours = rng.choice(["blue", "green", "red", None], 300)
    table = pd.DataFrame({"colour": pd.Categorical(colours), "number": rng.normal(size=300)})
    y = pd.Series(colours).fillna("none")
    clf = DualBoostClassifier(max_depth=3, max_trees=5, C=1000.0).fit(table, y)
    assert clf.score(table, y) == 1.0


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        (["a"] * 6, None, "one class only"),
        ([0, 0, 1, 1, 2, 2], [1, 1, 1, 1, 0, 0], r"No row of class 2 .*sample_weight"),
        ([0.5, 1.5, 2.25, 3.0, 4.0, 5.0], None, r"0\.5.*no classes"),
        ([0.0, 1.0, 2.0, np.nan, 1.0, 0.0], None, "is missing in 1 of 6 rows, row 3 first"),
        (["a", "b", "c", None, "b", "a"], None, "is missing in 1 of 6 rows, row 3 first"),
    ],
)
def test_labels_that_cannot_be_learnt(y, weights, message):
    with pytest.raises(InvalidDataError, match=message):
        DualBoostClassifier().fit(np.arange(6.0)[:, None], np.array(y), weights)


# Margins: a weight for each learner, under the formulations of the paper.

MARGINS = [name for name, kind in FORMULATIONS.items() if "weights" in kind.optimizes_for_classes]
SOME = ("nm", "lp", "cg", "md", "erlp", "convex")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)


@pytest.fixture(scope="module")
def voting(wine):
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
def test_every_table_has_a_certified_model_under_margins(table, name, depth):
    X, y, weights = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DualBoostWarning)
        clf = DualBoostClassifier(name, max_depth=depth, max_trees=4).fit(X, y, weights)
    assert clf.gap_ <= 1e-6
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)
    assert set(clf.predict(X)) <= set(y)


def test_scores_are_margins(wine, voting):
    _, X, _, y = wine
    scores = voting.decision_function(X)
    assert scores.shape == (len(X), 3)
    assert (scores >= 0).all()
    np.testing.assert_allclose(scores.sum(axis=1), 1.0)
    shares = voting.weights_ / voting.weights_.sum()
    np.testing.assert_allclose(np.einsum("ijk,j->ik", voting.votes(X), shares), scores, atol=1e-9)
    np.testing.assert_array_equal(voting.margins(X, y) < 0, voting.predict(X) != y)
    np.testing.assert_allclose(list(voting.staged_decision_function(X))[-1], scores)


def test_duals_are_residuals(wine, voting):
    X, _, y, _ = wine
    assert voting.duals_.shape == (len(X), 3)
    np.testing.assert_allclose(voting.duals_.sum(axis=1), 0.0, atol=1e-9)
    assert (voting.duals_[np.arange(len(y)), y] >= 0).all()


def test_files_pickles_rules_explanations_and_exports(wine, voting, tmp_path):
    _, X, _, _ = wine
    voting.save(tmp_path / "model.json")
    for other in (load_model(tmp_path / "model.json"), pickle.loads(pickle.dumps(voting))):
        np.testing.assert_array_equal(other.predict_proba(X), voting.predict_proba(X))
    exported = to_lightgbm(voting)
    found, own = exported.predict(X), voting.predict_proba(X)
    agree = found.argmax(axis=1) == own.argmax(axis=1)
    np.testing.assert_allclose(found[agree], own[agree], atol=1e-5)
    assert agree.mean() > 0.9
    explained = voting.explain(X)
    found = explained.values.sum(axis=1) + explained.base_value
    np.testing.assert_allclose(found, voting.decision_function(X), atol=1e-9)
    assert len(voting.rules()) == voting.n_leaves_


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
