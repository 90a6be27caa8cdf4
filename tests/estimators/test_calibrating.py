"""Probabilities of fitted ensembles, and the rows that they are calibrated on."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dualboost import ClassifierLearner, DualBoostClassifier, DualBoostClassifierCV, load_model
from dualboost.data.merging import merge_rows
from dualboost.errors import InterruptedFitWarning, InvalidParameterError
from dualboost.estimators import calibrating


def noisy(n, share=0.5, seed=0, scale=1.0):
    """Five features, of which two tell something of the class."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, 5))
    X[:, :2] += scale * y[:, None]
    return X, y.astype(int)


def log_loss(clf, X, y):
    positive = clf.predict_proba(X)[:, 1]
    return -np.log(np.where(y == 1, positive, 1 - positive)).mean()


def balance_loss(y_train, y):
    return -np.log(np.where(y == 1, y_train.mean(), 1 - y_train.mean())).mean()


@pytest.mark.parametrize("depth", [1, 3])
def test_the_mean_probability_is_the_share_of_a_rare_class(depth):
    X, y = noisy(3000, share=0.08)
    clf = DualBoostClassifier("lp", max_depth=depth, max_trees=15).fit(X[:1500], y[:1500])
    assert clf.predict_proba(X[1500:])[:, 1].mean() == pytest.approx(y[1500:].mean(), abs=0.02)


@pytest.mark.parametrize("formulation", ["nm", "qrlp", "hard"])
def test_trees_that_separate_the_training_rows_are_honest(formulation):
    X, y = noisy(1200, scale=0.6)
    new = X[400:], y[400:]
    clf = DualBoostClassifier(formulation, max_depth=3, max_trees=30).fit(X[:400], y[:400])
    assert clf.score(X[:400], y[:400]) > 0.9
    assert log_loss(clf, *new) < balance_loss(y[:400], new[1])
    assert log_loss(clf, *new) < log_loss(clf.set_params(calibration="training").fit(X[:400], y[:400]), *new)


def test_the_ensemble_is_the_same_without_twins():
    X, y = noisy(200)
    one, other = (
        DualBoostClassifier("nm", max_trees=8, calibration=way).fit(X, y) for way in ("cross_fit", "training")
    )
    np.testing.assert_array_equal(one.weights_, other.weights_)
    assert (one.predict_proba(X) != other.predict_proba(X)).any()


def test_neither_threads_nor_the_order_of_the_rows_matter():
    X, y = noisy(300)
    clf = DualBoostClassifier("nm", max_depth=2, max_trees=10)
    expected = clf.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(clf.set_params(n_jobs=2).fit(X, y).predict_proba(X), expected)
    np.testing.assert_array_equal(clf.fit(X[::-1], y[::-1]).predict_proba(X), expected)


def test_the_halves_share_no_features_and_have_both_classes():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (400, 3)).astype(float)
    targets = np.where(rng.random(400) < 0.3, 1.0, -1.0)
    rows = merge_rows(X, targets, np.ones(400))
    halves = calibrating.halves_of(rows)
    assert sorted(np.concatenate(halves)) == list(range(len(rows.targets)))
    first, second = ({tuple(row) for row in rows.X[half]} for half in halves)
    assert not first & second
    assert abs(len(first) - len(second)) <= 1
    shares = [np.average(rows.targets[half] > 0, weights=rows.counts[half]) for half in halves]
    assert shares[0] == pytest.approx(shares[1], abs=0.1)


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(calibrating, "MOST_TRAINED", 60)
    monkeypatch.setattr(calibrating, "MOST_SCORED", 80)
    sizes, twin = [], calibrating._twin

    def noted(fit_context, ensemble):
        sizes.append((fit_context.columns.n_data, fit_context.columns.rows.n_samples))
        return twin(fit_context, ensemble)

    monkeypatch.setattr(calibrating, "_twin", noted)
    X, y = noisy(500)
    clf = DualBoostClassifier("nm", max_trees=5).fit(X, y)
    assert sizes == [(60, pytest.approx(500.0))] * 2
    assert log_loss(clf, X, y) < balance_loss(y, y)


def as_on_training_rows(clf, X, y):
    expected = DualBoostClassifier("nm", max_trees=5, calibration="training").fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)


def test_a_class_of_few_rows_is_calibrated_on_the_training_rows():
    X, y = noisy(100)
    y[:] = np.arange(100) < 15
    as_on_training_rows(DualBoostClassifier("nm", max_trees=5).fit(X, y), X, y)


def test_a_twin_that_fails_costs_no_model(monkeypatch):
    def failing(*arguments):
        raise ValueError("too few rows")

    monkeypatch.setattr(calibrating, "_twin", failing)
    X, y = noisy(100)
    as_on_training_rows(DualBoostClassifier("nm", max_trees=5).fit(X, y), X, y)


def test_an_interrupted_twin_costs_no_model(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(calibrating, "_twin", interrupted)
    X, y = noisy(100)
    with pytest.warns(InterruptedFitWarning, match="the ensemble is complete") as caught:
        clf = DualBoostClassifier("nm", max_trees=5).fit(X, y)
    assert caught[0].filename == __file__
    as_on_training_rows(clf, X, y)


def test_nobody_is_told_of_twins(caplog, capsys):
    X, y = noisy(200)
    seen = []
    with caplog.at_level("DEBUG", logger="dualboost"):
        clf = DualBoostClassifier("nm", max_trees=6, callbacks=lambda row: seen.append(row), verbose=1).fit(X, y)
    assert len(seen) == clf.n_iter_
    assert sum("fit of" in record.message for record in caplog.records) == 1


def test_learners_that_are_no_trees():
    X, y = noisy(200)
    clf = DualBoostClassifier("nm", learner=ClassifierLearner(LogisticRegression()), max_trees=3).fit(X, y)
    assert log_loss(clf, X, y) < balance_loss(y, y)


def test_the_tuned_estimator_goes_the_same_way(tmp_path):
    X, y = noisy(300, share=0.2)
    clf = DualBoostClassifierCV("nm", Cs=2, max_trees=8, random_state=0).fit(X, y)
    same = DualBoostClassifier("nm", C=clf.C_, max_trees=8).fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), same.predict_proba(X))
    clf.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.fitted_.calibration == clf.fitted_.calibration
    assert loaded.fitted_.calibration.intercept != 0
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))


def test_other_words_are_refused():
    with pytest.raises(InvalidParameterError, match=r"calibration='platt' is not known.*cross_fit.*training"):
        DualBoostClassifier(calibration="platt").fit(*noisy(20))
