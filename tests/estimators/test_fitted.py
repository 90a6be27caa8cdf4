"""A fitted model is one value: whole, read-only, and what a failing refit leaves behind."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from dualboost import DualBoostClassifier, DualBoostClassifierCV
from dualboost.errors import DegenerateEnsembleWarning, InvalidDataError
from dualboost.targets.classes import BinaryTarget

SHARED = (
    *("classes_", "weights_", "estimators_", "n_trees_", "gap_", "objective_", "bound_", "certified_", "duals_"),
    *("stop_reason_", "history_", "n_generated_", "n_iter_", "formulation_", "feature_importances_", "n_features_in_"),
    "feature_names_in_",
)
TUNED = ("C_", "Cs_", "scores_", "path_")


def data(n_features=20, n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    return X, (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)


def plain():
    return DualBoostClassifier("lp", max_trees=10)


def tuned():
    return DualBoostClassifierCV("lp", Cs=[0.1, 1.0], max_trees=10, random_state=0)


both = pytest.mark.parametrize("make", [plain, tuned])


def state(clf, X):
    return clf.decision_function(X), clf.predict_proba(X), clf.weights_, clf.duals_, clf.n_features_in_, clf.gap_


def assert_unchanged(clf, X, before):
    for one, other in zip(state(clf, X), before, strict=True):
        np.testing.assert_array_equal(one, other)


@both
def test_nothing_is_there_before_fit(make):
    clf = make()
    for name in (*SHARED, *TUNED, "fitted_"):
        assert not hasattr(clf, name), name
    with pytest.raises(NotFittedError):
        check_is_fitted(clf)
    with pytest.raises(AttributeError, match="not fitted yet"):
        clf.weights_  # noqa: B018


@both
def test_attributes_are_read_only(make):
    X, y = data()
    clf = make().fit(pd.DataFrame(X, columns=[f"c{k}" for k in range(20)]), y)
    for name in (*SHARED, *(TUNED if make is tuned else ()), "fitted_"):
        with pytest.raises(AttributeError):
            setattr(clf, name, getattr(clf, name))
    with pytest.raises(FrozenInstanceError):
        clf.fitted_.duals = None


def test_columns_without_names_have_none():
    X, y = data()
    clf = plain().fit(pd.DataFrame(X, columns=[f"c{k}" for k in range(20)]), y)
    assert clf.feature_names_in_.tolist() == [f"c{k}" for k in range(20)]
    assert not hasattr(clf.fit(X, y), "feature_names_in_")


@both
def test_a_refit_on_other_columns_that_fails_leaves_the_model(make):
    X, y = data()
    clf = make().fit(X, y)
    before = state(clf, X)
    with pytest.raises(InvalidDataError, match="one class only"):
        clf.fit(X[:, :5], np.zeros(len(X), dtype=int))
    assert_unchanged(clf, X, before)
    with pytest.raises(ValueError, match="20 features"):
        clf.predict(X[:, :5])


@both
def test_an_interrupt_in_the_last_step_leaves_the_model(make, monkeypatch):
    X, y = data()
    clf = make().fit(X, y)
    before = state(clf, X)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    for step in ("calibrate", "calibrate_by_twins"):
        monkeypatch.setattr(BinaryTarget, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X[:, :5], 1 - y)
    assert_unchanged(clf, X, before)


def test_a_warning_that_is_an_error_leaves_the_model():
    X, y = data()
    clf = plain().fit(X, y)
    before = state(clf, X)
    with pytest.raises(DegenerateEnsembleWarning):
        clf.set_params(C=1e-9).fit(X[:, :5], y)
    assert_unchanged(clf, X, before)


def test_an_interrupt_while_tuning_leaves_the_model(monkeypatch):
    X, y = data()
    clf = tuned().fit(X, y)
    before, C = state(clf, X), clf.C_

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("dualboost.estimators.cross_validation.follow_path", interrupted)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X[:, :5], 1 - y)
    assert_unchanged(clf, X, before)
    assert clf.C_ == C


def test_messages_name_the_estimator():
    X, y = data()
    with pytest.raises(ValueError, match="DualBoostClassifierCV"):
        tuned().fit(X, None)
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        plain().fit(X, y)


@both
def test_copies_and_pickles_hold_the_same_model(make):
    X, y = data()
    clf = make().fit(X, y)
    before = state(clf, X)
    for other in (copy.copy(clf), copy.deepcopy(clf), pickle.loads(pickle.dumps(clf))):
        assert_unchanged(other, X, before)
