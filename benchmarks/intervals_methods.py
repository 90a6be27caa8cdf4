"""The methods for intervals: ours finds all quantiles in one ensemble, a rival has a model for each end, or one for the
mean, whose intervals calibration makes equally wide everywhere.

All intervals are calibrated with the same rows, a quarter of the training rows, which no model has seen; the rest of
each fold is what C and the rivals' learning rate are chosen on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

import numpy as np
from equal_trees_data import Folds, Split
from equal_trees_methods import RATES, LightGBM, Rival, XGBoost
from equal_trees_numbers import LightGBMNumbers
from sklearn.metrics import mean_pinball_loss

from dualboost import DualBoostRegressorCV
from dualboost.estimators.calibrating import rows_aside

LOW, HIGH = 0.05, 0.95
COVERAGE = 0.9


@dataclass(frozen=True, eq=False)
class Outcome:
    """A final model on the rows to score on: both quantiles as they were fitted, and the ends of the intervals.

    ``rank`` is the place of the candidate among all, from 0; ``seconds`` are of the processor, with the search.
    """

    quantiles: np.ndarray
    intervals: np.ndarray
    n_trees: int
    n_leaves: int
    candidate: float
    rank: int
    seconds: float

    def figures(self, y: np.ndarray) -> dict[str, float]:
        (low, high), (least, most) = self.quantiles.T, self.intervals.T
        outside = np.maximum(np.maximum(least - y, y - most), 0.0)
        width = float(np.mean(most - least))
        return {
            "coverage": float(np.mean(outside <= 0)),
            "width": width,
            "score": width + 2 / (1 - COVERAGE) * float(outside.mean()),
            "pinball_low": float(mean_pinball_loss(y, low, alpha=LOW)),
            "pinball_high": float(mean_pinball_loss(y, high, alpha=HIGH)),
            "below": float(np.mean(y < low)),
            "above": float(np.mean(y > high)),
        }


def run_ours(levels: Sequence[float], split: Split, depth: int, sizes: Sequence[int]) -> list[Outcome]:
    return [_ours(levels, split, depth, size) for size in sizes]


def _ours(levels: Sequence[float], split: Split, depth: int, size: int) -> Outcome:
    options: dict[str, Any] = {"max_depth": depth, "max_trees": size, "n_jobs": 1, "random_state": split.seed}
    model = DualBoostRegressorCV(
        "quantile", len(RATES), quantiles=levels, interval_calibration="conformal", cv=split.folds, **options
    )
    started = time.process_time()
    model.fit(split.X, split.y)
    seconds = time.process_time() - started
    ends = model.predict_quantiles(split.X_test)[:, [0, -1]]
    rank = int(np.searchsorted(model.Cs_, model.C_))
    size_of = (model.n_trees_, int(model.n_leaves_))
    return Outcome(ends, model.predict_interval(split.X_test), *size_of, float(model.C_), rank, seconds)


class LightGBMQuantile(LightGBM):
    def __init__(self, X: np.ndarray, y: np.ndarray, level: float) -> None:
        self._level = level
        super().__init__(X, y, n_classes=0)

    def objective(self, n_classes: int) -> dict[str, Any]:
        return {"objective": "quantile", "alpha": self._level}


class XGBoostQuantile(XGBoost):
    def __init__(self, X: np.ndarray, y: np.ndarray, level: float) -> None:
        self._level = level
        super().__init__(X, y, n_classes=0)

    def objective(self, n_classes: int) -> dict[str, Any]:
        return {"objective": "reg:quantileerror", "quantile_alpha": self._level}


class LightGBMMean(LightGBMNumbers):
    def __init__(self, X: np.ndarray, y: np.ndarray, level: float) -> None:
        super().__init__(X, y, n_classes=0)


Library = Callable[[np.ndarray, np.ndarray, float], Rival]
EndsLoss = Callable[[np.ndarray, np.ndarray], float]
"""Of the targets and both ends, the less the better."""


@dataclass(frozen=True)
class Recipe:
    """A library, the levels it has a model for, which share the trees, and what its one rate for all is chosen by."""

    library: Library
    levels: tuple[float, ...]
    loss: EndsLoss

    def models(self, X: np.ndarray, y: np.ndarray) -> list[Rival]:
        return [self.library(X, y, level) for level in self.levels]


def run_rival(recipe: Recipe, split: Split, depth: int, sizes: Sequence[int]) -> list[Outcome]:
    """One outcome a size, which is the number of trees of all models together."""
    aside = set_aside(split)
    shares = [size // len(recipe.levels) for size in sizes]
    started = time.process_time()
    folds = folds_without(aside, split.folds)
    losses = np.sum([_fold_losses(recipe, split, fold, depth, shares) for fold in folds], axis=0)
    searched = (time.process_time() - started) / len(sizes)
    return [
        _final(recipe, split, aside, depth, int(rank), share, searched)
        for rank, share in zip(losses.argmin(axis=0), shares, strict=True)
    ]


def set_aside(split: Split) -> np.ndarray:
    """Which rows are for calibration: those that our estimator chooses by the same seed."""
    is_aside = np.zeros(len(split.y), dtype=bool)
    is_aside[rows_aside(np.ones(len(split.y)), split.seed)] = True
    return is_aside


def folds_without(is_aside: np.ndarray, folds: Folds) -> Folds:
    return [(train[~is_aside[train]], held[~is_aside[held]]) for train, held in folds]


def _fold_losses(
    recipe: Recipe, split: Split, fold: tuple[np.ndarray, np.ndarray], depth: int, shares: Sequence[int]
) -> np.ndarray:
    """The loss on the rows held out, by rate and number of trees."""
    train, held = fold
    models = recipe.models(split.X[train], split.y[train])
    losses = np.empty((len(RATES), len(shares)))
    for i, rate in enumerate(RATES):
        for model in models:
            model.fit(depth, rate, max(shares))
        losses[i] = [recipe.loss(split.y[held], _sorted_ends(models, split.X[held], share)) for share in shares]
    return losses


def both_losses(y: np.ndarray, ends: np.ndarray) -> float:
    """The sum of the pinball losses of both ends."""
    return float(sum(mean_pinball_loss(y, end, alpha=level) for end, level in zip(ends.T, (LOW, HIGH), strict=True)))


def both_losses_calibrated(y: np.ndarray, ends: np.ndarray) -> float:
    """The same after intervals are made to cover as many of these rows as is asked for: how ours is chosen."""
    return both_losses(y, widened(ends, by_how_much(ends, y)))


def _final(
    recipe: Recipe, split: Split, is_aside: np.ndarray, depth: int, rank: int, share: int, searched: float
) -> Outcome:
    started = time.process_time()
    models = recipe.models(split.X[~is_aside], split.y[~is_aside])
    for model in models:
        model.fit(depth, RATES[rank], share)
    seconds = searched + time.process_time() - started
    leaves = [n for model in models for n in model.leaves()]
    known, new = (_sorted_ends(models, X, share) for X in (split.X[is_aside], split.X_test))
    intervals = widened(new, by_how_much(known, split.y[is_aside]))
    return Outcome(new, intervals, len(leaves), sum(leaves), RATES[rank], rank, seconds)


def _sorted_ends(models: Sequence[Rival], X: np.ndarray, share: int) -> np.ndarray:
    """The least and the largest answer; of one model both are the same."""
    return np.sort(np.column_stack([model.staged(X, [share])[0] for model in models]), axis=1)[:, [0, -1]]


def by_how_much(ends: np.ndarray, y: np.ndarray) -> float:
    """Conformalized quantile regression: how far y is outside the intervals of so many rows that a new one is covered
    as often as is asked for."""
    outside = np.sort(np.maximum(ends[:, 0] - y, y - ends[:, 1]))
    return float(outside[ceil(COVERAGE * (len(y) + 1)) - 1])


def widened(ends: np.ndarray, shift: float) -> np.ndarray:
    """Both ends moved outwards; those that a negative shift lets cross are in the middle."""
    moved = ends + shift * np.array([-1.0, 1.0])
    return np.where(moved[:, :1] <= moved[:, 1:], moved, moved.mean(axis=1, keepdims=True))


Run = Callable[[Split, int, Sequence[int]], list[Outcome]]
METHODS: dict[str, Run] = {
    "ours3": partial(run_ours, (LOW, 0.5, HIGH)),
    "ours2": partial(run_ours, (LOW, HIGH)),
    "lightgbm": partial(run_rival, Recipe(LightGBMQuantile, (LOW, HIGH), both_losses)),
    "lightgbm_calibrated": partial(run_rival, Recipe(LightGBMQuantile, (LOW, HIGH), both_losses_calibrated)),
    "lightgbm_mean": partial(run_rival, Recipe(LightGBMMean, (0.5,), both_losses_calibrated)),
    "xgboost": partial(run_rival, Recipe(XGBoostQuantile, (LOW, HIGH), both_losses)),
}
