"""The methods for classes: the rivals' learning rates and our C are chosen on the same folds.

A rival grows one tree a round for two classes, and one for each class for more; ours are for all classes. A rival's
trees do not depend on how many follow, so one long fit a candidate and fold serves every number of rounds; the final
model is fitted anew with that number.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
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

Loss = Callable[[np.ndarray, np.ndarray], float]
"""Of the targets and the answers, the less the better."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """A final model on the rows to score on: its answers, a probability for each class or a number; its size,
    candidate and seconds of the processor."""

    answers: np.ndarray
    n_trees: int
    n_leaves: int
    candidate: float
    seconds: float


@dataclass(frozen=True)
class Ours:
    """Our estimator with as many candidates as the rivals have, chosen on the same folds by a score."""

    make: Callable[..., Any]
    scoring: str
    answers: Callable[[Any, np.ndarray], np.ndarray]

    def model(self, depth: int, n_trees: int, folds: Folds, seed: int) -> Any:
        options: dict[str, Any] = {"max_depth": depth, "max_trees": n_trees, "n_jobs": 1, "random_state": seed}
        return self.make(cv=folds, Cs=len(RATES), scoring=self.scoring, **options)


class Rival(ABC):
    """A library on some training rows, which are prepared once for all candidates."""

    @abstractmethod
    def __init__(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None: ...

    @abstractmethod
    def fit(self, depth: int, rate: float, n_rounds: int) -> None: ...

    @abstractmethod
    def staged(self, X: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
        """The answers after each number of rounds, in the order of ``sizes``; for probabilities see ``by_class``."""

    @abstractmethod
    def leaves(self) -> list[int]:
        """Leaves of each tree."""


class XGBoost(Rival):
    def __init__(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        self._objective = self.objective(n_classes)
        self._rows = xgboost.QuantileDMatrix(X, y, nthread=1)

    def objective(self, n_classes: int) -> dict[str, Any]:
        return _objective("binary:logistic", "multi:softprob", n_classes)

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
        self._objective = self.objective(n_classes)
        self._rows = lightgbm.Dataset(X, y, params={"verbosity": -1, "num_threads": 1}, free_raw_data=False)

    def objective(self, n_classes: int) -> dict[str, Any]:
        return _objective("binary", "multiclass", n_classes)

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
    make: Callable[..., Any] = HistGradientBoostingClassifier

    def __init__(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        self._X, self._y = X, y

    def fit(self, depth: int, rate: float, n_rounds: int) -> None:
        shape = {"max_depth": depth, "max_leaf_nodes": None, "max_iter": n_rounds}
        self._model = self.make(learning_rate=rate, early_stopping=False, **shape)
        self._model.fit(self._X, self._y)

    def staged(self, X: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
        stages = {k: p for k, p in enumerate(self.stages(X), 1) if k in sizes}
        return [stages[min(size, self._model.n_iter_)] for size in sizes]

    def stages(self, X: np.ndarray) -> Iterator[np.ndarray]:
        return self._model.staged_predict_proba(X)

    def leaves(self) -> list[int]:
        return [int(tree.nodes["is_leaf"].sum()) for trees in self._model._predictors for tree in trees]


def _objective(two: str, several: str, n_classes: int) -> dict[str, Any]:
    return {"objective": two} if n_classes == 2 else {"objective": several, "num_class": n_classes}


def run_rival(rival: type[Rival], loss: Loss, split: Split, depth: int, sizes: Sequence[int]) -> list[Outcome]:
    """One outcome a size: the rate with the least mean loss over the folds, then a fit on all training rows."""
    losses = np.mean([_fold_losses(rival, loss, split, fold, depth, sizes) for fold in split.folds], axis=0)
    return [_final(rival, split, depth, RATES[best], size) for best, size in zip(losses.argmin(0), sizes, strict=True)]


def _fold_losses(
    rival: type[Rival], loss: Loss, split: Split, fold: tuple[Any, Any], depth: int, sizes: Sequence[int]
) -> np.ndarray:
    train, held_out = fold
    rows, losses = rival(split.X[train], split.y[train], split.n_classes), np.empty((len(RATES), len(sizes)))
    for i, rate in enumerate(RATES):
        rows.fit(depth, rate, max(sizes))
        losses[i] = [loss(split.y[held_out], answers) for answers in rows.staged(split.X[held_out], sizes)]
    return losses


def _final(rival: type[Rival], split: Split, depth: int, rate: float, size: int) -> Outcome:
    started = time.process_time()
    rows = rival(split.X, split.y, split.n_classes)
    rows.fit(depth, rate, size)
    seconds = time.process_time() - started
    (answers,), leaves = rows.staged(split.X_test, [size]), rows.leaves()
    return Outcome(answers, len(leaves), sum(leaves), rate, seconds)


def by_class(probabilities: np.ndarray) -> np.ndarray:
    """A column for each class; of two classes, libraries may give the second one's probabilities alone."""
    p = np.asarray(probabilities, dtype=np.float64)
    return p if p.ndim == 2 else np.column_stack([1 - p, p])


def log_loss(y: np.ndarray, probabilities: np.ndarray) -> float:
    """The mean over the rows, no probability below one in a million."""
    p = by_class(probabilities)[np.arange(len(y)), y]
    return float(-np.mean(np.log(np.clip(p, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))))


def run_ours(ours: Ours, split: Split, depth: int, sizes: Sequence[int]) -> list[Outcome]:
    """One outcome a size; the seconds are those of the search and the final fit together."""
    return [_our_outcome(ours, split, depth, size) for size in sizes]


def _our_outcome(ours: Ours, split: Split, depth: int, size: int) -> Outcome:
    model = ours.model(depth, size, split.folds, split.seed)
    started = time.process_time()
    model.fit(split.X, split.y)
    seconds = time.process_time() - started
    answers = ours.answers(model, split.X_test)
    return Outcome(answers, model.n_trees_, _n_leaves(model), float(model.C_), seconds)


def _n_leaves(model: Any) -> int:
    """Leaves of the trees that vote."""
    if hasattr(model, "n_leaves_"):
        return int(model.n_leaves_)
    return sum(tree.n_leaves for tree, weight in zip(model.estimators_, model.weights_, strict=True) if weight != 0)


CLASSIFIER = Ours(DualBoostClassifierCV, "neg_log_loss", DualBoostClassifierCV.predict_proba)
Run = Callable[[Split, int, Sequence[int]], list[Outcome]]
RIVALS: dict[str, type[Rival]] = {"xgboost": XGBoost, "lightgbm": LightGBM, "hist": Histogram}


def methods(ours: Ours, rivals: dict[str, type[Rival]], loss: Loss) -> dict[str, Run]:
    runs: dict[str, Run] = {name: partial(run_rival, rival, loss) for name, rival in rivals.items()}
    return {OURS: partial(run_ours, ours)} | runs


METHODS = methods(CLASSIFIER, RIVALS, log_loss)
