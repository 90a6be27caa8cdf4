"""The methods of the comparison at equal size: the rivals' learning rates and our C are chosen on the same folds.

A rival grows one tree a round for two classes, and one for each class for more; ours are for all classes. A rival's
trees do not depend on how many follow, so one long fit a candidate and fold serves every number of rounds; the final
model is fitted anew with that number.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import lightgbm
import numpy as np
import xgboost
from equal_trees_data import Folds, Split
from sklearn.ensemble import HistGradientBoostingClassifier

from dualboost import DualBoostClassifierCV

RATES = (0.05, 0.1, 0.2, 0.35, 0.6, 1.0)
LEAST_PROBABILITY = 1e-6
OURS = "ours"


@dataclass(frozen=True, eq=False)
class Outcome:
    """A final model on the rows to score on: its answers, a probability for each class among them; its size, candidate
    and seconds of the processor."""

    probabilities: np.ndarray
    labels: np.ndarray
    n_trees: int
    n_leaves: int
    candidate: float
    seconds: float


class Rival(ABC):
    """A library on some training rows, which are prepared once for all candidates."""

    @abstractmethod
    def __init__(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None: ...

    @abstractmethod
    def fit(self, depth: int, rate: float, n_rounds: int) -> None: ...

    @abstractmethod
    def staged(self, X: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
        """The probabilities after each number of rounds, in the order of ``sizes``; see ``by_class``."""

    @abstractmethod
    def leaves(self) -> list[int]:
        """Leaves of each tree."""


class XGBoost(Rival):
    def __init__(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        self._objective = _objective("binary:logistic", "multi:softprob", n_classes)
        self._rows = xgboost.QuantileDMatrix(X, y, nthread=1)

    def fit(self, depth: int, rate: float, n_rounds: int) -> None:
        options = self._objective | {"tree_method": "hist", "nthread": 1, "verbosity": 0}
        self._model = xgboost.train(options | {"max_depth": depth, "learning_rate": rate}, self._rows, n_rounds)

    def staged(self, X: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
        rows = xgboost.DMatrix(X, nthread=1)
        return [self._model.predict(rows, iteration_range=(0, size)) for size in sizes]

    def leaves(self) -> list[int]:
        return [text.count("leaf=") for text in self._model.get_dump()]


class LightGBM(Rival):
    def __init__(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        self._objective = _objective("binary", "multiclass", n_classes)
        self._rows = lightgbm.Dataset(X, y, params={"verbosity": -1, "num_threads": 1}, free_raw_data=False)

    def fit(self, depth: int, rate: float, n_rounds: int) -> None:
        # Without a forced layout every fit would first time both.
        options = self._objective | {"num_threads": 1, "verbosity": -1, "force_col_wise": True}
        shape = {"max_depth": depth, "num_leaves": 2**depth, "learning_rate": rate}
        self._model = lightgbm.train(options | shape, self._rows, n_rounds)

    def staged(self, X: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
        return [np.asarray(self._model.predict(X, num_iteration=size, num_threads=1)) for size in sizes]

    def leaves(self) -> list[int]:
        return [tree["num_leaves"] for tree in self._model.dump_model()["tree_info"]]


class Histogram(Rival):
    def __init__(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        self._X, self._y = X, y

    def fit(self, depth: int, rate: float, n_rounds: int) -> None:
        shape = {"max_depth": depth, "max_leaf_nodes": None, "max_iter": n_rounds}
        self._model = HistGradientBoostingClassifier(learning_rate=rate, early_stopping=False, **shape)
        self._model.fit(self._X, self._y)

    def staged(self, X: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
        stages = {k: p for k, p in enumerate(self._model.staged_predict_proba(X), 1) if k in sizes}
        return [stages[min(size, self._model.n_iter_)] for size in sizes]

    def leaves(self) -> list[int]:
        return [int(tree.nodes["is_leaf"].sum()) for trees in self._model._predictors for tree in trees]


def _objective(two: str, several: str, n_classes: int) -> dict[str, Any]:
    return {"objective": two} if n_classes == 2 else {"objective": several, "num_class": n_classes}


def run_rival(rival: type[Rival], split: Split, depth: int, sizes: Sequence[int]) -> list[Outcome]:
    """One outcome a size: the rate with the least mean log loss over the folds, then a fit on all training rows."""
    losses = np.mean([_fold_losses(rival, split, fold, depth, sizes) for fold in split.folds], axis=0)
    return [_final(rival, split, depth, RATES[best], size) for best, size in zip(losses.argmin(0), sizes, strict=True)]


def _fold_losses(rival: type[Rival], split: Split, fold: tuple[Any, Any], depth: int, sizes: Sequence[int]) -> Any:
    train, held_out = fold
    rows, losses = rival(split.X[train], split.y[train], split.n_classes), np.empty((len(RATES), len(sizes)))
    for i, rate in enumerate(RATES):
        rows.fit(depth, rate, max(sizes))
        losses[i] = [log_loss(split.y[held_out], p) for p in rows.staged(split.X[held_out], sizes)]
    return losses


def _final(rival: type[Rival], split: Split, depth: int, rate: float, size: int) -> Outcome:
    started = time.process_time()
    rows = rival(split.X, split.y, split.n_classes)
    rows.fit(depth, rate, size)
    seconds = time.process_time() - started
    p, leaves = by_class(rows.staged(split.X_test, [size])[0]), rows.leaves()
    return Outcome(p, p.argmax(axis=1), len(leaves), sum(leaves), rate, seconds)


def by_class(probabilities: np.ndarray) -> np.ndarray:
    """A column for each class; of two classes, libraries may give the second one's probabilities alone."""
    p = np.asarray(probabilities, dtype=np.float64)
    return p if p.ndim == 2 else np.column_stack([1 - p, p])


def log_loss(y: np.ndarray, probabilities: np.ndarray) -> float:
    """The mean over the rows, no probability below one in a million."""
    p = by_class(probabilities)[np.arange(len(y)), y]
    return float(-np.mean(np.log(np.clip(p, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))))


def our_model(depth: int, n_trees: int, folds: Folds, seed: int) -> Any:
    """Our classifier with as many candidates, chosen on the same folds, by log loss where it can be."""
    options: dict[str, Any] = {"max_depth": depth, "max_trees": n_trees, "n_jobs": 1, "random_state": seed}
    options |= {"cv": folds, "Cs": len(RATES), "scoring": "neg_log_loss"}
    known = DualBoostClassifierCV().get_params()
    return DualBoostClassifierCV(**{name: value for name, value in options.items() if name in known})


def run_ours(split: Split, depth: int, sizes: Sequence[int]) -> list[Outcome]:
    """One outcome a size; the seconds are those of the search and the final fit together."""
    return [_ours(split, depth, size) for size in sizes]


def _ours(split: Split, depth: int, size: int) -> Outcome:
    model = our_model(depth, size, split.folds, split.seed)
    started = time.process_time()
    model.fit(split.X, split.y)
    seconds = time.process_time() - started
    p, labels = model.predict_proba(split.X_test), model.predict(split.X_test)
    return Outcome(p, labels, model.n_trees_, _n_leaves(model), float(model.C_), seconds)


def _n_leaves(model: Any) -> int:
    """Leaves of the trees that vote."""
    if hasattr(model, "n_leaves_"):
        return int(model.n_leaves_)
    return sum(tree.n_leaves for tree, weight in zip(model.estimators_, model.weights_, strict=True) if weight != 0)


Run = Callable[[Split, int, Sequence[int]], list[Outcome]]
RIVALS: dict[str, type[Rival]] = {"xgboost": XGBoost, "lightgbm": LightGBM, "hist": Histogram}
METHODS: dict[str, Run] = {OURS: run_ours, **{name: partial(run_rival, rival) for name, rival in RIVALS.items()}}
