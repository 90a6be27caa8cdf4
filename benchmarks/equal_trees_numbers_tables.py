"""The tables of numbers: errors of data sets with different units are divided before they are averaged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from equal_trees_methods import OURS
from equal_trees_plot import RELATIVE_ERROR, TITLES
from equal_trees_tables import ERRORS, RIVALS, markdown, means, means_by_data, number, record, size_tables

FEW, MANY = 30, 100
CELL = ["depth", "size", "data"]


def lines(table: pd.DataFrame, shared: pd.DataFrame) -> Iterator[str]:
    by_data = means_by_data(shared)
    yield "# Numbers: equal numbers of trees\n"
    yield (
        f"{shared.data.nunique()} data sets, means over up to {shared.split.nunique()} splits; "
        f"at most {shared.rows.max():,} training rows. Means over data sets are geometric means of ratios: "
        "below 1 is better than what it is divided by. "
        f"{len(table) - len(shared)} of {len(table)} results are left out: another method is not there yet."
    )
    for figure in ERRORS:
        yield from against_better(by_data, figure)
    yield from few_against_many(means_by_data(table))
    for figure in ERRORS:
        yield from winners(by_data[by_data["size"] == FEW], figure)
    yield from size_tables(by_data, "trees")


def averages(by_data: pd.DataFrame) -> pd.DataFrame:
    """Means over data sets; the RMSE is divided by the rivals' least on the data set, of any depth and number of trees.

    One divisor for all sizes leaves the curves falling as models grow.
    """
    rivals = by_data.method.isin(RIVALS)
    least = (by_data[rivals] if rivals.any() else by_data).groupby("data").rmse.min()
    ratios = by_data.assign(ratio=by_data.rmse / by_data.data.map(least))
    relative = ratios.groupby(["depth", "size", "method"], observed=True).ratio.agg(geometric_mean).unstack("method")
    return pd.concat({RELATIVE_ERROR.figure: relative}, axis=1).join(means(by_data))


def against_better(by_data: pd.DataFrame, figure: str) -> Iterator[str]:
    """Every method divided by the better rival on each data set, of the same depth and number of trees."""
    wide = by_data.pivot(index=CELL, columns="method", values=figure)
    rivals = [name for name in RIVALS if name in wide]
    if not rivals:
        return
    ratios = wide.div(wide[rivals].min(axis=1), axis=0)
    names = " and ".join(TITLES[name] for name in rivals)
    yield f"\n## {ERRORS[figure]} divided by the better of {names} on each data set\n"
    yield f"The better of the same depth and number of trees; ± standard error; data sets that {TITLES[OURS]} won.\n"
    methods = list(ratios)
    header = ["depth", "trees", *(TITLES[name] for name in methods), "won / tied / lost", "data sets"]
    rows = []
    for (depth, size), part in ratios.groupby(["depth", "size"]):
        wins = record(1 - part[OURS]) if OURS in part else "-"
        rows.append([depth, size, *(with_error(part[name]) for name in methods), wins, len(part)])
    yield from markdown(header, rows)


def few_against_many(by_data: pd.DataFrame) -> Iterator[str]:
    """Ours with few trees divided by a rival with many."""
    rival = RIVALS[0]
    few = by_data[(by_data.method == OURS) & (by_data["size"] == FEW)].set_index(["depth", "data"])
    many = by_data[(by_data.method == rival) & (by_data["size"] == MANY)].set_index(["depth", "data"])
    both = few.join(many, how="inner", lsuffix="_few", rsuffix="_many")
    if both.empty:
        return
    yield f"\n## {TITLES[OURS]} with {FEW} trees divided by {TITLES[rival]} with {MANY}\n"
    rows = []
    for depth, part in both.groupby("depth"):
        ratios = [part[f"{figure}_few"] / part[f"{figure}_many"] for figure in ERRORS]
        leaves = (number(part[f"n_leaves_{side}"].mean(), "n_leaves") for side in ("few", "many"))
        cells = (cell for ratio in ratios for cell in (with_error(ratio), record(1 - ratio)))
        rows.append([depth, *cells, " / ".join(leaves), len(part)])
    compared = (text for title in ERRORS.values() for text in (title, "won / tied / lost"))
    yield from markdown(["depth", *compared, "leaves", "data sets"], rows)


def winners(part: pd.DataFrame, figure: str) -> Iterator[str]:
    """Who is best on each data set, and how often ours wins against each rival."""
    wide = part.pivot(index=["data", "depth"], columns="method", values=figure)
    if OURS not in wide or len(wide.columns) == 1 or wide.empty:
        return
    yield f"\n## The least {ERRORS[figure]} by data set, {FEW} trees\n"
    yield f"In brackets: {TITLES[OURS]} divided by the best other.\n"
    rivals = [name for name in wide if name != OURS]
    cells = wide.apply(winner, axis=1).unstack("depth")
    depths = [f"depth {depth}" for depth in cells]
    yield from markdown(["data set", *depths], ([name, *row] for name, row in cells.iterrows()))
    yield f"\n{TITLES[OURS]} against each: data sets won / tied / lost in {ERRORS[figure]}, {FEW} trees\n"
    scores = {name: (1 - wide[OURS] / wide[name]).groupby("depth").apply(record) for name in rivals}
    yield from markdown(["against", *depths], ([TITLES[name], *score] for name, score in scores.items()))


def winner(row: pd.Series) -> str:
    return f"{TITLES[row.idxmin()]} ({row[OURS] / row.drop(OURS).min():.3f})"


def geometric_mean(ratios: pd.Series) -> float:
    return float(np.exp(np.log(ratios).mean()))


def with_error(ratios: pd.Series) -> str:
    """The geometric mean, and the standard error of it over the data sets."""
    mean = geometric_mean(ratios)
    return f"{mean:.3f} ± {mean * np.log(ratios).sem():.3f}"
