"""Interrupts of ``fit`` at any point, and what must hold after them: the old model, or the new one, and that whole."""

import signal
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, DualBoostRegressorCV
from dualboost.errors import DualBoostWarning

N_ROWS, N_OLD, N_NEW = 90, 6, 4
"""The old model and the new one differ in the number of their features, so that it tells which one is there."""

KINDS = {
    "two classes, leaves": lambda: DualBoostClassifier(max_trees=4, max_depth=2),
    "two classes, trees": lambda: DualBoostClassifier("nm", max_trees=5, max_depth=2),
    "two classes, exact": lambda: DualBoostClassifier("lp", learner="optimal", max_depth=1, max_trees=5),
    "two stages": lambda: DualBoostClassifier("lexi", max_trees=4, max_depth=2, calibration="training"),
    "early end": lambda: DualBoostClassifier("cg", max_trees=6, n_iter_no_change=2, random_state=0),
    "several classes, leaves": lambda: DualBoostClassifier(max_trees=3, max_depth=2),
    "several classes, trees": lambda: DualBoostClassifier("nm", max_trees=4, max_depth=2),
    "tuned, leaves": lambda: DualBoostClassifierCV(Cs=2, max_trees=3, max_depth=2, random_state=0),
    "tuned, trees": lambda: DualBoostClassifierCV("lp", Cs=2, max_trees=4, max_depth=2, cv=2),
    "numbers": lambda: DualBoostRegressor(max_trees=4, max_depth=2),
    "numbers, trees": lambda: DualBoostRegressor("absolute", optimize="weights", max_trees=4, max_depth=2),
    "quantiles": lambda: DualBoostRegressor(
        "quantile", quantiles=[0.2, 0.5, 0.8], interval_calibration="conformal", max_trees=3, max_depth=2
    ),
    "numbers, tuned": lambda: DualBoostRegressorCV(Cs=2, max_trees=3, max_depth=2, random_state=0),
}


def data(kind, n_features):
    """Rows of which the first and the last feature decide y, so that the old model and the new one differ."""
    rng = np.random.default_rng(n_features)
    X = rng.normal(size=(N_ROWS, n_features)).round(1)
    target = X[:, 0] - X[:, -1] + 0.3 * rng.normal(size=N_ROWS)
    if "numbers" in kind or kind == "quantiles":
        return X, target
    n_classes = 3 if "several" in kind else 2
    labels = np.array([f"{n_features}, {k}" for k in range(n_classes)])
    return X, labels[np.digitize(target, np.quantile(target, np.linspace(0, 1, n_classes + 1)[1:-1]))]


LOCKING = {"__enter__", "__exit__", "acquire", "release"}
"""Calls that no signal comes before or after: Python makes them in one step with what the lock is held for."""


@contextmanager
def at_event(number):
    """Interrupt at that call or return of a function, Python's or C's; every point can be named, and comes again."""
    left = [number]

    def count(frame, event, argument):
        left[0] -= 1
        is_of_lock = event.startswith("c_") and argument.__name__ in LOCKING
        is_locking = is_of_lock or frame.f_globals.get("__name__") == "threading"
        if left[0] <= 0 and not is_locking:
            raise KeyboardInterrupt

    sys.setprofile(count)
    try:
        yield left
    finally:
        sys.setprofile(None)


@contextmanager
def after_seconds(seconds):
    """Interrupt as a user does, by a signal, which Python delivers between two of its instructions."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class Refitted:
    """A fitted model, of which a refit on other columns and other classes can be interrupted again and again."""

    kind: str

    def __post_init__(self):
        self.old_X, old_y = data(self.kind, N_OLD)
        self.new_X, self.new_y = data(self.kind, N_NEW)
        self.model = self.fitted(self.old_X, old_y)
        self.old_state = state(self.model, self.old_X)
        self.new_model = self.fitted(self.new_X, self.new_y)

    def fitted(self, X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DualBoostWarning)
            return KINDS[self.kind]().fit(X, y)

    def n_events(self):
        """How many calls and returns a fit has."""
        with at_event(10**12) as left:
            self.fitted(self.new_X, self.new_y)
        return 10**12 - left[0]

    def interrupted(self, interrupt) -> str:
        """Whether "old" or "new" is there after an interrupt, or what is wrong; the old model is there again then."""
        fitted = self.model.fitted_
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with interrupt:
                    self.model.fit(self.new_X, self.new_y)
            was_raised = False
        except KeyboardInterrupt:
            was_raised = True
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        try:
            return self._found(was_raised)
        finally:
            self.model._fitted = fitted

    def _found(self, was_raised: bool) -> str:
        if self.model.n_features_in_ == N_OLD:
            if not was_raised:
                return "the old model, without an error"
            same = all(map(np.array_equal, state(self.model, self.old_X), self.old_state))
            return "old" if same else "the old model has changed"
        return whats_wrong(self.model, self.new_X, self.new_y) or "new"


def state(model, X) -> list[Any]:
    """What a model says of rows, and what it says of itself."""
    answers = [
        model.predict(X),
        model.fitted_.votes(X),
        model.weights_,
        model.duals_,
        model.intercept_,
        model.objective_,
    ]
    if hasattr(model, "classes_"):
        answers += [model.classes_, model.predict_proba(X), model.decision_function(X)]
    return [*answers, getattr(model, "Cs_", None)]


def whats_wrong(model, X, y) -> str:
    """In what a model contradicts itself; empty if in nothing."""
    if len(model.estimators_) != len(model.weights_):
        return f"{len(model.estimators_)} learners with {len(model.weights_)} weights"
    if len(model.duals_) != len(X):
        return f"{len(model.duals_)} duals of {len(X)} rows"
    if len({len(column) for column in model.history_.values()}) != 1:
        return "columns of history_ differ in length"
    if len(list(model.fitted_.staged_scores(X))) < 1:
        return "no stages"
    if not model.gap_ >= 0:
        return f"a gap of {model.gap_}"
    if not scores_agree(model, X):
        return "scores are not those of the learners, weights and intercept"
    if hasattr(model, "classes_") and model.classes_.tolist() != np.unique(y).tolist():
        return f"classes {model.classes_.tolist()}"
    return ""


def scores_agree(model, X) -> bool:
    """Whether predictions are those that the learners make, each asked by itself."""
    ensemble = model.fitted_.ensemble
    votes = np.stack([learner.vote(X) for learner in model.estimators_], axis=1)
    raw = np.einsum("ij...,j->i...", votes, model.weights_) + model.intercept_
    if ensemble.is_normalised and not model.weights_.any():
        raw = np.zeros_like(raw) + ensemble.baseline
    elif ensemble.is_normalised:
        raw = raw / model.weights_.sum()
    scores = model.fitted_.scores(X)
    decoded = model.fitted_.target.decode(scores)
    return np.allclose(raw, scores, atol=1e-6) and np.array_equal(decoded, model.predict(X))
