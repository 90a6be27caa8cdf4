"""``eval_set`` and ``eval_metric``: the same as rows that are held out, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import get_scorer, log_loss

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, DualBoostRegressorCV, load_model
from dualboost.data.merging import hold_out
from dualboost.errors import InvalidDataError, InvalidParameterError

KINDS = {2: np.array(["no", "yes"]), 3: np.array([3, 5, 9])}


def rows(n_classes=2, n=300):
    rng = np.random.default_rng(n_classes)
    codes = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, 3)) + codes[:, None], KINDS[n_classes][codes]


def numbers(n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, 100.0 + 7.0 * (X[:, 0] * X[:, 1] + rng.normal(size=n))


def divided(y, share=0.3):
    held = hold_out(np.unique(y, return_inverse=True)[1], np.ones(len(y)), share, np.random.RandomState(0))
    return np.setdiff1d(np.arange(len(y)), held), held


@pytest.mark.parametrize("n_classes", KINDS)
@pytest.mark.parametrize("formulation", ["logistic", "lp"])
@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_rows_that_are_passed_are_rows_that_are_held_out(formulation, n_classes, scoring):
    X, y = rows(n_classes)
    training, held = divided(y)
    options = {"max_depth": 2, "max_trees": 8, "n_iter_no_change": 3, "random_state": 0, "scoring": scoring}
    of_all = DualBoostClassifier(formulation, validation_fraction=0.3, **options).fit(X, y)
    passed = DualBoostClassifier(formulation, **options)
    passed.fit(X[training], y[training], eval_set=[(X[held], y[held])])
    np.testing.assert_array_equal(passed.history_["validation_score"], of_all.history_["validation_score"])
    np.testing.assert_array_equal(passed.predict_proba(X), of_all.predict_proba(X))
    assert passed.stop_reason_ == of_all.stop_reason_


@pytest.mark.parametrize("metric", ["neg_log_loss", "roc_auc", None])
def test_the_score_is_that_of_the_metric(metric):
    X, y = rows()
    clf = DualBoostClassifier(max_depth=2, max_trees=4, scoring="f1_macro")
    clf.fit(X[:200], y[:200], eval_set=(X[200:], y[200:]), eval_metric=metric)
    scorer = get_scorer(metric or "f1_macro")
    assert clf.history_["validation_score"][-1] == pytest.approx(scorer(clf, X[200:], y[200:]))


@pytest.mark.parametrize("loss", ["squared", "absolute", "poisson"])
def test_numbers_are_scored_in_their_own_units(loss):
    X, y = numbers()
    reg = DualBoostRegressor(loss, max_depth=2, max_trees=5, n_iter_no_change=2)
    reg.fit(X[:200], y[:200], eval_set=(X[200:], y[200:]), eval_metric="neg_mean_absolute_error")
    error = -np.abs(reg.predict(X[200:]) - y[200:]).mean()
    assert np.nanmax(reg.history_["validation_score"]) == pytest.approx(error)
    assert np.count_nonzero(reg.duals_) > 180, "no row is held out"


def test_weights_of_rows_and_of_classes_count():
    X, y = rows()
    weights = np.random.default_rng(0).integers(0, 3, size=100).astype(float)
    clf = DualBoostClassifier(C=1000.0, max_depth=2, max_trees=4, class_weight={"yes": 5.0})
    clf.fit(X[:200], y[:200], eval_set=(X[200:], y[200:], weights), eval_metric="neg_log_loss")
    of_both = weights * np.where(y[200:] == "yes", 5.0, 1.0)
    expected = -log_loss(y[200:], clf.predict_proba(X[200:]), sample_weight=of_both)
    assert clf.history_["validation_score"][-1] == pytest.approx(expected)


def test_balanced_classes_are_those_of_the_training_rows():
    X, y = rows()
    few = np.flatnonzero((y == "no") | (np.arange(len(y)) % 7 == 0))
    clf = DualBoostClassifier(max_depth=2, max_trees=4, class_weight="balanced")
    clf.fit(X[few], y[few], eval_set=(X, y), eval_metric="accuracy")
    share = np.mean(y[few] == "yes")
    counts = np.where(y == "yes", 0.5 / share, 0.5 / (1 - share))
    assert clf.history_["validation_score"][-1] == pytest.approx(clf.score(X, y, sample_weight=counts))


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_values_of_C_are_compared_by_the_rows_passed(kind):
    X, y = rows() if kind == "classes" else numbers()
    tuned = DualBoostClassifierCV if kind == "classes" else DualBoostRegressorCV
    options = {"Cs": [1.0, 30.0], "max_depth": 2, "max_trees": 4, "scoring": None if kind == "classes" else "r2"}
    training, held = divided(y if kind == "classes" else y > 100)
    passed = tuned(**options).fit(X[training], y[training], eval_set=(X[held], y[held]))
    assert passed.Cs_[passed.scores_[0].argmax()] == passed.C_
    if kind == "classes":  # the unit of numbers is that of the rows trained on
        np.testing.assert_array_equal(tuned(cv=[(training, held)], **options).fit(X, y).scores_, passed.scores_)
    plain = DualBoostClassifier if kind == "classes" else DualBoostRegressor
    alone = plain(C=passed.C_, max_depth=2, max_trees=4).fit(X[training], y[training])
    np.testing.assert_array_equal(passed.predict(X), alone.predict(X))


def test_tables_are_read_as_those_to_train_on():
    X, y = rows()
    table = pd.DataFrame(X, columns=list("abc")).assign(d=pd.Categorical(np.where(X[:, 0] > 1, "x", "y")))
    clf = DualBoostClassifier(max_depth=2, max_trees=3)
    clf.fit(table[:200], y[:200], eval_set=(table[200:], y[200:]))
    assert clf.history_["validation_score"][-1] == pytest.approx(clf.score(table[200:], y[200:]))
    with pytest.raises(ValueError, match="feature names"):
        clf.fit(table[:200], y[:200], eval_set=(table[200:].rename(columns={"a": "z"}), y[200:]))


def test_a_model_with_a_score_but_no_share_is_saved_and_loaded(tmp_path):
    X, y = rows()
    clf = DualBoostClassifier(max_trees=3, scoring="roc_auc").fit(X[:200], y[:200], eval_set=(X[200:], y[200:]))
    clf.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict_proba(X), clf.predict_proba(X))


def refusals():
    X, y = rows(n=40)
    yield {"eval_metric": "roc_auc"}, InvalidParameterError, "eval_metric='roc_auc' needs rows"
    yield {"eval_set": (X, y), "eval_metric": "best"}, InvalidParameterError, "eval_metric='best' is not known"
    yield {"eval_set": X}, InvalidDataError, "eval_set must be a tuple"
    yield {"eval_set": (X,)}, InvalidDataError, "eval_set must be a tuple"
    yield {"eval_set": [(X, y), (X, y)]}, InvalidDataError, "list of 2"
    yield {"eval_set": (X[:, :2], y)}, ValueError, "eval_set: .*2 features"
    yield {"eval_set": (X, y[:-1])}, InvalidDataError, "eval_set: .*one class for each of the 40 rows"
    yield {"eval_set": (X, np.full(40, "maybe"))}, InvalidDataError, "'maybe'"
    yield {"eval_set": (X, y, np.ones(3))}, InvalidDataError, "sample_weight has shape"


@pytest.mark.parametrize("asked", list(refusals()), ids=lambda case: case[2])
def test_what_cannot_be_scored_is_refused(asked):
    arguments, error, message = asked
    clf = DualBoostClassifier(max_trees=2)
    with pytest.raises(error, match=message):
        clf.fit(*rows(n=60), **arguments)
    assert not hasattr(clf, "fitted_")


def test_rows_to_score_come_from_one_place():
    X, y = rows(n=60)
    with pytest.raises(InvalidParameterError, match=r"validation_fraction=0\.2"):
        DualBoostClassifier(validation_fraction=0.2).fit(X, y, eval_set=(X, y))
    with pytest.raises(InvalidParameterError, match="cv=3"):
        DualBoostClassifierCV(cv=3).fit(X, y, eval_set=(X, y))
