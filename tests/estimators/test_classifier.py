"""The attributes and methods of the classifier, scikit-learn's own checks, and the paper's experiment on twonorm."""

import _thread
import signal
import threading
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from dualboost import DualBoostClassifier, SolverOptions
from dualboost.datasets import make_ringnorm, make_twonorm
from dualboost.errors import InterruptedFitWarning, InvalidDataError, InvalidParameterError, SolverWarning
from dualboost.formulations import FORMULATIONS, ERLPBoost, LPBoost
from dualboost.solvers import interior_point

from ..conftest import ALL_FORMULATIONS, has_no_C, is_priced_by_votes, small_dataset
from ..paper_programmes import PAPER
from ..thoroughness import every, how_many

N_ROWS = how_many(300, 600)

HISTORY = {
    "iteration", "objective", "gap", "edge", "threshold", "train_score", "validation_score", "n_trees",
    "n_generated", "pricing_seconds", "solver_seconds", "bound",
}  # fmt: skip


@pytest.fixture(scope="module")
def twonorm():
    return make_twonorm(N_ROWS, random_state=0)


@cache
def fit_of(name):
    return DualBoostClassifier(name, max_depth=2, max_trees=25).fit(*make_twonorm(N_ROWS, random_state=0))


@pytest.fixture
def fitted(formulation_name):
    return fit_of(formulation_name)


def corrects_leaves(clf):
    return not clf.fitted_.ensemble.is_normalised


def test_attributes_agree(fitted, twonorm):
    _, y = twonorm
    assert len(fitted.estimators_) == len(fitted.weights_) <= fitted.n_generated_
    if not corrects_leaves(fitted):
        assert len(fitted.weights_) == fitted.n_generated_ == fitted.n_iter_
    assert fitted.n_trees_ == (fitted.weights_ > 0).sum() > 0
    assert (fitted.weights_ >= 0).all()
    assert set(fitted.history_) == HISTORY
    assert {len(values) for values in fitted.history_.values()} == {fitted.n_iter_}
    assert fitted.duals_.shape == y.shape
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert fitted.stop_reason_ in ("converged", "max_trees")
    assert list(fitted.classes_) == [-1, 1]
    assert np.isnan(fitted.history_["validation_score"]).all()


def test_votes_and_weights_make_the_decision(fitted, twonorm):
    X, y = twonorm
    votes = fitted.votes(X)
    assert votes.shape == (len(y), len(fitted.weights_))
    assert np.abs(votes).max() <= 1.0
    total = 1.0 if corrects_leaves(fitted) else fitted.weights_.sum()
    scores = (votes @ fitted.weights_ + fitted.intercept_) / total
    np.testing.assert_allclose(scores, fitted.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(fitted.margins(X, y), y * fitted.decision_function(X))
    assert fitted.score(X, y) == np.mean(fitted.margins(X, y) > 0) == fitted.history_["train_score"][-1]


def test_sample_weights_and_votes_reproduce_the_threshold(fitted, twonorm):
    """u is the dual solution: no held column's edge exceeds the threshold (with a ridge, its weight or value)."""
    X, y = twonorm
    edges = (fitted.duals_ * y) @ fitted.votes(X)
    allowed = fitted.history_["threshold"][-1]
    if fitted.formulation == "cg":
        np.testing.assert_allclose(np.maximum(edges, 0.0), fitted.weights_, atol=1e-4 * fitted.weights_.max())
    elif corrects_leaves(fitted):
        for tree, weight in zip(fitted.estimators_, fitted.weights_, strict=True):
            sums = np.bincount(tree.leaves(X), weights=fitted.duals_ * y, minlength=tree.n_leaves)
            np.testing.assert_allclose(sums, weight * tree.votes, atol=1e-2 * fitted.weights_.max())
    elif is_priced_by_votes(fitted):
        assert edges.max() == pytest.approx(allowed, rel=1e-6)


def test_stages_are_the_ensembles_as_they_were(fitted, twonorm):
    X, y = twonorm
    stages = list(fitted.staged_decision_function(X))
    assert len(stages) == fitted.n_iter_
    np.testing.assert_allclose(stages[-1], fitted.decision_function(X), atol=1e-12)
    accuracies = [np.mean(predicted == y) for predicted in fitted.staged_predict(X)]
    np.testing.assert_allclose(accuracies, fitted.history_["train_score"])


def test_a_stage_equals_a_shorter_fit(formulation_shape, twonorm):
    X, y = twonorm
    options = {"optimize": "weights", "calibration": "training", "solver": SolverOptions(reoptimize="every")}
    long = DualBoostClassifier(formulation_shape, max_trees=12, **options).fit(X, y)
    short = DualBoostClassifier(formulation_shape, max_trees=7, **options).fit(X, y)
    np.testing.assert_array_equal(list(long.staged_decision_function(X))[6], short.decision_function(X))


def test_probabilities_are_monotone(fitted, twonorm):
    X, _ = twonorm
    decisions, probabilities = fitted.decision_function(X), fitted.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    order = np.argsort(decisions, kind="stable")
    assert (np.diff(probabilities[order, 1]) >= 0).all()


def test_probabilities_are_calibrated_on_new_rows(formulation_shape):
    X, y = make_twonorm(3000, random_state=0)
    clf = DualBoostClassifier(formulation_shape, max_trees=50, validation_fraction=0.2, random_state=0)
    clf.fit(X[:1500], y[:1500])
    positive = clf.predict_proba(X[1500:])[:, 1]
    bins = np.digitize(positive, np.linspace(0, 1, 6)[1:-1])
    errors = [
        abs(positive[bins == b].mean() - (y[1500:][bins == b] > 0).mean()) for b in range(5) if (bins == b).sum() > 20
    ]
    sizes = [(bins == b).sum() for b in range(5) if (bins == b).sum() > 20]
    assert np.average(errors, weights=sizes) < 0.04


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (0, 1), (-1, 1), (3, 7)])
def test_any_two_labels(labels, twonorm):
    X, y = twonorm
    named = np.array(labels)[(y > 0).astype(int)]
    clf = DualBoostClassifier(max_trees=5).fit(X, named)
    assert list(clf.classes_) == list(labels)
    assert clf.predict(X).dtype == named.dtype
    assert clf.score(X, named) > 0.8


def test_missing_values_and_categories():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "black"], 400)
    size = rng.normal(size=400)
    y = np.isin(colour, ["red", "black"]) ^ (size > 1)
    size[rng.random(400) < 0.2] = np.nan
    frame = pd.DataFrame({"size": size, "colour": pd.Categorical(colour)})
    clf = DualBoostClassifier(max_depth=2, max_trees=20).fit(frame, y)
    assert clf.score(frame, y) > 0.9
    reordered = frame.assign(colour=pd.Categorical(colour, categories=["red", "green", "blue", "black"]))
    np.testing.assert_array_equal(clf.decision_function(reordered), clf.decision_function(frame))


def test_column_names_are_checked(twonorm):
    X, y = twonorm
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    clf = DualBoostClassifier(max_trees=3).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame.rename(columns={"x0": "y0"}))


def test_validation_is_recorded_and_stops(twonorm):
    X, y = twonorm
    clf = DualBoostClassifier(
        "cg",
        max_depth=3,
        validation_fraction=0.25,
        n_iter_no_change=5,
        random_state=0,
        solver=SolverOptions(reoptimize="every"),
    ).fit(X, y)
    validated = clf.history_["validation_score"]
    assert clf.stop_reason_ == "no_improvement"
    best = int(np.argmax(validated))
    assert clf.n_generated_ == best + 1 + 5
    assert (clf.weights_[best + 1 :] == 0).all()
    assert clf.objective_ == clf.history_["objective"][best]
    np.testing.assert_array_equal(list(clf.staged_decision_function(X))[best], clf.decision_function(X))
    assert (clf.duals_ == 0).sum() >= N_ROWS // 4


def test_early_stopping_holds_out_a_tenth_by_itself(twonorm):
    options = {"max_trees": 5, "n_iter_no_change": 2, "random_state": 0}
    alone, told = (DualBoostClassifier(validation_fraction=share, **options).fit(*twonorm) for share in (None, 0.1))
    np.testing.assert_array_equal(alone.history_["validation_score"], told.history_["validation_score"])
    assert (alone.duals_ == 0).sum() >= N_ROWS // 10


def test_early_stopping_without_full_solutions_polishes_what_it_keeps(formulation_shape, twonorm):
    X, y = twonorm
    clf = DualBoostClassifier(
        formulation_shape, max_depth=3, validation_fraction=0.25, n_iter_no_change=3, random_state=0
    ).fit(X, y)
    assert clf.gap_ <= 1e-6
    assert len(clf.weights_) == clf.n_generated_ or corrects_leaves(clf)
    kept = np.flatnonzero(clf.weights_)[-1] + 1
    assert (clf.weights_[kept:] == 0).all()
    assert clf.score(X, y) > 0.8


@pytest.mark.filterwarnings("ignore::dualboost.errors.SolverWarning")  # on a slow machine there is no time to solve
def test_time_limit_is_kept_within_one_iteration(twonorm):
    X, y = twonorm
    clf = DualBoostClassifier("cg", max_depth=4, max_trees=100_000, time_limit=0.3).fit(X, y)
    assert clf.stop_reason_ == "time_limit"
    seconds = np.cumsum(clf.history_["pricing_seconds"] + clf.history_["solver_seconds"])
    assert (seconds[:-1] < 0.3).all()


def test_interrupt_returns_the_ensemble_so_far():
    X, y = make_ringnorm(3000, random_state=0)
    done = threading.Event()

    def interrupt():
        """Again after a while: a signal that arrives inside a destructor is lost to Python."""
        wait = 1.0
        while not done.wait(wait):
            _thread.interrupt_main()
            wait = 15.0

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.warns(InterruptedFitWarning, match="interrupted"):
            clf = DualBoostClassifier("cg", max_depth=8, max_trees=100_000, time_limit=60).fit(X, y)
    finally:
        done.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert clf.stop_reason_ == "interrupted"
    assert clf.gap_ <= 1e-6
    assert len(clf.weights_) == len(clf.estimators_) == clf.n_generated_ > 0
    assert clf.score(X, y) > 0.7


def test_a_failing_solver_leaves_the_best_ensemble(monkeypatch, twonorm):
    """No solver is exact to the last bit: a tolerance of 1e-300 cannot be met, and what was found is returned."""
    monkeypatch.setattr(interior_point, "MAX_STEPS", 30)
    with pytest.warns(SolverWarning, match="best feasible ensemble"):
        clf = DualBoostClassifier("erlp", tol=1e-300, max_trees=5).fit(*twonorm)
    assert clf.stop_reason_ == "solver_failed"
    assert 0 < clf.gap_ < 1e-6
    assert clf.score(*twonorm) > 0.7


@pytest.mark.parametrize("solver", ["ipm", "highs", "clarabel"])
def test_every_solver_solves_the_papers_programme(solver, twonorm):
    X, y = twonorm
    clf = DualBoostClassifier("lp", C=0.05, solver=SolverOptions(solver), max_trees=15, calibration="training")
    clf.fit(X, y)
    assert clf.objective_ == pytest.approx(PAPER["lp"](y[:, None] * clf.votes(X), 0.05), rel=1e-6)
    assert clf.gap_ <= 1e-6


def test_verbose_is_silent_when_piped(capsys, twonorm):
    DualBoostClassifier(max_trees=3, verbose=1).fit(*twonorm)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"formulation": "boost"}, "formulation='boost'"),
        ({"C": -1.0}, "C=-1.0"),
        ({"C": "auto"}, "C='auto'"),
        ({"epsilon": 0}, "epsilon=0"),
        ({"epsilon": 0.1}, "'logistic' has no epsilon"),
        ({"formulation": ERLPBoost(), "epsilon": 0.1}, "give it to that object"),
        ({"formulation": LPBoost(C=1.0), "C": 2.0}, "C=2.0 is given beside"),
        ({"solver": "highs"}, "solver='highs'"),
        ({"learner": ("cart", 3)}, "is no learner"),
        ({"learner": "svm"}, "learner='svm'"),
        ({"max_depth": 0}, "max_depth=0"),
        ({"max_depth": 2.5}, "max_depth=2.5"),
        ({"max_trees": 0}, "max_trees=0"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"solver": SolverOptions("gurobi")}, "method='gurobi'"),
        ({"validation_fraction": 1.5}, "validation_fraction=1.5"),
        ({"scoring": "roc_auc"}, "set validation_fraction"),
        ({"n_iter_no_change": 0, "validation_fraction": 0.1}, "n_iter_no_change=0"),
        ({"time_limit": -1}, "time_limit=-1"),
        ({"verbose": -1}, "verbose=-1"),
        ({"C": True}, "C=True"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"n_jobs": 1.5}, r"n_jobs=1\.5"),
        ({"random_state": "a"}, "random_state='a'"),
        ({"random_state": -1, "validation_fraction": 0.2}, "random_state=-1"),
    ],
)
def test_bad_parameters_are_named_and_nothing_is_fitted(parameters, named, twonorm):
    clf = DualBoostClassifier(**parameters)
    with pytest.raises(InvalidParameterError, match=named.replace("(", r"\(")):
        clf.fit(*twonorm)
    assert not hasattr(clf, "weights_")


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        (np.ones(3), "shape"),
        (np.full(N_ROWS, -1.0), "-1.0"),
        (np.full(N_ROWS, np.nan), "nan"),
        (np.zeros(N_ROWS), "zero for every"),
    ],
)
def test_bad_sample_weights_are_named(weights, named, twonorm):
    with pytest.raises(InvalidDataError, match=named):
        DualBoostClassifier().fit(*twonorm, sample_weight=weights)


def test_margins_of_unknown_labels(fitted, twonorm):
    X, _ = twonorm
    with pytest.raises(InvalidDataError, match=r"y holds 5, but the classes of the model are"):
        fitted.margins(X, np.full(len(X), 5))


def test_a_failed_refit_keeps_the_model(twonorm):
    X, y = twonorm
    clf = DualBoostClassifier(max_trees=3).fit(X, y)
    before = clf.decision_function(X)
    with pytest.raises(InvalidDataError):
        clf.fit(X, np.ones(len(y)))
    np.testing.assert_array_equal(clf.decision_function(X), before)


def test_nothing_is_printed_and_no_warning_escapes(formulation_name, capfd):
    X, y = small_dataset("breast_cancer")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DualBoostClassifier(formulation_name, max_depth=3, max_trees=5).fit(X, y).predict(X)
    assert capfd.readouterr() == ("", "")


# scikit-learn's checks. It skips ``check_array_api_input`` itself, with its reason "SCIPY_ARRAY_API is not set".


def estimator(name):
    """Stumps, or for the hard margin trees that separate the classes: without that a tie is its best margin.

    Where leaves are corrected, fewer trees than the default, which take less time.
    """
    if FORMULATIONS[name].optimize == "leaves":
        return DualBoostClassifier(name, max_trees=how_many(5, 10))
    return DualBoostClassifier(name, max_depth=5) if has_no_C(name) else DualBoostClassifier(name)


EXPECTED = {
    "lexi": {"check_class_weight_classifiers": "LexiBoost finds the weights of the classes itself"},
    "hard": {
        "check_class_weight_classifiers": "a hard margin is the least one, whatever rows weigh",
        "check_classifiers_train": "a hard margin says nothing where three classes overlap, as in the rounded features",
    },
}
"""The checks that a formulation cannot pass, and why."""


@pytest.mark.filterwarnings("default::dualboost.errors.DegenerateEnsembleWarning")
@parametrize_with_checks(
    [estimator(name) for name in every(ALL_FORMULATIONS, few=("cq", "logistic", "nm"))],
    expected_failed_checks=lambda estimator: EXPECTED.get(estimator.formulation, {}),
)
def test_scikit_learn_compatible(estimator, check):
    check(estimator)


# The paper's experiment on twonorm: accuracy 0.961 with 60 stumps.


def accuracy_and_trees(seed):
    """60 % to train on, 20 % to test on, each feature cut into four quantile bins; C at its default."""
    X, y = make_twonorm(7400, random_state=seed)
    X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=0.6, random_state=seed)
    X_test, y_test = X_rest[: len(X_rest) // 2], y_rest[: len(y_rest) // 2]
    bins = KBinsDiscretizer(4, encode="onehot-dense", strategy="quantile", quantile_method="averaged_inverted_cdf")
    clf = DualBoostClassifier("nm", max_depth=1, calibration="training").fit(bins.fit_transform(X_train), y_train)
    assert clf.gap_ <= 1e-6
    return clf.score(bins.transform(X_test), y_test), clf.n_trees_


def test_nm_on_twonorm_matches_the_paper():
    """Means over five seeds, as in the paper; two in the quick mode."""
    accuracy, trees = np.mean([accuracy_and_trees(seed) for seed in range(how_many(2, 5))], axis=0)
    assert accuracy >= 0.955
    assert trees <= 65
