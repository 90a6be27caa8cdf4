"""Functions called after every iteration, stopping rules, the progress bar and the log."""

import io
import logging
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from dualboost import DualBoostClassifier, DualBoostClassifierCV, SolverOptions
from dualboost.boosting.history import Iteration
from dualboost.boosting.observers import NoImprovement, ProgressBar
from dualboost.errors import InvalidParameterError, MissingDependencyWarning

from ..conftest import small_dataset

X, Y = small_dataset("twonorm")


def stop_at_five(record):
    return record.iteration == 5


def test_every_iteration_is_handed_over_once(formulation_name):
    records = []
    clf = DualBoostClassifier(formulation_name, max_trees=12, calibration="training", callbacks=records.append)
    clf.fit(X, Y)
    assert [record.iteration for record in records] == list(clf.history_["iteration"])
    np.testing.assert_array_equal([record.edge for record in records], clf.history_["edge"])
    generated = [record.n_generated for record in records]
    np.testing.assert_array_equal(generated[:-1], clf.history_["n_generated"][:-1])
    assert generated[-1] <= clf.history_["n_generated"][-1] == clf.n_generated_


@pytest.mark.parametrize("reoptimize", ["as_needed", "every"])
def test_true_stops_with_an_optimum_all_the_same(formulation_name, reoptimize):
    seen = []
    options = {"calibration": "training", "solver": SolverOptions(reoptimize=reoptimize)}
    stopping = DualBoostClassifier(formulation_name, max_trees=50, callbacks=[stop_at_five, seen.append], **options)
    stopping.fit(X, Y)
    assert stopping.stop_reason_ == "callback"
    assert stopping.n_iter_ == len(seen) == 5
    assert stopping.gap_ <= 1e-6
    if formulation_name == "logistic":  # where leaves are corrected, a shorter fit grows more trees and eliminates some
        assert len(stopping.estimators_) == 5
        return
    short = DualBoostClassifier(formulation_name, max_trees=5, **options).fit(X, Y)
    np.testing.assert_array_equal(stopping.weights_, short.weights_)


def test_a_stop_is_certified_where_the_learner_proves():
    clf = DualBoostClassifier("lp", learner="optimal", max_trees=50, callbacks=stop_at_five).fit(X, Y)
    assert clf.stop_reason_ == "callback"
    assert clf.certified_ is False
    assert clf.bound_ <= clf.objective_


def test_other_answers_do_not_stop():
    clf = DualBoostClassifier("cg", max_trees=8, callbacks=[lambda record: 1, lambda record: "yes"]).fit(X, Y)
    assert clf.stop_reason_ == "max_trees"
    numpys = DualBoostClassifier("cg", max_trees=8, callbacks=lambda record: np.bool_(record.iteration > 2)).fit(X, Y)
    assert numpys.n_iter_ == 3


def test_what_a_callback_raises_is_raised():
    def fails(record):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        DualBoostClassifier(callbacks=fails).fit(X, Y)


def test_the_best_iteration_is_kept_when_stopped():
    clf = DualBoostClassifier(
        "cg", max_trees=50, validation_fraction=0.3, n_iter_no_change=40, random_state=0, callbacks=stop_at_five
    ).fit(X, Y)
    assert clf.stop_reason_ == "callback"
    best = int(np.argmax(clf.history_["validation_score"]))
    assert not clf.weights_[best + 1 :].any()


@pytest.mark.parametrize("callbacks", [3, "print", [print, None], {"a": print}])
def test_what_is_no_callback(callbacks):
    with pytest.raises(InvalidParameterError, match=r"callbacks=.*function of one argument"):
        DualBoostClassifier(callbacks=callbacks).fit(X, Y)


def test_clone_parameters_and_pickle():
    clf = DualBoostClassifier("cg", max_trees=20, callbacks=[stop_at_five])
    assert clf.get_params()["callbacks"] == [stop_at_five]
    assert clone(clf).fit(X, Y).stop_reason_ == "callback"
    again = pickle.loads(pickle.dumps(clf.fit(X, Y)))
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))


def test_tuning_calls_them_in_the_final_fit_only():
    records = []
    clf = DualBoostClassifierCV("nm", Cs=3, max_trees=15, random_state=0, callbacks=records.append).fit(X, Y)
    assert len(records) == clf.n_iter_


def test_start_iterations_and_end_are_logged(caplog):
    with caplog.at_level(logging.DEBUG, logger="dualboost"):
        clf = DualBoostClassifier("lp", max_trees=6).fit(X, Y)
    levels = [record.levelname for record in caplog.records]
    assert levels == ["INFO", *["DEBUG"] * clf.n_iter_, "INFO"]
    assert caplog.messages[0].startswith("fit of lp with C=")
    assert caplog.messages[3].startswith("iteration 3: objective ")
    assert f"({clf.stop_reason_})" in caplog.messages[-1]
    assert f"{clf.n_trees_} of {clf.n_generated_} trees used" in caplog.messages[-1]


def test_the_choice_of_C_is_logged(caplog):
    with caplog.at_level(logging.INFO, logger="dualboost"):
        clf = DualBoostClassifierCV("nm", Cs=3, max_trees=8, random_state=0).fit(X, Y)
    assert caplog.messages[0].startswith(f"C={clf.C_:.6g} chosen of 3 values")
    assert [record.levelname for record in caplog.records] == ["INFO"] * 3


def test_silent_by_default():
    code = (
        "from dualboost import DualBoostClassifier; from dualboost.datasets import make_twonorm; "
        "DualBoostClassifier(max_trees=3).fit(*make_twonorm(60, random_state=0))"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout == run.stderr == ""


RECORD = Iteration(1, 0.0, 0.0, 0.0, 0.0, 0.9, 0.5, 1, 0.0, 0.0)


@pytest.mark.parametrize(
    ("accuracies", "stops_at"), [([0.5, 0.6, 0.6, 0.6], 3), ([0.5, 0.4, 0.5], 2), ([0.5, 0.6, 0.7, 0.8], None)]
)
def test_no_improvement(accuracies, stops_at):
    rule = NoImprovement(patience=2)
    records = [replace(RECORD, iteration=k, validation_score=a) for k, a in enumerate(accuracies, start=1)]
    reasons = [rule.reason(record) for record in records for _ in range(2)][1::2]  # to be asked twice changes nothing
    found = reasons.index("no_improvement") if "no_improvement" in reasons else None
    assert found == stops_at


ITERATION = Iteration(1, 12.5, 1e-9, 0.0, 0.0, 0.9, 0.8, 1, 0.0, 0.0)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, enabled):
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar(1, enabled) as bar:
        bar(ITERATION)
    return stream.getvalue()


def test_figures_on_a_terminal(monkeypatch):
    text = shown(monkeypatch, Terminal(), enabled=True)
    for figure in ("objective=12.5", "gap=1e-09", "accuracy=0.900", "validation=0.800", "1/1"):
        assert figure in text


def test_nothing_when_piped_or_switched_off(monkeypatch):
    assert shown(monkeypatch, io.StringIO(), enabled=True) == ""
    assert shown(monkeypatch, Terminal(), enabled=False) == ""


def test_without_tqdm_the_fit_goes_on(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.warns(MissingDependencyWarning, match="pip install 'tqdm"):
        assert shown(monkeypatch, Terminal(), enabled=True) == ""
