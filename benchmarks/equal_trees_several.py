"""The tables of more than two classes: trees for all classes against rounds of one tree for each class."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd
from equal_trees_methods import OURS, RIVALS
from equal_trees_plot import TITLES
from equal_trees_tables import (
    SIGNS,
    against_better,
    best_mean,
    markdown,
    means_by_data,
    number,
    size_tables,
    winners,
)

MATCHES = ((20, 10), (40, 100))
"""Our trees and the rivals' rounds that are set side by side."""


def in_all_sizes(table: pd.DataFrame) -> pd.DataFrame:
    """The records of the data sets, splits and depths that every method has in all of its sizes."""
    there = table.groupby(["data", "split", "depth"])["size"].transform("size")
    return table[there == there.max()]


def lines(table: pd.DataFrame, shared: pd.DataFrame) -> Iterator[str]:
    by_data = means_by_data(shared)
    yield "# Several classes: a tree for all classes against one for each\n"
    yield (
        f"Means over {shared.data.nunique()} data sets of the means over up to {shared.split.nunique()} splits; "
        f"at most {shared.rows.max():,} training rows. {TITLES[OURS]} grows one tree for all classes; a rival's round "
        "is one tree for each class. The rows of classes too rare for every fold always train. "
        f"{len(table) - len(shared)} of {len(table)} results are left out: another method or size is not there yet."
    )
    yield from few_against_more(by_data)
    if OURS in set(by_data.method):
        yield from against_better(pd.concat([matched(by_data, *match) for match in MATCHES]), "", among=tuple(RIVALS))
    for match in MATCHES:
        for figure in SIGNS:
            yield from winners(matched(by_data, *match), figure, name_of(*match))
    yield from size_tables(by_data, "trees / rounds")


def name_of(n_trees: int, n_rounds: int) -> str:
    return f"{n_trees} trees / {n_rounds} rounds"


def matched(by_data: pd.DataFrame, n_trees: int, n_rounds: int) -> pd.DataFrame:
    """Ours of one size and the rivals of another, under one name of the size."""
    size = (by_data.method == OURS).map({True: n_trees, False: n_rounds})
    return by_data[by_data["size"] == size].assign(size=name_of(n_trees, n_rounds))


def few_against_more(by_data: pd.DataFrame) -> Iterator[str]:
    """Ours and the rival with the best mean side by side, with the trees and leaves that they have on average."""
    yield "\n## Few trees for all classes against rounds of one for each\n"
    yield "Accuracy in % / log loss, of the rival with the best mean of each; below, the mean trees and leaves.\n"
    header = ["depth"]
    for n_trees, n_rounds in MATCHES:
        header += [f"{TITLES[OURS]}, {n_trees} trees", f"best rival, {n_rounds} rounds"]
    depths = by_data.groupby("depth")
    rows = ([d, *(cell for match in MATCHES for cell in _sides(matched(part, *match)))] for d, part in depths)
    yield from markdown(header, rows)


def _sides(part: pd.DataFrame) -> Iterator[str]:
    yield _side(part[part.method == OURS], lambda method: "")
    yield _side(part[part.method != OURS], lambda method: f"{TITLES[method]} ")


def _side(part: pd.DataFrame, name: Callable[[str], str]) -> str:
    """The best mean of each figure among some methods; trees and leaves are of the most accurate."""
    if part.empty:
        return "-"
    means = part.groupby("method", observed=True).mean(numeric_only=True)
    best = {figure: best_mean(means[[figure]].T, figure) for figure in SIGNS}
    scores = " / ".join(f"{name(best[figure])}{number(means[figure][best[figure]], figure)}" for figure in SIGNS)
    trees, leaves = (number(means[figure][best["accuracy"]], "n_leaves") for figure in ("n_trees", "n_leaves"))
    return f"{scores}<br>{trees} trees, {leaves} leaves"
