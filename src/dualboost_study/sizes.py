"""Ensembles within budgets of trees and leaves, and the choice of C."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dualboost._typing import Matrix, Vector
from dualboost.formulations import FORMULATIONS
from dualboost.targets.classes import accuracy
from dualboost.thinning import adapter_for
from dualboost.trees.tree import n_leaves

from .protocol import METHODS, Cell, Fitted, Preset, Settings, StudyMethod

CELL = list(Cell._fields)


def chosen_fits(fits: pd.DataFrame) -> pd.DataFrame:
    """Of the fits that differ only in the hyperparameter, the one with the best validation accuracy.

    Among equals the fit with the fewest trees is taken, then the smaller value.
    """
    succeeded = fits[fits["error"].isna()] if "error" in fits else fits
    order = succeeded.sort_values(
        ["validation_accuracy", "trees", "value"], ascending=[False, True, True], kind="stable"
    )
    return order.drop_duplicates(CELL[:-1]).sort_values(CELL[:-1]).reset_index(drop=True)


def keys_of(fits: pd.DataFrame) -> list[str]:
    return [Cell(*row).key for row in fits[CELL].itertuples(index=False)]


def tuned(key: str) -> str:
    """What the key of a cell says without its value: fits that agree in it are those that one is chosen of."""
    return key.rpartition("/")[0]


def chosen_cells(fits: pd.DataFrame) -> list[Cell]:
    return [Cell(*row) for row in chosen_fits(fits)[CELL].itertuples(index=False)]


def has_optimal_stages(cell: Cell) -> bool:
    """Whether the cell, if it is chosen, is fitted once more with every stage optimal."""
    return METHODS[cell.method].has_optimal_stages(cell.experiment)


def of_stages(key: str) -> str:
    """The key of the fit that is made once more."""
    return f"{key}/stages"


# A fit passes through ensembles of growing size. Totally corrective methods have an optimum after each iteration,
# boosted ensembles have their first trees, and where leaves are corrected there is a fit for each number of trees.
# The last ensemble within a budget is recorded; so every method has as many candidates for a budget as it has values.

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
    return LeafContestant(method) if FORMULATIONS[name].optimize == "leaves" else Contestant(method)


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
        "train_score": accuracy(scores, y, np.ones(len(y))),
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


COLUMNS = [*CELL, "kind", "budget", "validation_accuracy", "test_accuracy", "trees", "leaves"]
ALL_TREES = TREES[-1]
"""The budget within which every ensemble is: that of the study's 100 iterations."""
ANY_DEPTH = 0
"""Stands for a choice among all depths."""
MATCHES = 0.005
"""An accuracy that is less than this below another one matches it."""


def sizes_table(records: list[dict[str, Any]]) -> pd.DataFrame:
    """One row for each fit and budget."""
    rows = []
    for record in records:
        lists = (record.get(f"within_{name}", []) for name in ("validation", "test", "trees", "leaves"))
        cell = [record[name] for name in CELL]
        for (kind, budget), *figures in zip(BUDGETS, *lists, strict=False):
            rows.append([*cell, kind, budget, *figures])
    return pd.DataFrame(rows, columns=COLUMNS)


def within_budgets(sizes: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The ensemble chosen on the validation rows, for each data set, method, depth, seed and budget.

    Of equals the one with the fewest trees is taken, as in the study's tables. ``ANY_DEPTH`` stands for a choice among
    all depths.
    """
    part = sizes[sizes["kind"] == kind]
    order = part.sort_values(
        ["validation_accuracy", "trees", "leaves", "depth", "value"],
        ascending=[False, True, True, True, True],
        kind="stable",
    )
    key = ["dataset", "method", "seed", "budget"]
    of_depths = order.drop_duplicates([*key, "depth"])
    of_all = order.drop_duplicates(key).assign(depth=ANY_DEPTH)
    return pd.concat([of_all, of_depths]).sort_values(["depth", *key]).reset_index(drop=True)


def chosen_sizes(sizes: pd.DataFrame) -> pd.DataFrame:
    """The rows that are chosen for a depth: all that the others are made of."""
    parts = [within_budgets(sizes, kind) for kind in ("trees", "leaves")]
    chosen = pd.concat([part[part["depth"] != ANY_DEPTH] for part in parts])
    return chosen.sort_values([*CELL, "kind"], kind="stable", ignore_index=True)


def size_means(sizes: pd.DataFrame, kind: str, column: str = "test_accuracy") -> pd.DataFrame:
    """Means over seeds, then over the data sets that all methods have: a row for each depth and budget."""
    chosen = within_budgets(sizes, kind)
    by_dataset = chosen.groupby(["depth", "budget", "dataset", "method"])[column].mean().unstack("method")
    means = by_dataset.dropna().groupby(["depth", "budget"]).mean()
    return means.reindex(columns=[name for name in METHODS if name in means])


def best_of(means: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """The best of these methods in each row, and its accuracy."""
    part = means[methods]
    return pd.DataFrame({"method": part.idxmax(axis=1), "accuracy": part.max(axis=1)})


def trees_to_match(sizes: pd.DataFrame, methods: list[str], rivals: list[str]) -> pd.DataFrame:
    """For each depth and method: accuracy and trees after all iterations, and how many trees match it.

    ``rival_trees`` is the smallest budget from which on the best rival's mean accuracy is at most ``MATCHES`` below;
    missing if there is none. ``own_trees`` is the same of the method itself.
    """
    accuracy, trees = (size_means(sizes, "trees", column) for column in ("test_accuracy", "trees"))
    rows = []
    for depth in accuracy.index.unique("depth"):
        reached = accuracy.loc[depth, rivals].max(axis=1)
        for method in methods:
            own, used = (float(table.at[(depth, ALL_TREES), method]) for table in (accuracy, trees))
            of_rivals, of_its_own = (_fewest(curve, own - MATCHES) for curve in (reached, accuracy.loc[depth, method]))
            at_equal = reached[reached.index <= max(used, TREES[0])].iloc[-1]
            rows.append((depth, method, own, used, of_its_own, at_equal, of_rivals))
    columns = ["depth", "method", "accuracy", "trees", "own_trees", "rivals_at_most_as_many", "rival_trees"]
    return pd.DataFrame(rows, columns=columns).astype({"own_trees": float, "rival_trees": float})


def _fewest(curve: pd.Series, accuracy: float) -> int | None:
    """The smallest budget from which on the curve is nowhere below the accuracy."""
    enough = curve[curve[::-1].cummin()[::-1] >= accuracy]
    return int(enough.index.min()) if len(enough) else None
