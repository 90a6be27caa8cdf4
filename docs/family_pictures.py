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
from dualboost.study.methods import METHODS
from dualboost.study.results import CELL, Results, read_results

DOCS = Path(__file__).parent
DATASET, DEPTH = "waveform", 1
BRANCHES = {
    "the worst margins": ("hard", "total", "lp-nu", "soft", "mlp"),
    "hinge losses, and pulls to uniform": ("lp", "dda", "spatial", "cg", "erlp", "qrlp"),
    "all margins": ("nm", "md", "md-full", "cq", "convex", "lexi"),
}
"""The panels of the margins; a method that is in none of them goes to the last."""
SHIFTS = (0.0, 0.03, -0.03, 0.06, -0.06)
"""Of a name, up or down, as parts of the axis."""


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
        finish(ax, title=title, xlabel="margin, by the sum of the weights", xlim=(-0.8, 1.0), ylim=(0.0, 1.0))
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
        ours = np.array([METHODS[name].is_totally_corrective for name in table.index])
        front = table[table["test_accuracy"] >= table["test_accuracy"].cummax()]
        ax.plot(front["trees"], front["test_accuracy"], color="0.8", lw=1.5, zorder=0)
        ax.scatter(table["trees"], table["test_accuracy"], c=np.where(ours, COLOURS[0], COLOURS[1]), s=28)
        label(ax, table)
        finish(ax, title=f"depth {depth}", xlabel="trees used", ylabel="test accuracy")
    return figure


def label(ax: Any, table: pd.DataFrame) -> None:
    """Names beside the points, above or below where the last one would be written over."""
    width, height = table["trees"].max() - table["trees"].min(), np.ptp(table["test_accuracy"])
    written: list[tuple[float, float]] = []
    for name, row in table.iterrows():
        x, y = row["trees"] / width, row["test_accuracy"] / height
        shift = next((one for one in SHIFTS if is_free(x, y + one, written)), 0.0)
        written.append((x, y + shift))
        at = row["trees"], row["test_accuracy"]
        ax.annotate(str(name), at, xytext=(6, 300 * shift - 3), textcoords="offset points", fontsize=9)


def is_free(x: float, y: float, written: list[tuple[float, float]]) -> bool:
    return all(abs(other_x - x) > 0.14 or abs(other_y - y) > 0.028 for other_x, other_y in written)


if __name__ == "__main__":
    main()
