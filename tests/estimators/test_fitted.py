"""The fitted model is one value: whole, read-only, unchanged by a failing refit; ``warm_start`` continues from it."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, load_model
from dualboost.errors import DegenerateEnsembleWarning, InvalidDataError, InvalidParameterError
from dualboost.targets.classes import BinaryTarget

from .. import interrupts
from ..interrupts import KINDS, Refitted, at_event, whats_wrong
from ..thoroughness import how_many

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


# Interrupts: the old model or the new one is whole, for every kind of model.

of_interrupts = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # interrupts of __del__


@pytest.fixture(scope="module", params=KINDS)
def refitted(request):
    return Refitted(request.param)


@of_interrupts
def test_models_that_were_not_interrupted_are_whole(refitted):
    assert whats_wrong(refitted.new_model, refitted.new_X, refitted.new_y) == ""


@of_interrupts
def test_an_interrupt_at_any_point(refitted):
    """At random calls and returns, and at the first and the last ones, where data are read and the model is set."""
    rng, n_events = np.random.default_rng(0), refitted.n_events()
    points = [*range(1, 30, 7), *range(n_events - 20, n_events, 5)]
    points += rng.integers(30, n_events, how_many(10, 200)).tolist()
    found = {number: refitted.interrupted(at_event(number)) for number in points}
    assert {number: what for number, what in found.items() if what not in ("old", "new")} == {}
    assert {"old", "new"} == set(found.values())


@of_interrupts
def test_a_refused_refit_on_other_columns(refitted):
    X = refitted.new_X.copy()
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        refitted.model.fit(X, refitted.new_y)
    with pytest.raises(ValueError, match="weight"):
        refitted.model.fit(refitted.new_X, refitted.new_y, sample_weight=np.zeros(len(X)))
    assert all(map(np.array_equal, interrupts.state(refitted.model, refitted.old_X), refitted.old_state))


# ``warm_start``


def rows(kind, n=250):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n)
    return X, {"two": score > 0, "three": np.digitize(score, [-1, 1]), "numbers": 50 + 9 * score}[kind]


FITS = {
    "logistic": ("two", DualBoostClassifier(max_depth=2)),
    "logistic, exact": ("two", DualBoostClassifier(max_depth=2, learner="optimal")),
    "convex leaves": ("two", DualBoostClassifier("convex", optimize="leaves", max_depth=2)),
    "three classes": ("three", DualBoostClassifier(max_depth=2)),
    "lp": ("two", DualBoostClassifier("lp", max_depth=2, calibration="training")),
    "nm": ("two", DualBoostClassifier("nm", max_depth=2, calibration="training")),
    "spatial": ("two", DualBoostClassifier("spatial", max_depth=1, calibration="training")),
    "lp, three classes": ("three", DualBoostClassifier("lp", max_depth=2, calibration="training")),
    "any classifier": ("two", DualBoostClassifier("md", learner=LogisticRegression(), calibration="training")),
    "squared": ("numbers", DualBoostRegressor(max_depth=2)),
    "absolute": ("numbers", DualBoostRegressor("absolute", max_depth=2)),
    "quantiles": ("numbers", DualBoostRegressor("quantile", quantiles=[0.2, 0.8], max_depth=2)),
    "weights for numbers": ("numbers", DualBoostRegressor(optimize="weights", max_depth=2)),
}
FEW, MORE = 4, 9


def splits(tree):
    return tree.feature.tolist(), tree.threshold.tolist()


@pytest.mark.parametrize("name", FITS)
def test_the_trees_held_stay_and_others_join_them(name):
    kind, model = FITS[name]
    X, y = rows(kind)
    model = clone(model).set_params(max_trees=FEW, warm_start=True).fit(X, y)
    before, objective, sign = model.estimators_, model.objective_, model.formulation_.objective_sign
    model.set_params(max_trees=MORE).fit(X, y)
    assert len(before) <= len(model.estimators_) <= MORE
    for earlier, now in zip(before, model.estimators_, strict=False):
        if hasattr(earlier, "feature"):
            assert splits(earlier) == splits(now)
        else:
            np.testing.assert_array_equal(earlier.vote(X), now.vote(X))
    assert model.gap_ <= 1e-6
    assert sign * model.objective_ <= sign * objective + 1e-9 or model.formulation_.depends_on_columns
    staged = list(model.staged_predict(X))
    assert len(staged) == model.n_iter_ == len(model.history_["gap"])
    if kind == "numbers":
        np.testing.assert_allclose(staged[-1], model.predict(X), rtol=1e-12)
    else:
        np.testing.assert_array_equal(staged[-1], model.predict(X))


@pytest.mark.parametrize("name", ["lp", "weights for numbers"])
def test_an_optimum_is_the_same_whether_it_is_reached_at_once_or_in_two_fits(name):
    """Where the learner is exact and fits go on to the end, both ensembles are optimal over all trees."""
    kind, model = FITS[name]
    X, y = rows(kind, n=60)
    model = clone(model).set_params(learner="optimal", max_depth=1, max_trees=300)
    at_once = clone(model).fit(X, y)
    in_two = clone(model).set_params(max_trees=6, warm_start=True).fit(X, y).set_params(max_trees=300).fit(X, y)
    assert at_once.stop_reason_ == in_two.stop_reason_ == "certified"
    assert in_two.objective_ == pytest.approx(at_once.objective_, rel=1e-5)


@pytest.mark.parametrize("name", ["logistic", "lp", "three classes", "quantiles"])
def test_with_as_many_trees_the_ensemble_stays(name):
    kind, model = FITS[name]
    X, y = rows(kind)
    model = clone(model).set_params(max_trees=FEW, warm_start=True).fit(X, y)
    predicted = model.decision_function(X) if kind != "numbers" else model.predict(X)
    model.fit(X, y)
    again = model.decision_function(X) if kind != "numbers" else model.predict(X)
    np.testing.assert_allclose(again, predicted, atol=1e-2 * np.abs(predicted).max())
    assert len(model.estimators_) == FEW


@pytest.mark.parametrize("name", ["logistic", "lp"])
def test_early_stopping_goes_on_too(name):
    kind, model = FITS[name]
    X, y = rows(kind)
    model = (
        clone(model)
        .set_params(max_trees=FEW, warm_start=True, n_iter_no_change=3)
        .fit(X[:150], y[:150], eval_set=(X[150:], y[150:]))
    )
    first = np.nanmax(model.history_["validation_score"])
    model.set_params(max_trees=MORE).fit(X[:150], y[:150], eval_set=(X[150:], y[150:]))
    assert model.score(X[150:], y[150:]) == pytest.approx(np.nanmax(model.history_["validation_score"]))
    assert np.nanmax(model.history_["validation_score"]) >= first - 0.05


def test_a_model_that_was_saved_goes_on(tmp_path):
    X, y = rows("two")
    model = DualBoostClassifier(max_depth=2, max_trees=FEW, warm_start=True).fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json").set_params(max_trees=MORE).fit(X, y)
    model.set_params(max_trees=MORE).fit(X, y)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_without_it_a_fit_begins_anew():
    X, y = rows("two")
    once = DualBoostClassifier(max_depth=2, max_trees=FEW).fit(X, y)
    np.testing.assert_array_equal(clone(once).fit(X, y).fit(X, y).decision_function(X), once.decision_function(X))
    fresh = clone(once).set_params(warm_start=True).fit(X, y)
    np.testing.assert_array_equal(fresh.decision_function(X), once.decision_function(X))


def test_what_cannot_go_on_is_refused_and_the_model_stays():
    X, y = rows("two")
    table = pd.DataFrame(X).assign(kind=np.where(X[:, 0] > 0, "a", "b"))
    table.columns = table.columns.astype(str)
    model = DualBoostClassifier(max_depth=2, max_trees=FEW, warm_start=True).fit(table, y)
    fitted = model.fitted_
    with pytest.raises(InvalidParameterError, match=f"max_trees=2 is less than the {FEW} trees"):
        clone(model).fit(table, y).set_params(max_trees=2).fit(table, y)
    with pytest.raises(InvalidDataError, match="X has 4 features"):
        model.fit(X, y)
    with pytest.raises(InvalidDataError, match="other categories"):
        model.fit(table.assign(kind=np.where(X[:, 0] > 0, "a", "c")), y)
    with pytest.raises(InvalidDataError, match="y has"):
        model.fit(table, rows("three")[1])
    assert model.fitted_ is fitted
    with pytest.raises(InvalidParameterError, match="warm_start='yes'"):
        DualBoostClassifier(warm_start="yes").fit(X, y)
    assert "warm_start" not in DualBoostClassifierCV().get_params()
