"""The experiment ``equal_size``: how accurate each method is within so many trees, and within so many leaves.

A fit passes through ensembles of growing size. Totally corrective methods have an optimum after each iteration, boosted
ensembles have their first trees, and where leaves are corrected there is a fit for each number of trees. The last
ensemble within a budget is recorded; so every method has as many candidates for a budget as it has values.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._typing import Matrix, Vector
from ..formulations import FORMULATIONS
from ..tasks.binary import accuracy
from ..thinning import adapter_for
from ..trees.tree import n_leaves
from .methods import METHODS, Fitted, Settings, StudyMethod
from .protocol import Cell, Preset

TREES = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 57, 80, 100)
"""The budgets of trees."""
LEAVES = (10, 20, 40, 80, 160)
"""The budgets of leaves."""
BUDGETS = [*(("trees", budget) for budget in TREES), *(("leaves", budget) for budget in LEAVES)]
MOST_LEAF_CORRECTED = 40
"""Fits of corrected leaves with more trees are made only if these may be within the largest budget of leaves."""
SLOWEST_RATE = 0.05
"""The smallest learning rate: ensembles of 40 trees do not get far with a smaller one."""

Parts = dict[str, tuple[Matrix, Vector]]


class Step(NamedTuple):
    """An ensemble that a fit passes through; scores are those of the validation rows and of the test rows."""

    trees: int
    leaves: int
    validation: Vector
    test: Vector


class Contestant:
    """A method of the study, and the ensembles that its fit passes through."""

    def __init__(self, method: StudyMethod) -> None:
        self.method = method

    def grid(self, n_samples: int, k: int) -> Vector:
        return self.method.grid(n_samples, k)

    def steps(self, parts: Parts, value: float, settings: Settings) -> tuple[Fitted, list[Step]]:
        """The fitted model, and every ensemble on the way to it."""
        fitted = self.method.fit(*parts["train"], value, settings)
        staged = [self.method.staged(fitted.model, parts[name][0]) for name in ("validation", "test")]
        stages = zip(*staged, self.leaves(fitted.model), strict=True)
        return fitted, [Step(trees, n, scores, unseen) for (scores, trees), (unseen, _), n in stages]

    def leaves(self, model: Any) -> Iterator[int]:
        """The leaves of the trees used after each iteration."""
        sizes = np.array([n_leaves(learner) for learner in model.estimators_])
        for weights in model.fitted_.stages.weights:
            yield int(sizes[np.flatnonzero(weights)].sum())


class BoostedContestant(Contestant):
    """Trees that stay as they are: the first ones of a long fit are a short fit."""

    def grid(self, n_samples: int, k: int) -> Vector:
        return np.geomspace(SLOWEST_RATE, 1.0, k)

    def leaves(self, model: Any) -> Iterator[int]:
        yield from np.cumsum(adapter_for(model).n_leaves).tolist()


class LeafContestant(Contestant):
    """Leaves are corrected, and trees eliminated and regrown at the end, so that each size is a fit of its own."""

    def steps(self, parts: Parts, value: float, settings: Settings) -> tuple[Fitted, list[Step]]:
        steps = []
        for size in self.sizes(settings):
            fitted = self.method.fit(*parts["train"], value, replace(settings, iterations=size))
            scores = (self.method.scores(fitted.model, parts[name][0]) for name in ("validation", "test"))
            steps.append(Step(fitted.n_trees, fitted.n_leaves, *scores))
        return fitted, steps

    def sizes(self, settings: Settings) -> list[int]:
        most = max(MOST_LEAF_CORRECTED, LEAVES[-1] // 2**settings.depth)
        return [size for size in TREES if size <= min(most, settings.iterations)]


def contestant(name: str) -> Contestant:
    method = METHODS[name]
    if not method.is_totally_corrective:
        return BoostedContestant(method)
    return LeafContestant(method) if FORMULATIONS[name].corrects == "leaves" else Contestant(method)


def measured_sizes(cell: Cell, preset: Preset, parts: Parts) -> dict[str, Any]:
    """The record of a fit: of its last ensemble, and of the last ensemble within each budget."""
    X, y = parts["train"]
    taking_part = contestant(cell.method)
    C = float(taking_part.grid(len(y), preset.values)[cell.value])
    settings = replace(preset.settings(cell), reoptimize="every")
    started = time.thread_time()
    fitted, steps = taking_part.steps(parts, C, settings)
    seconds = time.thread_time() - started
    scores = taking_part.method.scores(fitted.model, X)
    return {
        "hyperparameter": C,
        "n_train": len(y),
        "n_features": X.shape[1],
        "seconds": seconds,
        "train_accuracy": accuracy(scores, y, np.ones(len(y))),
        "validation_accuracy": _accuracy(steps[-1].validation, parts["validation"][1]),
        "test_accuracy": _accuracy(steps[-1].test, parts["test"][1]),
        "trees": steps[-1].trees,
        "leaves": steps[-1].leaves,
        "stop_reason": fitted.stop_reason,
        "gap": None if np.isnan(fitted.gap) else fitted.gap,
        "objective": None if np.isnan(fitted.objective) else fitted.objective,
        **{name: [] for name in ("weights", "margins", "anytime_accuracy", "anytime_trees")},
        **_within(steps, parts),
    }


def _within(steps: list[Step], parts: Parts) -> dict[str, list[float]]:
    """What the last ensemble within each budget has; without any, the class that most training rows have."""
    found = [_last(steps, kind, budget) or _empty(parts) for kind, budget in BUDGETS]
    return {
        "within_trees": [step.trees for step in found],
        "within_leaves": [step.leaves for step in found],
        "within_validation": [_accuracy(step.validation, parts["validation"][1]) for step in found],
        "within_test": [_accuracy(step.test, parts["test"][1]) for step in found],
    }


def _last(steps: list[Step], kind: str, budget: int) -> Step | None:
    return next((step for step in reversed(steps) if getattr(step, kind) <= budget), None)


def _empty(parts: Parts) -> Step:
    sign = 1.0 if parts["train"][1].sum() >= 0 else -1.0
    return Step(0, 0, *(np.full(len(parts[name][1]), sign) for name in ("validation", "test")))


def _accuracy(scores: Vector, y: Vector) -> float:
    return float(f"{accuracy(scores, y, np.ones(len(y))):.6g}")
