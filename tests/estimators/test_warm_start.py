"""``warm_start``: a fit that goes on from the trees of the one before."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, load_model
from dualboost.errors import InvalidDataError, InvalidParameterError


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
