"""The tables of the comparison at equal size, as one markdown file; losses are there as well as wins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from equal_trees_data import SMALL
from equal_trees_methods import OURS
from equal_trees_plot import TITLES, draw_by_data, draw_means

TABLES, PICTURE, PICTURE_BY_DATA = "equal_trees.md", "equal_trees.png", "equal_trees_by_data.png"
CELL = ["data", "split", "depth", "size"]
RIVALS = ("xgboost", "lightgbm")
FIGURES = {"accuracy": "Accuracy, %", "log_loss": "Log loss", "auc": "AUC", "n_leaves": "Leaves", "n_trees": "Trees"}
DECIMALS = {"accuracy": 2, "log_loss": 4, "auc": 4, "n_leaves": 0, "n_trees": 1}
SIZE_OF_WINS, FEW, MANY = 20, 40, 100
DEPTH_BY_DATA = 3


def write_report(records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """The markdown file and both pictures; without a cell that every method has there is none."""
    table = pd.DataFrame(records).assign(accuracy=lambda frame: 100 * frame.accuracy)
    table["method"] = pd.Categorical(table.method, [name for name in TITLES if name in set(table.method)])
    shared = in_all_methods(table)
    if shared.empty:
        return []
    by_data = means_by_data(shared)
    (folder / TABLES).write_text("\n".join(lines(table, shared, by_data)) + "\n")
    draw_means(means(by_data), folder / PICTURE)
    draw_by_data(by_data, DEPTH_BY_DATA, folder / PICTURE_BY_DATA)
    return [folder / name for name in (TABLES, PICTURE, PICTURE_BY_DATA) if (folder / name).exists()]


def means_by_data(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the splits."""
    return table.groupby(["data", "depth", "size", "method"], observed=True)[list(FIGURES)].mean().reset_index()


def in_all_methods(table: pd.DataFrame) -> pd.DataFrame:
    """The records of the data sets, splits, depths and sizes that every method has."""
    there = table.groupby(CELL)["method"].transform("nunique")
    return table[there == table.method.nunique()]


def means(by_data: pd.DataFrame) -> pd.DataFrame:
    """Means over data sets, each counting once; index depth and size, columns figure and method."""
    return by_data.groupby(["depth", "size", "method"], observed=True)[list(FIGURES)].mean().unstack("method")


def lines(table: pd.DataFrame, shared: pd.DataFrame, by_data: pd.DataFrame) -> Iterator[str]:
    yield "# Equal numbers of trees\n"
    yield (
        f"Means over {shared.data.nunique()} data sets of the means over up to {shared.split.nunique()} splits; "
        f"at most {shared.rows.max():,} training rows. "
        f"{len(table) - len(shared)} of {len(table)} results are left out: another method is not there yet."
    )
    yield from size_tables(by_data)
    if OURS in set(by_data.method):
        yield from against_better(by_data, "")
        yield from against_better(by_data[~by_data.data.isin(SMALL)], ", data sets of at least 500 rows")
        yield from few_against_many(means_by_data(table))
    yield from winners(by_data)


def size_tables(by_data: pd.DataFrame) -> Iterator[str]:
    """One table a figure, a row for each depth and number of trees."""
    table, n_data = means(by_data), by_data.groupby(["depth", "size"]).data.nunique()
    for figure, title in FIGURES.items():
        yield f"\n## {title}\n"
        methods = list(table[figure])
        rows = (
            [depth, size, *(f"{row[name]:,.{DECIMALS[figure]}f}" for name in methods), n_data[depth, size]]
            for (depth, size), row in table[figure].iterrows()
        )
        yield from markdown(["depth", "trees", *(TITLES[name] for name in methods), "data sets"], rows)


def against_better(by_data: pd.DataFrame, which: str) -> Iterator[str]:
    """Ours minus the rival with the better mean, and the standard error of that over the data sets."""
    rivals = [name for name in RIVALS if name in set(by_data.method)]
    if not rivals or by_data.empty:
        return
    yield f"\n## {TITLES[OURS]} minus the better of {' and '.join(TITLES[name] for name in rivals)}{which}\n"
    yield "Accuracy in points (above zero: ours is better), log loss (below zero: ours is better); ± standard error.\n"
    rows = []
    for (depth, size), part in by_data.groupby(["depth", "size"]):
        wide = part.pivot(index="data", columns="method", values=["accuracy", "log_loss"])
        row: list[object] = [depth, size]
        for figure, sign in (("accuracy", 1), ("log_loss", -1)):
            better = (sign * wide[figure][rivals].mean()).idxmax()
            gain = wide[figure][OURS] - wide[figure][better]
            row += [TITLES[better], f"{gain.mean():+.{DECIMALS[figure]}f} ± {gain.sem():.{DECIMALS[figure]}f}"]
        rows.append(row)
    yield from markdown(["depth", "trees", "better in accuracy", "points", "better in log loss", "log loss"], rows)


def few_against_many(by_data: pd.DataFrame) -> Iterator[str]:
    """Ours with few trees against a rival with many."""
    few = by_data[(by_data.method == OURS) & (by_data["size"] == FEW)].set_index(["depth", "data"])
    many = by_data[(by_data.method == RIVALS[0]) & (by_data["size"] == MANY)].set_index(["depth", "data"])
    both = few.join(many, how="inner", lsuffix="_few", rsuffix="_many")
    if both.empty:
        return
    yield f"\n## {TITLES[OURS]} with {FEW} trees against {TITLES[RIVALS[0]]} with {MANY}\n"
    rows = []
    for depth, part in both.groupby("depth"):
        gain = part.accuracy_few - part.accuracy_many
        pairs = (f"{part[f'{f}_few'].mean():,.{d}f} / {part[f'{f}_many'].mean():,.{d}f}" for f, d in DECIMALS.items())
        rows.append([depth, *pairs, f"{gain.mean():+.2f} ± {gain.sem():.2f}", record(gain)])
    yield from markdown(["depth", *FIGURES.values(), "points", "won / tied / lost"], rows)


def winners(by_data: pd.DataFrame) -> Iterator[str]:
    """Who is most accurate on each data set, by how much over the next, and how often ours wins against each rival."""
    part = by_data[by_data["size"] == SIZE_OF_WINS]
    if part.empty:
        return
    wide = part.pivot(index=["data", "depth"], columns="method", values="accuracy")
    yield f"\n## The most accurate by data set, {SIZE_OF_WINS} trees\n"
    yield "In brackets: ours minus the best rival, in points.\n" if OURS in wide else ""
    cells = wide.apply(winner, axis=1).unstack("depth")
    yield from markdown(["data set", *(f"depth {d}" for d in cells)], ([i, *row] for i, row in cells.iterrows()))
    if OURS not in wide:
        return
    yield f"\n{TITLES[OURS]} against each: data sets won / tied / lost in accuracy, {SIZE_OF_WINS} trees\n"
    rivals = [name for name in wide if name != OURS]
    scores = {name: (wide[OURS] - wide[name]).groupby("depth").apply(record) for name in rivals}
    yield from markdown(["against", *(f"depth {d}" for d in cells)], ([TITLES[n], *s] for n, s in scores.items()))


def winner(row: pd.Series) -> str:
    row = row.dropna().round(6)
    best = " = ".join(TITLES[name] for name in row.index[row == row.max()])
    if OURS not in row or len(row) == 1:
        return best
    return f"{best} ({row[OURS] - row.drop(OURS).max():+.2f})"


def record(gains: pd.Series) -> str:
    gains = gains.dropna().round(6)
    return f"{(gains > 0).sum()} / {(gains == 0).sum()} / {(gains < 0).sum()}"


def markdown(header: Iterable[object], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    columns = list(header)
    every_row: list[Iterable[object]] = [columns, ["---"] * len(columns), *rows]
    for row in every_row:
        yield "| " + " | ".join("-" if cell != cell else str(cell) for cell in row) + " |"
