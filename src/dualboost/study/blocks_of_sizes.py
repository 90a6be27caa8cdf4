"""Blocks of the page of results about equal sizes."""

from __future__ import annotations

import pandas as pd

from .blocks import markdown_table
from .equal_size import ANY_DEPTH, size_means, trees_to_match
from .methods import METHODS
from .observations.base import HEURISTIC
from .observations.equal_size import LEAVES, TREES
from .results import Results
from .tables import DIGITS
from .words import short, unbroken

NOT_RUN = "\nThe experiment was not run.\n"


def equal_trees(results: Results) -> str:
    """Mean accuracy within so many trees, by depth and method; the best of each row in bold."""
    if results.sizes.empty:
        return NOT_RUN
    table = size_means(results.sizes, "trees")
    wanted = [(depth, budget) for depth in table.index.unique("depth") if depth != ANY_DEPTH for budget in TREES]
    wanted += [(ANY_DEPTH, budget) for budget in TREES]
    return _table(table, {f"depth {d}, {n} trees" if d else f"any depth, {n} trees": (d, n) for d, n in wanted})


def equal_leaves(results: Results) -> str:
    """Mean accuracy within so many leaves of trees of any depth."""
    if results.sizes.empty:
        return NOT_RUN
    return _table(size_means(results.sizes, "leaves"), {f"{n} leaves": (ANY_DEPTH, n) for n in LEAVES})


def _table(means: pd.DataFrame, wanted: dict[str, tuple[int, int]]) -> str:
    rows = []
    for label, key in wanted.items():
        if key in means.index:
            row = means.loc[key].round(DIGITS)
            marks = ["**" if value == row.max() else "" for value in row]
            cells = [f"{mark}{value:.{DIGITS}f}{mark}" for mark, value in zip(marks, row, strict=True)]
            rows.append([unbroken(label), *cells])
    return markdown_table(["within", *map(short, means)], rows)


def matches(results: Results) -> str:
    """What each method has after all iterations, and how many trees a tuned heuristic needs to match it."""
    if results.sizes.empty:
        return NOT_RUN
    there = [name for name in METHODS if name in set(results.sizes["method"])]
    rivals = [name for name in there if name in HEURISTIC]
    if not rivals:
        return NOT_RUN
    table = trees_to_match(results.sizes, [name for name in there if name not in rivals], rivals)
    rows = [
        [
            f"{row.depth}",
            short(row.method),
            f"{row.accuracy:.{DIGITS}f}",
            f"{row.trees:.0f}",
            f"{row.own_trees:.0f}",
            f"{row.rivals_at_most_as_many:.{DIGITS}f}",
            "more than 100" if pd.isna(row.rival_trees) else f"{row.rival_trees:.0f}",
        ]
        for row in table[table["depth"] != ANY_DEPTH].itertuples()
    ]
    head = [
        "depth",
        "method",
        "accuracy",
        "its trees",
        "it matches within",
        "best heuristic with no more trees",
        "trees of a heuristic that match",
    ]
    return markdown_table(head, rows)
