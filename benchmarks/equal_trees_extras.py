"""Further rivals of the comparison at equal size, to be compared by leaves; each is there if its library is installed.

Regularized greedy forest (``rgf_python``) may spend the leaves that all full trees would have, at any depth and in any
number of trees. FIGS (``imodels``) may spend them in that number of trees, at any depth, since trees come out deeper
or shallower than the ``max_depth`` it takes; it chooses the share of the splits to use. EBM (``interpret-core``) has
one round of boosting over all features for each tree, and pairs of features from depth 2; its leaves are the pieces of
its tables. As for the others, six candidates are compared on the folds. They are for two classes and for numbers.
"""

from __future__ import annotations

import contextlib
import io
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from equal_trees_data import Split
from equal_trees_methods import RATES, Loss, Outcome, Run, log_loss

PAIRS = "3x"
"""Pairs of features for EBM: three times as many as features."""


class Purpose(NamedTuple):
    """What the libraries' estimators for a task end in, the method that has their answers, and the loss of these."""

    output_transform: str
    answers: str
    loss: Loss


class Extra(ABC):
    """A model that is made anew for each number of trees."""

    candidates: tuple[float, ...] = RATES

    def __init__(self, module: str, name: str, purpose: Purpose) -> None:
        self._module, self._name, self.purpose = module, name + purpose.output_transform, purpose

    @property
    def estimator(self) -> Any:
        """The library's class, loaded when it is needed."""
        return getattr(import_module(self._module), self._name)

    @abstractmethod
    def make(self, depth: int, n_trees: int, candidate: float, seed: int) -> Any: ...

    @abstractmethod
    def size(self, model: Any) -> tuple[int, int]:
        """Trees and leaves."""


class GreedyForest(Extra):
    candidates = (1.0, 0.5, 0.2, 0.1, 0.03, 0.01)

    def make(self, depth: int, n_trees: int, candidate: float, seed: int) -> Any:
        n_leaves = n_trees * 2**depth
        return self.estimator(max_leaf=n_leaves, test_interval=n_leaves, l2=candidate)

    def size(self, model: Any) -> tuple[int, int]:
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            model.dump_model()
        return text.getvalue().count("tree["), len(re.findall(r"\], \(", text.getvalue()))


class GreedySums(Extra):
    candidates = (1.0, 0.7, 0.5, 0.35, 0.2, 0.1)

    def make(self, depth: int, n_trees: int, candidate: float, seed: int) -> Any:
        n_splits = max(1, round(candidate * n_trees * (2**depth - 1)))
        return self.estimator(max_rules=n_splits, max_trees=n_trees, random_state=seed)

    def size(self, model: Any) -> tuple[int, int]:
        return len(model.trees_), sum(_leaves_below(root) for root in model.trees_)


class AdditiveTables(Extra):
    def make(self, depth: int, n_trees: int, candidate: float, seed: int) -> Any:
        # A single bag learns from all rows, without rows held out to stop early.
        whole = {"outer_bags": 1, "validation_size": 0, "early_stopping_rounds": 0, "n_jobs": 1, "random_state": seed}
        pairs = 0 if depth == 1 else PAIRS
        return self.estimator(max_rounds=n_trees, learning_rate=candidate, interactions=pairs, **whole)

    def size(self, model: Any) -> tuple[int, int]:
        return int(np.sum(model.best_iteration_)), sum(_pieces(np.asarray(table)) for table in model.term_scores_)


def _leaves_below(node: Any) -> int:
    children = [child for child in (node.left, node.right) if child is not None]
    return sum(_leaves_below(child) for child in children) or 1


def _pieces(table: np.ndarray) -> int:
    """Runs of one value along a feature, or values that differ in a table of two."""
    return 1 + int(np.count_nonzero(np.diff(table))) if table.ndim == 1 else len(np.unique(table))


def run_extra(extra: Extra, split: Split, depth: int, sizes: Sequence[int]) -> list[Outcome]:
    return [_outcome(extra, split, depth, size) for size in sizes]


def _outcome(extra: Extra, split: Split, depth: int, size: int) -> Outcome:
    losses = [_mean_loss(extra, split, depth, size, candidate) for candidate in extra.candidates]
    best = extra.candidates[int(np.argmin(losses))]
    model, seconds = _fitted(extra, split.X, split.y, (depth, size, best, split.seed))
    return Outcome(_answers(extra, model, split.X_test), *extra.size(model), best, seconds)


def _mean_loss(extra: Extra, split: Split, depth: int, size: int, candidate: float) -> float:
    losses = []
    for train, held_out in split.folds:
        model, _ = _fitted(extra, split.X[train], split.y[train], (depth, size, candidate, split.seed))
        losses.append(extra.purpose.loss(split.y[held_out], _answers(extra, model, split.X[held_out])))
    return float(np.mean(losses))


def _answers(extra: Extra, model: Any, X: np.ndarray) -> np.ndarray:
    return np.asarray(getattr(model, extra.purpose.answers)(_known(X)))


def _fitted(extra: Extra, X: np.ndarray, y: np.ndarray, options: tuple[int, int, float, int]) -> tuple[Any, float]:
    """The seconds are by the clock: a greedy forest runs in a process of its own."""
    started = time.perf_counter()
    model = extra.make(*options).fit(_known(X), y)
    return model, time.perf_counter() - started


def _known(X: np.ndarray) -> np.ndarray:
    """Two of the libraries take no missing values: they come below all others, where a split can part them."""
    return np.where(np.isnan(X), -1e6, X)


LIBRARIES: dict[str, tuple[type[Extra], str, str]] = {
    "rgf": (GreedyForest, "rgf.sklearn", "RGF"),
    "ebm": (AdditiveTables, "interpret.glassbox", "ExplainableBoosting"),
    "figs": (GreedySums, "imodels", "FIGS"),
}


def extras(purpose: Purpose) -> dict[str, Run]:
    """The methods whose libraries are installed."""
    return {
        method: partial(run_extra, kind(module, name, purpose))
        for method, (kind, module, name) in LIBRARIES.items()
        if find_spec(module.partition(".")[0])
    }


EXTRAS = extras(Purpose("Classifier", "predict_proba", log_loss))
