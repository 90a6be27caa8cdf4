"""What the experiment ``equal_size`` says: the best ensemble of each method within so many trees, or so many leaves."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .choice import CELL
from .methods import METHODS
from .sizes import BUDGETS, TREES

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
