"""Scorers of scikit-learn's on scores alone."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import balanced_accuracy_score, f1_score, get_scorer_names, log_loss, make_scorer, roc_auc_score

from dualboost.errors import InvalidParameterError
from dualboost.matrix.rows import Rows
from dualboost.targets.classes import BinaryTarget, MulticlassTarget
from dualboost.targets.scoring import ScoredRows, make_scoring, scoring_name

RNG = np.random.default_rng(0)
TARGETS = np.where(RNG.random(400) < 0.4, 1.0, -1.0)
SCORES = np.clip(0.3 * TARGETS + RNG.normal(0, 0.4, 400), -1, 1)
LABELS = np.where(TARGETS > 0, "yes", "no")


def probabilities(scores):
    return np.column_stack([1 - expit(3 * scores), expit(3 * scores)])


def known(counts=None, scores=SCORES, targets=TARGETS, curve=probabilities):
    rows = Rows(np.ones(len(scores)) if counts is None else counts)
    return ScoredRows(BinaryTarget(np.array(["no", "yes"])), scores, targets, rows, curve)


def test_the_scorers_see_the_scores_as_a_classifier_would_answer():
    assert make_scoring("roc_auc").score(known()) == pytest.approx(roc_auc_score(LABELS, SCORES))
    expected = -log_loss(LABELS, probabilities(SCORES)[:, 1])
    assert make_scoring("neg_log_loss").score(known()) == pytest.approx(expected)
    predicted = np.where(SCORES > 0, "yes", "no")
    assert make_scoring("balanced_accuracy").score(known()) == balanced_accuracy_score(LABELS, predicted)
    assert make_scoring(None).score(known()) == make_scoring("accuracy").score(known()) == (predicted == LABELS).mean()


def test_probabilities_are_not_made_for_scorers_that_do_not_ask():
    make_scoring("roc_auc").score(known(curve=None))


def test_rounding_does_not_break_a_tie():
    scores = np.where(TARGETS > 0, 1e-17, -0.5)
    assert make_scoring("balanced_accuracy").score(known(scores=scores)) == 0.5


@pytest.mark.parametrize("name", ["roc_auc", "neg_log_loss", "balanced_accuracy"])
def test_multiplicities_are_repetitions(name):
    counts = RNG.integers(1, 4, 400)
    repeated = known(scores=SCORES.repeat(counts), targets=TARGETS.repeat(counts))
    assert make_scoring(name).score(known(counts.astype(float))) == pytest.approx(make_scoring(name).score(repeated))


def test_sample_weights_reach_a_scorer_that_takes_them_and_no_other():
    seen = []

    def weighted(y, predicted, sample_weight=None):
        seen.append(sample_weight)
        return 1.0

    def unweighted(y, predicted):
        return 2.0

    counts = RNG.random(400)
    assert make_scoring(make_scorer(weighted)).score(known(counts)) == 1.0
    np.testing.assert_array_equal(seen[0], counts)
    assert make_scoring(make_scorer(unweighted)).score(known(counts)) == 2.0


def test_the_standard_error_is_that_of_a_mean():
    losses = -np.log(np.where(TARGETS > 0, *probabilities(SCORES).T[::-1]))
    expected = losses.std() / np.sqrt(len(losses))
    found = make_scoring("neg_log_loss").standard_error(known())
    assert expected / 1.6 < found < 1.6 * expected
    share = make_scoring(None).score(known())
    assert make_scoring(None).standard_error(known()) == pytest.approx(np.sqrt(share * (1 - share) / 400))


def test_a_class_of_one_row_has_a_standard_error():
    targets = np.full(400, -1.0)
    targets[7] = 1.0
    assert make_scoring("roc_auc").standard_error(known(targets=targets)) >= 0


def test_a_scorer_that_fails_is_named():
    def broken(y, predicted):
        raise RuntimeError("no such thing")

    with pytest.raises(InvalidParameterError, match=r"scoring='broken' cannot score the rows: no such thing"):
        make_scoring(make_scorer(broken)).score(known())
    with pytest.raises(InvalidParameterError, match=r"scoring='nothing' gives nan"):
        make_scoring(nothing).score(known())
    with pytest.raises(InvalidParameterError, match=r"scoring='f1' needs a positive class.*pos_label='yes'"):
        make_scoring("f1").score(known())


def nothing(estimator, X, y):
    return np.nan


@pytest.mark.parametrize("value", ["auc", 3, ["roc_auc"], b"accuracy"])
def test_an_unknown_name_is_refused_with_choices(value):
    with pytest.raises(InvalidParameterError, match=r"(?s)scoring=.*'neg_log_loss'.*make_scorer"):
        make_scoring(value)


def test_names():
    assert all(make_scoring(name).name == name for name in get_scorer_names())
    assert scoring_name(None) == "accuracy"
    assert scoring_name(make_scorer(log_loss)) == "log_loss"
    assert scoring_name(nothing) == "nothing"


def of_three(present):
    """Rows of these classes, of three, with scores that mostly agree."""
    targets = np.array(present, dtype=float)[np.arange(90) % len(present)]
    scores = np.eye(3)[targets.astype(int)] + np.random.default_rng(0).normal(size=(90, 3))
    task = MulticlassTarget(np.array(["high", "low", "mid"]))
    curve = task.identity_calibration()
    return ScoredRows(task, scores, targets, Rows(np.ones(90)), lambda found: task.probabilities(found, curve))


@pytest.mark.parametrize(
    ("name", "instead"),
    [("roc_auc", "roc_auc_ovr"), ("f1", "f1_macro"), ("recall", "recall_macro"), (make_scorer(f1_score), "f1_macro")],
)
def test_a_scorer_for_two_classes_names_one_for_several(name, instead):
    with pytest.raises(InvalidParameterError, match=rf"is for two classes, and y has 3: use '{instead}'\."):
        make_scoring(name).score(of_three([0, 1, 2]))
    assert np.isfinite(make_scoring(instead).score(of_three([0, 1, 2])))


@pytest.mark.parametrize("name", ["roc_auc_ovr", "roc_auc_ovo_weighted"])
def test_a_class_that_no_row_has_is_told_where_the_score_needs_it(name):
    with pytest.raises(InvalidParameterError, match=rf"'{name}' needs rows of every class.*90 rows.*of class 'low'"):
        make_scoring(name).score(of_three([0, 2]))
    for other in ("neg_log_loss", "balanced_accuracy", "f1_macro", None):
        assert np.isfinite(make_scoring(other).score(of_three([0, 2])))


def test_the_same_of_two_classes():
    with pytest.raises(InvalidParameterError, match=r"'roc_auc' needs rows of every class.*of class 'no'"):
        make_scoring("roc_auc").score(known(targets=np.ones(400)))
