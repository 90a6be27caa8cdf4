"""The ensembles within budgets of trees and leaves: which are chosen, and their means."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .protocol import CELL, METHODS

TREES = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 57, 80, 100)
"""The budgets of trees."""
LEAVES = (10, 20, 40, 80, 160)
"""The budgets of leaves."""
BUDGETS = [*(("trees", budget) for budget in TREES), *(("leaves", budget) for budget in LEAVES)]
COLUMNS = [*CELL, "kind", "budget", "validation_accuracy", "test_accuracy", "trees", "leaves"]
ALL_TREES = TREES[-1]
"""The budget that holds every ensemble: the study has 100 iterations."""
ANY_DEPTH = 0
"""The depth in tables where the depth is chosen too."""
MATCHES = 0.005
"""An accuracy matches another one if it is less than this below."""


def sizes_table(records: list[dict[str, Any]]) -> pd.DataFrame:
    """One row for each fit and budget."""
    rows = []
    for record in records:
        lists = (record.get(f"within_{name}", []) for name in ("validation", "test", "trees", "leaves"))
        cell = [record[name] for name in CELL]
        for (unit, budget), *figures in zip(BUDGETS, *lists, strict=False):
            rows.append([*cell, unit, budget, *figures])
    return pd.DataFrame(rows, columns=COLUMNS)


def within_budgets(sizes: pd.DataFrame, unit: str) -> pd.DataFrame:
    """The ensemble with the best validation accuracy for each data set, method, depth, seed and budget.

    Among equals, the ensemble with the fewest trees is taken. Rows of ``ANY_DEPTH`` hold the best of all depths.
    """
    order = sizes[sizes["kind"] == unit].sort_values(
        ["validation_accuracy", "trees", "leaves", "depth", "value"],
        ascending=[False, True, True, True, True],
        kind="stable",
    )
    key = ["dataset", "method", "seed", "budget"]
    of_depths = order.drop_duplicates([*key, "depth"])
    of_all = order.drop_duplicates(key).assign(depth=ANY_DEPTH)
    return pd.concat([of_all, of_depths]).sort_values(["depth", *key]).reset_index(drop=True)


def chosen_sizes(sizes: pd.DataFrame) -> pd.DataFrame:
    """The rows that are chosen for a depth; every other table is made from them."""
    parts = [within_budgets(sizes, unit) for unit in ("trees", "leaves")]
    chosen = pd.concat([part[part["depth"] != ANY_DEPTH] for part in parts])
    return chosen.sort_values([*CELL, "kind"], kind="stable", ignore_index=True)


def size_means(sizes: pd.DataFrame, unit: str, column: str = "test_accuracy") -> pd.DataFrame:
    """Means over seeds, then over the data sets that all methods have: a row for each depth and budget."""
    chosen = within_budgets(sizes, unit)
    by_dataset = chosen.groupby(["depth", "budget", "dataset", "method"])[column].mean().unstack("method")
    means = by_dataset.dropna().groupby(["depth", "budget"]).mean()
    return means.reindex(columns=[name for name in METHODS if name in means])


def trees_to_match(sizes: pd.DataFrame, methods: list[str], rivals: list[str]) -> pd.DataFrame:
    """For each depth and method: accuracy and trees after all iterations, and the numbers of trees that match it.

    From ``rival_trees`` trees on, the best rival's mean accuracy is at most ``MATCHES`` below; missing if there is no
    such budget. ``own_trees`` is this number for the method itself.
    """
    accuracy, trees = (size_means(sizes, "trees", column) for column in ("test_accuracy", "trees"))
    rows = []
    for depth in accuracy.index.unique("depth"):
        best_rival = accuracy.loc[depth, rivals].max(axis=1)
        for method in methods:
            own, used = (float(table.at[(depth, ALL_TREES), method]) for table in (accuracy, trees))
            rival_trees, own_trees = (
                _fewest(curve, own - MATCHES) for curve in (best_rival, accuracy.loc[depth, method])
            )
            at_equal = best_rival[best_rival.index <= max(used, TREES[0])].iloc[-1]
            rows.append((depth, method, own, used, own_trees, at_equal, rival_trees))
    columns = ["depth", "method", "accuracy", "trees", "own_trees", "rivals_at_most_as_many", "rival_trees"]
    return pd.DataFrame(rows, columns=columns).astype({"own_trees": float, "rival_trees": float})


def _fewest(curve: pd.Series, accuracy: float) -> int | None:
    """The smallest budget from which on the curve is nowhere below the accuracy."""
    enough = curve[curve[::-1].cummin()[::-1] >= accuracy]
    return int(enough.index.min()) if len(enough) else None
