"""What C, the end of a fit and a thinned model are chosen by."""

import re

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import log_loss, make_scorer, roc_auc_score

from dualboost import DualBoostClassifier, DualBoostClassifierCV, SolverOptions, load_model, thin
from dualboost.data.merging import hold_out
from dualboost.datasets import make_twonorm
from dualboost.errors import InvalidParameterError, ModelFileWarning

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
    with pytest.raises(InvalidParameterError, match=f"scoring='{name}' is about one class of two") as caught:
        DualBoostClassifierCV("cg", scoring=name, **asked).fit(X, words)
    advised = re.search(r"pass (make_scorer\(.*\)) of sklearn.metrics, or .* such as '(\w+)'\.", str(caught.value))
    scorer = eval(advised[1], vars(metrics))
    found = DualBoostClassifierCV("cg", scoring=scorer, **asked).fit(X, words)
    expected = DualBoostClassifierCV("cg", scoring=name, **asked).fit(X, (Y > 0).astype(int))
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-6)
    assert np.isfinite(DualBoostClassifierCV("cg", scoring=advised[2], **asked).fit(X, words).scores_).all()
