"""What the tables of the comparison at equal size share, whatever the task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd
from equal_trees_methods import OURS
from equal_trees_plot import TITLES

RIVALS = ("xgboost", "lightgbm")
FIGURES = {"accuracy": "Accuracy, %", "log_loss": "Log loss", "auc": "AUC", "n_leaves": "Leaves", "n_trees": "Trees"}
ERRORS = {"rmse": "RMSE", "mae": "MAE"}
DECIMALS = {"accuracy": 2, "log_loss": 4, "auc": 4, "n_leaves": 0, "n_trees": 1}
SIGNS = {"accuracy": 1, "log_loss": -1}
"""Which way a figure that methods are compared by is better."""
BEST = {"accuracy": "most accurate", "log_loss": "least log loss"}
GAINS = {"accuracy": "ours minus the best rival, in points", "log_loss": "the best rival minus ours"}


def means_by_data(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the splits of the figures that are there."""
    figures = [figure for figure in FIGURES | ERRORS if figure in table and table[figure].notna().any()]
    return table.groupby(["data", "depth", "size", "method"], observed=True)[figures].mean().reset_index()


def means(by_data: pd.DataFrame) -> pd.DataFrame:
    """Means over data sets, each counting once; index depth and size, columns figure and method."""
    figures = [figure for figure in FIGURES if figure in by_data]
    return by_data.groupby(["depth", "size", "method"], observed=True)[figures].mean().unstack("method")


def size_tables(by_data: pd.DataFrame, size: str) -> Iterator[str]:
    """One table a figure, a row for each depth and size."""
    table, n_data = means(by_data), by_data.groupby(["depth", "size"]).data.nunique()
    for figure in table.columns.unique(0):
        yield f"\n## {FIGURES[figure]}\n"
        methods = list(table[figure])
        rows = (
            [depth, size, *(number(row[name], figure) for name in methods), n_data[depth, size]]
            for (depth, size), row in table[figure].iterrows()
        )
        yield from markdown(["depth", size, *(TITLES[name] for name in methods), "data sets"], rows)


def against_better(by_data: pd.DataFrame, which: str, among: Sequence[str] = RIVALS) -> Iterator[str]:
    """Ours minus the rival with the better mean, and the standard error of that over the data sets."""
    rivals = [name for name in among if name in set(by_data.method)]
    if not rivals or by_data.empty:
        return
    yield f"\n## {TITLES[OURS]} minus the better of {' and '.join(TITLES[name] for name in rivals)}{which}\n"
    yield "Accuracy in points (above zero: ours is better), log loss (below zero: ours is better); ± standard error.\n"
    rows = []
    for (depth, size), part in by_data.groupby(["depth", "size"]):
        wide = part.pivot(index="data", columns="method", values=list(SIGNS))
        row: list[object] = [depth, size]
        for figure in SIGNS:
            better = best_mean(wide[figure][rivals], figure)
            gain = wide[figure][OURS] - wide[figure][better]
            row += [TITLES[better], f"{gain.mean():+.{DECIMALS[figure]}f} ± {gain.sem():.{DECIMALS[figure]}f}"]
        rows.append(row)
    yield from markdown(["depth", "trees", "better in accuracy", "points", "better in log loss", "log loss"], rows)


def winners(part: pd.DataFrame, figure: str, sizes: str) -> Iterator[str]:
    """Who is best on each data set, by how much over the next, and how often ours wins against each rival."""
    if part.empty:
        return
    wide = SIGNS[figure] * part.pivot(index=["data", "depth"], columns="method", values=figure)
    yield f"\n## The {BEST[figure]} by data set, {sizes}\n"
    yield f"In brackets: {GAINS[figure]}.\n" if OURS in wide else ""
    cells = wide.apply(winner, axis=1, decimals=DECIMALS[figure]).unstack("depth")
    yield from markdown(["data set", *(f"depth {d}" for d in cells)], ([i, *row] for i, row in cells.iterrows()))
    if OURS not in wide:
        return
    in_what = figure.replace("_", " ")
    yield f"\n{TITLES[OURS]} against each: data sets won / tied / lost in {in_what}, {sizes}\n"
    rivals = [name for name in wide if name != OURS]
    scores = {name: (wide[OURS] - wide[name]).groupby("depth").apply(record) for name in rivals}
    yield from markdown(["against", *(f"depth {d}" for d in cells)], ([TITLES[n], *s] for n, s in scores.items()))


def winner(row: pd.Series, decimals: int) -> str:
    row = row.dropna().round(6)
    best = " = ".join(TITLES[name] for name in row.index[row == row.max()])
    if OURS not in row or len(row) == 1:
        return best
    return f"{best} ({row[OURS] - row.drop(OURS).max():+.{decimals}f})"


def record(gains: pd.Series) -> str:
    gains = gains.dropna().round(6)
    return f"{(gains > 0).sum()} / {(gains == 0).sum()} / {(gains < 0).sum()}"


def best_mean(columns: pd.DataFrame, figure: str) -> str:
    """The method with the best mean of a figure; one column a method."""
    return str((SIGNS[figure] * columns.mean()).idxmax())


def number(value: float, figure: str) -> str:
    return "-" if value != value else f"{value:,.{DECIMALS[figure]}f}"


def markdown(header: Iterable[object], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    columns = list(header)
    every_row: list[Iterable[object]] = [columns, ["---"] * len(columns), *rows]
    for row in every_row:
        yield "| " + " | ".join("-" if cell != cell else str(cell) for cell in row) + " |"
