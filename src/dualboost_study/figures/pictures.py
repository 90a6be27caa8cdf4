"""The pictures of the page of results: one figure each, over all data sets or of two that the paper shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ..protocol import METHODS
from ..sizes import ANY_DEPTH
from .over_datasets import draw_diagram, draw_means, tables_of
from .panels import Data, Panels, style, two_in_a_row, whole_numbers, with_legend, with_margins

SHOWN = ("german_credit", "ringnorm")
"""The data sets whose margins are drawn: those of the paper's figures, or the first two."""
SHOWN_DEPTHS = (1, 5)
"""The depths that the paper shows margins of."""
FASTER = (10, 100, 1_000, 10_000)
"""Lines in the picture of times."""
TICKS = {"trees": [1, 2, 5, 10, 20, 40, 100], "leaves": [10, 20, 40, 80, 160]}


def _panels(data: Data, plt: Any) -> tuple[Any, Panels]:
    """A panel for each depth, two in a row."""
    figure, axes = two_in_a_row(len(data["depths"]), plt)
    for depth, ax in zip(data["depths"], axes, strict=True):
        ax.set_title(f"depth {depth}", fontsize=10)
        ax.grid(alpha=0.3)
    return figure, dict(zip(data["depths"], axes, strict=True))


def accuracy_and_trees(data: Data, plt: Any) -> Any | None:
    tables = tables_of(data, "cart")
    if not tables:
        return None
    figure, panels = _panels(data, plt)
    draw_means(panels, tables)
    return with_legend(figure, panels, "trees used", "test accuracy")


def equal_size(data: Data, plt: Any) -> Any | None:
    """Accuracy within so many trees, a panel for each depth, and within so many leaves."""
    sizes = data["sizes"]
    if not sizes["means"]:
        return None
    depths = sorted({row["depth"] for row in sizes["means"] if row["depth"] != ANY_DEPTH})
    shown = [*(("trees", depth, f"trees of depth {depth}") for depth in depths), ("leaves", ANY_DEPTH, "any depth")]
    figure, axes = two_in_a_row(len(shown), plt)
    for ax, (kind, depth, title) in zip(axes, shown, strict=True):
        rows = [row for row in sizes["means"] if (row["kind"], row["depth"]) == (kind, depth)]
        for k, method in enumerate(sizes["methods"]):
            budgets, accuracy = zip(*((row["budget"], row["accuracy"][k]) for row in rows), strict=True)
            ax.plot(budgets, accuracy, marker=".", lw=1.3, **style(method))
        ax.set(title=title, xscale="log", xlabel=f"{kind} at most")
        ax.set_xticks(TICKS[kind], [str(tick) for tick in TICKS[kind]])
        ax.minorticks_off()
        ax.grid(alpha=0.3)
    return with_legend(figure, dict(enumerate(axes)), None, "test accuracy")


def ranks(data: Data, plt: Any) -> Any | None:
    """A diagram of critical differences for each depth, two in a row."""
    tables = [table for table in data["tables"] if table["experiment"] == "cart" and table["ranks"]]
    if not tables:
        return None
    figure, axes = two_in_a_row(len(tables), plt, height=2.3)
    for ax, table in zip(axes, tables, strict=True):
        draw_diagram(table, ax)
        ax.set_title(f"depth {table['depth']}", fontsize=9)
    return figure


def anytime(data: Data, plt: Any) -> Any | None:
    """The accuracy after each iteration, the mean over the data sets that all methods have at a depth."""
    curves = [curve for curve in data["anytime"] if curve["experiment"] == "cart"]
    if not curves or not data["stages_are_optimal"]:
        return None
    figure, panels = _panels(data, plt)
    for depth, ax in panels.items():
        for method, accuracy in _mean_curves([curve for curve in curves if curve["depth"] == depth]).items():
            ax.step(np.arange(1, len(accuracy) + 1), accuracy, where="post", lw=1.3, **style(method))
        whole_numbers(ax.xaxis)
    return with_legend(figure, panels, "iteration", "mean test accuracy")


def _mean_curves(curves: list[dict[str, Any]]) -> dict[str, Any]:
    table = pd.DataFrame({(curve["method"], curve["dataset"]): pd.Series(curve["mean"]) for curve in curves}).ffill()
    if table.empty:
        return {}
    methods, datasets = (list(table.columns.unique(level)) for level in (0, 1))
    whole = [name for name in datasets if all((method, name) in table for method in methods)]
    methods.sort(key=list(METHODS).index)
    return {method: table[[(method, name) for name in whole]].mean(axis=1).to_numpy() for method in methods}


def margins(data: Data, plt: Any) -> Any | None:
    """The distribution of the test margins of two data sets, with shallow and with deeper trees."""
    curves = [curve for curve in data["margins"] if curve["experiment"] == "cart"]
    there = sorted({curve["dataset"] for curve in curves})
    datasets = [name for name in SHOWN if name in there] or there[:2]
    depths = [depth for depth in SHOWN_DEPTHS if depth in data["depths"]] or data["depths"][:2]
    shown = [(dataset, depth) for dataset in datasets for depth in depths]
    if not shown:
        return None
    figure, axes = two_in_a_row(len(shown), plt)
    for ax, (dataset, depth) in zip(axes, shown, strict=True):
        ax.set_title(f"{dataset}, depth {depth}", fontsize=9)
        ax.grid(alpha=0.3)
        own = [curve for curve in curves if (curve["dataset"], curve["depth"]) == (dataset, depth)]
        for curve in own:
            if curve["method"] in with_margins(data):
                ax.step(curve["margin"], curve["quantile"], where="post", lw=1.2, **style(curve["method"]))
    return with_legend(figure, dict(enumerate(axes)), "margin", "share of test rows")


def times(data: Data, plt: Any) -> Any | None:
    """Our seconds for a fit with stumps against the paper's, a point for each data set and method."""
    rows = [row for row in data["paper_seconds"] if row["method"] in data["ours"] and row["paper_seconds"]]
    if not rows:
        return None
    figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for method in [name for name in data["ours"] if any(row["method"] == name for row in rows)]:
        x, y = ([row[name] for row in rows if row["method"] == method] for name in ("paper_seconds", "seconds"))
        ax.plot(x, y, "o", alpha=0.75, **style(method))
    ax.set(xscale="log", yscale="log")
    (left, right), (_, top) = ax.get_xlim(), ax.get_ylim()
    for factor in FASTER:
        ax.plot([left, right], [left / factor, right / factor], color="0.6", lw=0.8, zorder=0, scaley=False)
        end = min(right, top * factor) / 1.25  # where the line leaves the picture, less what the label needs
        ax.annotate(f"{factor:,} times as fast ", (end, end / factor), ha="right", va="center", fontsize=7, color="0.4")
    ax.set_xlim(left, right)
    ax.grid(alpha=0.3)
    return with_legend(figure, {0: ax}, "seconds for a fit in the paper (Gurobi)", "seconds here")


PICTURES: dict[str, Callable[[Data, Any], Any | None]] = {
    "accuracy_and_trees": accuracy_and_trees,
    "equal_size": equal_size,
    "ranks": ranks,
    "anytime": anytime,
    "margins": margins,
    "times": times,
}
"""By what they show; a function returns None where the results have nothing to draw."""
