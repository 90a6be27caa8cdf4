"""Draw the two pictures of ``family.md`` anew: ``python docs/family_pictures.py RESULTS``.

RESULTS is the folder of ``dualboost study run --preset family --data FOLDER -o RESULTS``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dualboost.plots.axes import COLOURS, DASHES, finish
from dualboost_study.protocol import METHODS
from dualboost_study.results import CELL, Results, read_results

DOCS = Path(__file__).parent
DATASET, DEPTH = "twonorm", 3
BRANCHES = {
    "the worst margins": ("hard", "total", "lp-nu", "soft", "mlp"),
    "hinge losses, and pulls to uniform": ("lp", "spatial", "cg", "erlp", "qrlp"),
    "all margins": ("nm", "md", "md-full", "cq", "convex", "lexi"),
}
"""The panels of the margins; a method that is in none of them goes to the last."""
OFF_THE_PICTURE = 0.08
"""Methods so far below the best are named in a corner, so that the others can be told apart."""
PLACES = tuple((6 * side, 9 * row) for row in (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5) for side in (1, -1))
"""Where a name may stand, in points from its own; to the right or to the left."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    results = read_results(parser.parse_args().results)
    for name, figure in (("family_margins.png", margins(results)), ("family_trees.png", accuracy_and_trees(results))):
        figure.savefig(DOCS / name, dpi=110)
        print(DOCS / name)


def branches(methods: list[str]) -> dict[str, list[str]]:
    placed = {title: [name for name in names if name in methods] for title, names in BRANCHES.items()}
    known = {name for names in placed.values() for name in names}
    placed[list(placed)[-1]] += [name for name in methods if name not in known and METHODS[name].is_totally_corrective]
    return placed


def margins(results: Results) -> Any:
    """The share of test rows with at most a margin, mean over the splits, one panel a branch of the family."""
    chosen = results.chosen()
    cells = chosen[(chosen["dataset"] == DATASET) & (chosen["depth"] == DEPTH)][CELL]
    curves = results.margins.merge(cells, on=CELL).groupby(["method", "quantile"])["margin"].mean()
    panels = branches(list(cells["method"].unique()))
    figure, axes = plt.subplots(1, len(panels), figsize=(4.2 * len(panels), 4.2), sharey=True, layout="constrained")
    for ax, (title, methods) in zip(axes, panels.items(), strict=True):
        ax.axvline(0.0, color="0.6", lw=1)
        for k, name in enumerate(methods):
            style = {"color": COLOURS[k % len(COLOURS)], "ls": DASHES[k % len(DASHES)]}
            ax.plot(curves[name].to_numpy(), curves[name].index, lw=1.8, label=name, **style)
        finish(ax, title=title, xlabel="margin, by the sum of the weights", xlim=(-0.6, 1.0), ylim=(0.0, 1.0))
        ax.legend(frameon=False, loc="upper left")
    axes[0].set_ylabel(f"share of the test rows of {DATASET}")
    return figure


def accuracy_and_trees(results: Results) -> Any:
    """Means over all data sets and splits, a panel for each depth; no method is above and left of those on the line."""
    chosen = results.chosen()
    means = chosen.groupby(["depth", "dataset", "method"])[["test_accuracy", "trees"]].mean()
    means = means.groupby(["depth", "method"]).mean()
    depths = sorted(chosen["depth"].unique())
    figure, axes = plt.subplots(1, len(depths), figsize=(6.4 * len(depths), 5.2), layout="constrained", squeeze=False)
    for ax, depth in zip(axes[0], depths, strict=True):
        table = means.loc[depth].sort_values("trees")
        is_shown = table["test_accuracy"] > table["test_accuracy"].max() - OFF_THE_PICTURE
        draw_points(ax, table[is_shown])
        below = [f"{name} {row.test_accuracy:.2f} / {row.trees:.0f}" for name, row in table[~is_shown].iterrows()]
        if below:
            ax.text(0.02, 0.02, "below: " + ", ".join(below), transform=ax.transAxes, fontsize=9, color="0.4")
        finish(ax, title=f"depth {depth}", xlabel="trees used", ylabel="test accuracy")
        figure.draw_without_rendering()
        label(ax, table[is_shown])
    return figure


def draw_points(ax: Any, table: pd.DataFrame) -> None:
    ours = np.array([METHODS[name].is_totally_corrective for name in table.index])
    front = table[table["test_accuracy"] >= table["test_accuracy"].cummax()]
    ax.plot(front["trees"], front["test_accuracy"], color="0.8", lw=1.5, zorder=0)
    ax.scatter(table["trees"], table["test_accuracy"], c=np.where(ours, COLOURS[0], COLOURS[1]), s=28)
    ax.margins(0.12)


def label(ax: Any, table: pd.DataFrame) -> None:
    """Names beside the points, at the first place that is free of other names and points."""
    to_points = 72.0 / ax.figure.dpi
    places = to_points * ax.transData.transform(table[["trees", "test_accuracy"]].to_numpy())
    spots = dict(zip(table.index, places, strict=True))
    taken = [(x - 4, x + 4, y - 4, y + 4) for x, y in spots.values()]
    for name, (x, y) in spots.items():
        right, up = next((place for place in PLACES if is_free(box(name, x, y, place), taken)), PLACES[0])
        taken.append(box(name, x, y, (right, up)))
        at = table.loc[name, "trees"], table.loc[name, "test_accuracy"]
        line = {"arrowstyle": "-", "color": "0.7", "lw": 0.7} if abs(up) > 9 else None
        ax.annotate(
            name, at, (right, up), textcoords="offset points", fontsize=9, va="center", arrowprops=line,
            ha="left" if right > 0 else "right",
        )  # fmt: skip


def box(name: str, x: float, y: float, place: tuple[float, float]) -> tuple[float, float, float, float]:
    """Left, right, lower and upper end of a name, in points."""
    width, start = 5.4 * len(name), x + place[0]
    left = start if place[0] > 0 else start - width
    return left, left + width, y + place[1] - 4.5, y + place[1] + 4.5


def is_free(one: tuple[float, ...], taken: list[tuple[float, ...]]) -> bool:
    return all(one[1] < other[0] or other[1] < one[0] or one[3] < other[2] or other[3] < one[2] for other in taken)


if __name__ == "__main__":
    main()
