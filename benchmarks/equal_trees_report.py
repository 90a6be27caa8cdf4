"""The report of the comparison at equal size: a markdown file and two pictures for each task that has results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equal_trees_numbers_tables as numbers
import equal_trees_several as several
import pandas as pd
from equal_trees_data import SMALL
from equal_trees_methods import OURS
from equal_trees_plot import (
    ACCURACY,
    ALLOWED,
    COUNTED,
    ERROR,
    RELATIVE_ERROR,
    TITLES,
    Across,
    Up,
    draw_by_data,
    draw_means,
)
from equal_trees_tables import (
    DECIMALS,
    FIGURES,
    RIVALS,
    against_better,
    markdown,
    means,
    means_by_data,
    record,
    size_tables,
    winners,
)

CELL = ["data", "split", "depth", "size"]
SIZE_OF_WINS, FEW, MANY = 20, 40, 100


@dataclass(frozen=True)
class Report:
    """What is written of the results on data of one task."""

    name: str
    comparable: Callable[[pd.DataFrame], pd.DataFrame]
    lines: Callable[[pd.DataFrame, pd.DataFrame], Iterator[str]]
    trees: Across
    depth_by_data: int
    averages: Callable[[pd.DataFrame], pd.DataFrame] = means
    up: Up = ACCURACY
    up_by_data: Up = ACCURACY

    def write(self, table: pd.DataFrame, folder: Path) -> list[Path]:
        shared = self.comparable(table)
        if shared.empty:
            return []
        names = (f"{self.name}.md", f"{self.name}.png", f"{self.name}_by_data.png")
        tables, picture, picture_by_data = (folder / name for name in names)
        tables.write_text("\n".join(self.lines(table, shared)) + "\n")
        by_data = means_by_data(shared)
        draw_means(self.averages(by_data), self.trees, self.up, picture)
        draw_by_data(by_data, self.depth_by_data, self.trees, self.up_by_data, picture_by_data)
        return [path for path in (tables, picture, picture_by_data) if path.exists()]


def write_report(records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """What was written; nothing without results that every method has."""
    table = pd.DataFrame(records)
    table["method"] = pd.Categorical(table.method, [name for name in TITLES if name in set(table.method)])
    if "accuracy" in table:
        table["accuracy"] *= 100
    n_classes = table.get("n_classes", pd.Series(2, table.index)).fillna(2)
    parts = ((TWO_CLASSES, n_classes == 2), (SEVERAL_CLASSES, n_classes > 2), (NUMBERS, n_classes == 0))
    return [path for task, rows in parts for path in task.write(table[rows], folder)]


def in_all_methods(table: pd.DataFrame) -> pd.DataFrame:
    """The records of the data sets, splits, depths and sizes that every method has."""
    there = table.groupby(CELL)["method"].transform("nunique")
    return table[there == table.method.nunique()]


def lines(table: pd.DataFrame, shared: pd.DataFrame) -> Iterator[str]:
    by_data = means_by_data(shared)
    yield "# Equal numbers of trees\n"
    yield (
        f"Means over {shared.data.nunique()} data sets of the means over up to {shared.split.nunique()} splits; "
        f"at most {shared.rows.max():,} training rows. "
        f"{len(table) - len(shared)} of {len(table)} results are left out: another method is not there yet."
    )
    yield from size_tables(by_data, "trees")
    if OURS in set(by_data.method):
        yield from against_better(by_data, "")
        yield from against_better(by_data[~by_data.data.isin(SMALL)], ", data sets of at least 500 rows")
        yield from few_against_many(means_by_data(table))
    yield from winners(by_data[by_data["size"] == SIZE_OF_WINS], "accuracy", f"{SIZE_OF_WINS} trees")


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


TWO_CLASSES = Report("equal_trees", in_all_methods, lines, ALLOWED, 3)
SEVERAL_CLASSES = Report("equal_trees_several", several.in_all_sizes, several.lines, COUNTED, 4)
NUMBERS = Report(
    "equal_trees_numbers", in_all_methods, numbers.lines, ALLOWED, 3, numbers.averages, RELATIVE_ERROR, ERROR
)
