"""A Hypothesis machine: fits, refusals, interrupts, files and pickles in any order, and a model that stays whole."""

import pickle
import warnings
from contextlib import nullcontext, suppress
from functools import partial

import numpy as np
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from dualboost.loading import read_model
from dualboost.model_file.writing import model_text

from ..interrupts import KINDS, at_event
from .sane import answers_of, require, require_same

N_ROWS = 40


def table(kind, number, n_features):
    """Rows of a kind of estimator; their labels and columns depend on the number."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(N_ROWS, n_features)).round(1)
    target = X[:, 0] - X[:, -1] + 0.3 * rng.normal(size=N_ROWS)
    if "numbers" in kind or kind == "quantiles":
        return X, target
    n_classes = 3 if "several" in kind else 2
    labels = np.array([f"{number}, {k}" for k in range(n_classes)])
    return X, labels[np.digitize(target, np.quantile(target, np.linspace(0, 1, n_classes + 1)[1:-1]))]


class Life(RuleBasedStateMachine):
    """One estimator, and what it said last."""

    def __init__(self):
        super().__init__()
        self.kind = self.model = self.X = self.said = None

    @property
    def is_fitted(self):
        return self.said is not None

    def _attempt(self, X, y, fault=nullcontext):
        """Fit, and remember what the model says if the fit succeeds."""
        before = self.model.__dict__.get("_fitted")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with fault():
                    self.model.fit(X, y)
            finally:
                if self.model.__dict__.get("_fitted") is not before:
                    self.X, self.said = X, answers_of(self.model, X)

    @precondition(lambda self: self.model is None)
    @rule(kind=st.sampled_from(sorted(KINDS)))
    def choose(self, kind):
        self.kind, self.model = kind, KINDS[kind]()

    @precondition(lambda self: self.model is not None)
    @rule(number=st.integers(0, 20), n_features=st.integers(1, 4))
    def fit(self, number, n_features):
        self._attempt(*table(self.kind, number, n_features))
        require(self.is_fitted, "fit left no model")

    @precondition(lambda self: self.model is not None)
    @rule(number=st.integers(0, 20), bad=st.sampled_from(["infinite", "short", "no rows", "one class", "text"]))
    def refused(self, number, bad):
        X, y = table(self.kind, number, 3)
        X, y = {
            "infinite": lambda: (np.where(X > 1, np.inf, X), y),
            "short": lambda: (X, y[:-1]),
            "no rows": lambda: (X[:0], y[:0]),
            "one class": lambda: (X, np.full(len(y), np.nan if y.dtype.kind == "f" else "same")),
            "text": lambda: (X[:, 0], y),
        }[bad]()
        try:
            self._attempt(X, y)
        except ValueError:
            return  # an error of ours, or scikit-learn's about the shape of X
        require(bad == "infinite" and np.isfinite(X).all(), "took", bad)

    @precondition(lambda self: self.model is not None)
    @rule(number=st.integers(0, 20), event=st.integers(1, 40_000))
    def interrupted(self, number, event):
        X, y = table(self.kind, number, 2)
        with suppress(KeyboardInterrupt):
            self._attempt(X, y, fault=partial(at_event, event))

    @precondition(lambda self: self.is_fitted)
    @rule()
    def saved_and_loaded(self):
        text = model_text(self.model)
        self.model = read_model(text)
        require(model_text(self.model) == text, "the file is another one when it is written again")

    @precondition(lambda self: self.is_fitted)
    @rule()
    def pickled(self):
        self.model = pickle.loads(pickle.dumps(self.model))

    @invariant()
    def says_what_it_said(self):
        if self.is_fitted:
            require(self.model.n_features_in_ == self.X.shape[1], "has other features than its last fit")
            require_same(answers_of(self.model, self.X), self.said, "the model")
        elif self.model is not None:
            require("_fitted" not in vars(self.model), "half-fitted")


def run_machine(number, n_examples=5, n_steps=12):
    """Some lives, drawn from the number."""
    machine = seed(number)(type("SeededLife", (Life,), {}))
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=n_examples, stateful_step_count=n_steps, database=None, deadline=None, derandomize=False,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
