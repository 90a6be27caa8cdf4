"""Scores of held-out rows: ``scoring``, ``eval_set`` and ``eval_metric``."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import get_scorer, log_loss, make_scorer, roc_auc_score

from dualboost import (
    DualBoostClassifier,
    DualBoostClassifierCV,
    DualBoostRegressor,
    DualBoostRegressorCV,
    SolverOptions,
    load_model,
    thin,
)
from dualboost.data.merging import hold_out
from dualboost.datasets import make_twonorm
from dualboost.errors import InvalidDataError, InvalidParameterError, ModelFileWarning

RNG = np.random.default_rng(0)
X, Y = make_twonorm(500, random_state=0)
Y = np.where(RNG.random(500) < 0.25, -Y, Y)
PATH = {"Cs": [0.005, 0.02, 0.05, 0.1, 0.4, 2.0], "max_trees": 25, "random_state": 0}


@pytest.fixture(scope="module")
def paths():
    return {name: DualBoostClassifierCV("cg", scoring=name, **PATH).fit(X, Y) for name in (None, "neg_log_loss")}


def test_the_path_chooses_by_the_score_asked_for(paths):
    by_accuracy, by_loss = paths[None], paths["neg_log_loss"]
    assert by_accuracy.C_ != by_loss.C_
    path = by_loss.path_
    assert path["score"][list(path["C"]).index(by_loss.C_)] == path["score"].max()
    assert (path["score"] < 0).all()
    assert (path["standard_error"] > 0).all()
    np.testing.assert_array_equal(path["n_trees"], by_accuracy.path_["n_trees"])


def test_accuracy_by_name_is_the_default(paths):
    named = DualBoostClassifierCV("cg", scoring="accuracy", **PATH).fit(X, Y)
    np.testing.assert_array_equal(named.scores_, paths[None].scores_)


def test_sparsest_takes_the_fewest_trees_within_one_standard_error(paths):
    path = paths["neg_log_loss"].path_
    sparse = DualBoostClassifierCV("cg", scoring="neg_log_loss", select="sparsest", **PATH).fit(X, Y)
    best = int(np.argmax(path["score"]))
    allowed = path["score"] >= path["score"][best] - path["standard_error"][best]
    assert path["n_trees"][list(path["C"]).index(sparse.C_)] == path["n_trees"][allowed].min()


def test_folds_have_scores_of_their_own():
    tuned = DualBoostClassifierCV("cg", Cs=[0.02, 0.2], cv=3, max_trees=8, scoring="roc_auc").fit(X, Y)
    assert tuned.scores_.shape == (3, 2)
    assert (tuned.scores_ > 0.55).all()


@pytest.fixture(scope="module")
def stopped():
    options = {"validation_fraction": 0.3, "n_iter_no_change": 5, "random_state": 2, "max_trees": 40}
    solver = SolverOptions(reoptimize="every")  # no score changes by a polish at the end
    return DualBoostClassifier("cg", scoring="roc_auc", solver=solver, **options).fit(X, Y)


def test_a_fit_ends_when_the_score_no_longer_rises(stopped):
    scores = stopped.history_["validation_score"]
    best = int(np.argmax(scores))
    assert stopped.stop_reason_ == "no_improvement"
    assert len(scores) == best + 6
    held = hold_out((Y > 0).astype(int), np.ones(len(Y)), 0.3, np.random.RandomState(2))
    assert scores[best] == pytest.approx(roc_auc_score(Y[held], stopped.decision_function(X[held])))


def test_a_scorer_that_falls_below_minus_one():
    """The least score is not the accuracy's: scores of any size are compared."""
    scorer = make_scorer(log_loss, greater_is_better=False, response_method="predict_proba")
    far = DualBoostClassifier(
        *("cg", 0.2),
        validation_fraction=0.3,
        n_iter_no_change=3,
        random_state=1,
        max_trees=15,
        scoring=lambda estimator, rows, y: 100 * scorer(estimator, rows, y),
    ).fit(X, Y)
    best = int(np.argmax(far.history_["validation_score"]))
    assert far.history_["validation_score"][best] < -1
    assert (far.weights_[best + 1 :] == 0).all()


def test_sample_weights_reach_the_scorer():
    seen = []

    def noted(y, predicted, sample_weight=None):
        seen.append(sample_weight)
        return float(np.average(y == predicted, weights=sample_weight))

    weights = RNG.integers(1, 4, len(Y)).astype(float)
    clf = DualBoostClassifier(validation_fraction=0.3, random_state=0, max_trees=4, scoring=make_scorer(noted))
    clf.fit(X, Y, sample_weight=weights)
    held = hold_out((Y > 0).astype(int), weights, 0.3, np.random.RandomState(0))
    np.testing.assert_array_equal(seen[0], weights[held])
    plain = clone(clf).set_params(scoring=None).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(clf.history_["validation_score"], plain.history_["validation_score"])


def thinned(model, **options):
    return thin(model, X, Y, random_state=0, **options)


@pytest.fixture(scope="module")
def boosted():
    return GradientBoostingClassifier(n_estimators=60, random_state=0).fit(X, Y)


def test_thinning_keeps_the_score_asked_for(boosted):
    result = thinned(boosted, scoring="neg_log_loss", tolerance=0.05, validation_fraction=0.2)
    assert result.full_score - 0.05 <= result.path["validation_score"][result.chosen] < 0
    assert "neg_log_loss, validation" in result.summary()
    held = hold_out((Y > 0).astype(int), np.ones(len(Y)), 0.2, np.random.RandomState(0))
    assert result.full_score == pytest.approx(-log_loss(Y[held], boosted.predict_proba(X[held])[:, 1]))
    assert len(result.kept) < 60


@pytest.mark.parametrize(
    "model", [RandomForestClassifier(20, max_depth=4, random_state=0), DualBoostClassifier("cg", max_trees=20)], ids=str
)
def test_the_score_told_is_that_of_the_model_returned(model):
    model = clone(model).fit(X, Y)
    rows = (X[:200], Y[:200])
    result = thinned(model, scoring="neg_log_loss", tolerance=0.1, validation_data=rows)
    assert result.full_score == pytest.approx(-log_loss(rows[1], model.predict_proba(rows[0])[:, 1]), abs=1e-6)
    told, loss = result.path["validation_score"][result.chosen], log_loss(rows[1], result.model.predict_proba(rows[0]))
    assert told == pytest.approx(-loss, abs=1e-6)


def test_a_scorer_that_fails_ends_a_thinning(boosted):
    calls = []

    def breaks_later(estimator, rows, y):
        calls.append(1)
        return 0.5 if len(calls) < 3 else np.nan

    with pytest.raises(InvalidParameterError, match=r"scoring='breaks_later' gives nan"):
        thinned(boosted, scoring=breaks_later)


@pytest.mark.parametrize("estimator", [DualBoostClassifier(validation_fraction=0.2), DualBoostClassifierCV(Cs=2)])
def test_what_cannot_score_is_named(estimator):
    with pytest.raises(InvalidParameterError, match=r"scoring='auc' is not known; choose a name such as 'accuracy'"):
        clone(estimator).set_params(scoring="auc").fit(X, Y)
    with pytest.raises(InvalidParameterError, match=r"scoring='log_loss' cannot score the rows"):
        clone(estimator).set_params(scoring=log_loss).fit(X, Y)
    with pytest.raises(InvalidParameterError, match=r"scoring='auc' is not known"):
        thin(estimator, X, Y, scoring="auc")


def test_a_score_needs_rows():
    with pytest.raises(InvalidParameterError, match=r"scoring='roc_auc' needs rows to score: set validation_fraction"):
        DualBoostClassifier(scoring="roc_auc").fit(X, Y)


def test_files_hold_names_but_no_functions(paths, stopped, tmp_path):
    paths["neg_log_loss"].save(tmp_path / "tuned.json")
    again = load_model(tmp_path / "tuned.json")
    assert again.scoring == "neg_log_loss"
    np.testing.assert_array_equal(again.scores_, paths["neg_log_loss"].scores_)
    custom = clone(stopped).set_params(scoring=make_scorer(roc_auc_score), max_trees=2).fit(X, Y)
    with pytest.warns(ModelFileWarning, match="scoring=make_scorer"):
        custom.save(tmp_path / "custom.json")
    assert load_model(tmp_path / "custom.json").scoring is None


def test_a_value_that_no_solver_bears_has_no_score(tmp_path):
    tuned = DualBoostClassifierCV("nm", Cs=[0.1, 1e30], max_trees=8, random_state=0, scoring="neg_log_loss").fit(X, Y)
    assert tuned.C_ == 0.1
    np.testing.assert_array_equal(np.isnan(tuned.path_["score"]), [False, True])
    tuned.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").scores_, tuned.scores_)


@pytest.mark.parametrize("name", ["f1", "precision", "recall", "jaccard", "average_precision", "neg_brier_score"])
def test_a_score_about_one_of_two_classes_is_told_how_to_name_it(name):
    """What the message advises is run as it stands."""
    words, asked = np.where(Y > 0, "yes", "no"), {"Cs": [0.2], "max_trees": 3, "random_state": 0}
    with pytest.raises(InvalidParameterError, match=f"scoring='{name}' needs a positive class") as caught:
        DualBoostClassifierCV("cg", scoring=name, **asked).fit(X, words)
    advised = re.search(r"pass (make_scorer\(.*\)) of sklearn.metrics, or .* such as '(\w+)'\.", str(caught.value))
    scorer = eval(advised[1], vars(metrics))
    found = DualBoostClassifierCV("cg", scoring=scorer, **asked).fit(X, words)
    expected = DualBoostClassifierCV("cg", scoring=name, **asked).fit(X, (Y > 0).astype(int))
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-6)
    assert np.isfinite(DualBoostClassifierCV("cg", scoring=advised[2], **asked).fit(X, words).scores_).all()


# ``eval_set`` and ``eval_metric``

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
