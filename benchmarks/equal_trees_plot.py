"""The pictures of the comparison at equal size: a figure against trees and leaves, on average and by data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
from equal_trees_methods import OURS
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

TITLES = {
    OURS: "dualboost",
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
    "hist": "HistGradientBoosting",
    "rgf": "regularized greedy forest",
    "ebm": "EBM",
    "figs": "FIGS",
}
STRONG = {"color": "#d1345b", "linewidth": 2.2, "marker": "o", "markersize": 4.5, "zorder": 5}
MUTED = {
    "xgboost": {"color": "#5b7083", "linestyle": "-", "marker": "s"},
    "lightgbm": {"color": "#7fa88b", "linestyle": "--", "marker": "^"},
    "hist": {"color": "#b39b72", "linestyle": "-.", "marker": "D"},
    "rgf": {"color": "#9a86b5", "linestyle": ":", "marker": "v"},
    "ebm": {"color": "#6fa8bf", "linestyle": ":", "marker": "P"},
    "figs": {"color": "#a0a0a0", "linestyle": ":", "marker": "X"},
}
N_COLUMNS = 4
WIDTH_OF_LEGEND = 5.5
FONTS: dict[Any, Any] = {"font.size": 8.5, "axes.titlesize": 9.5, "axes.labelsize": 8.5, "axes.spines.top": False}
FONTS |= {"axes.spines.right": False, "axes.edgecolor": "#888888", "xtick.color": "#444444", "ytick.color": "#444444"}


class Across(NamedTuple):
    """What stands along an axis: its label, the values of a method by size, and how the axis is marked."""

    label: str
    values: Callable[[pd.DataFrame, str], Any]
    mark: Callable[[Axes, Iterable[int]], None]


class Up(NamedTuple):
    """What stands up an axis: the figure, its label, how the axis is marked, and whether all depths share a scale."""

    figure: str
    label: str
    mark: Callable[[Axes], None]
    is_shared: bool = True


def draw_means(means: pd.DataFrame, trees: Across, up: Up, path: Path) -> None:
    """One column of panels a depth; above against trees, below against leaves."""
    depths = means.index.unique("depth")
    with plt.rc_context(FONTS):
        figure, axes = plt.subplots(
            2,
            len(depths),
            figsize=(max(2.25 * len(depths), WIDTH_OF_LEGEND), 5.0),
            sharey="all" if up.is_shared else "col",
            squeeze=False,
            layout="constrained",
        )
        for (above, below), depth in zip(axes.T, depths, strict=True):
            part = means.loc[depth]
            for method in _ours_last(part[up.figure]):
                for ax, across in ((above, trees), (below, LEAVES)):
                    ax.plot(across.values(part, method), part[up.figure, method], **_style(method))
            for ax, across in ((above, trees), (below, LEAVES)):
                across.mark(ax, part.index)
                ax.set_xlabel(across.label)
            above.set_title(f"depth {depth}")
        for ax in axes[:, 0]:
            ax.set_ylabel(up.label)
        _finish(figure, axes.flat, means[up.figure], up)
        figure.savefig(path, dpi=200)
        plt.close(figure)


def draw_by_data(by_data: pd.DataFrame, depth: int, trees: Across, up: Up, path: Path) -> None:
    """One panel a data set: a figure against trees at one depth, each on its own scale."""
    part = by_data[by_data.depth == depth]
    names = sorted(part.data.unique())
    if not names:
        return
    n_rows = -(-len(names) // N_COLUMNS)
    with plt.rc_context(FONTS):
        figure, axes = plt.subplots(
            n_rows, N_COLUMNS, figsize=(9.0, 1.75 * n_rows + 0.6), squeeze=False, layout="constrained"
        )
        for ax, name in zip(axes.flat, names, strict=False):
            lines = part[part.data == name].pivot(index="size", columns="method", values=[up.figure, "n_trees"])
            for method in _ours_last(lines[up.figure]):
                ax.plot(trees.values(lines, method), lines[up.figure, method], **_style(method))
            trees.mark(ax, lines.index)
            ax.set_title(name.replace("_", " "))
        for ax in axes.flat[len(names) :]:
            ax.set_visible(False)
        figure.supylabel(up.label, fontsize=8.5)
        figure.supxlabel(f"{trees.label}, depth {depth}", fontsize=8.5)
        wide = part.pivot_table(index="size", columns="method", values=up.figure, observed=True)
        _finish(figure, axes.flat, wide, up)
        figure.savefig(path, dpi=200)
        plt.close(figure)


def _ours_last(methods: Iterable[str]) -> list[str]:
    return sorted(methods, key=lambda name: name == OURS)


def _style(method: str) -> dict[str, Any]:
    style = STRONG if method == OURS else MUTED[method] | {"linewidth": 1.4, "markersize": 3.2, "zorder": 3}
    return style | {"label": TITLES[method]}


def _mark_sizes(ax: Axes, sizes: Iterable[int]) -> None:
    """A size stays without its number if the next, less than half as much again, leaves no room for it."""
    sizes = list(sizes)
    followers = [*sizes[1:], inf]
    ax.set_xscale("log")
    ax.set_xticks(sizes, [str(a) if b >= 1.5 * a else "" for a, b in zip(sizes, followers, strict=True)])
    ax.minorticks_off()


def _mark_decades(ax: Axes, sizes: Iterable[int]) -> None:
    """At 1, 3, 10, ..., since what was counted is not the same for all methods of a size."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.minorticks_off()


def _mark_evenly(ax: Axes) -> None:
    ax.yaxis.set_major_locator(MaxNLocator(5))


def _mark_ratios(ax: Axes) -> None:
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(MaxNLocator(6, min_n_ticks=4))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_locator(NullLocator())


ALLOWED = Across("trees allowed", lambda part, method: part.index, _mark_sizes)
COUNTED = Across("trees", lambda part, method: part["n_trees", method], _mark_decades)
LEAVES = Across("leaves", lambda part, method: part["n_leaves", method], _mark_decades)


ACCURACY = Up("accuracy", "accuracy on rows not seen, %", _mark_evenly)
RELATIVE_ERROR = Up("relative_rmse", "RMSE / the rivals' least", _mark_ratios, is_shared=False)
ERROR = Up("rmse", "RMSE on rows not seen", _mark_evenly)


def _finish(figure: Figure, axes: Iterable[Axes], lines: pd.DataFrame, up: Up) -> None:
    """Faint lines to read by and one legend, ours first."""
    for ax in axes:
        ax.grid(color="#e4e4e4", linewidth=0.7)
        ax.set_axisbelow(True)
        up.mark(ax)
        handles = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True)) if ax.get_visible() else {}
        if handles:
            shown = handles
    titles = [TITLES[name] for name in lines]
    figure.legend(
        [shown[title] for title in titles], titles, loc="outside upper center", ncols=len(titles), frameon=False
    )
