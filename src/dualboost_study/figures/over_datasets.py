"""Figures over all data sets: accuracy against trees, reweighting, variants of the trees, time, and ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from ..protocol import METHODS
from .panels import Data, Panels, panels_by_depth, style, whole_numbers, with_legend


def _means(table: dict[str, Any], datasets: list[str]) -> pd.DataFrame:
    """The mean accuracy and the mean number of trees of each method over these data sets."""
    frames = {kind: _frame(table, kind).loc[datasets] for kind in ("trees", "accuracy")}
    return pd.DataFrame({kind: frame.mean() for kind, frame in frames.items()})


def _frame(table: dict[str, Any], kind: str) -> pd.DataFrame:
    return pd.DataFrame(table[kind], index=table["datasets"], columns=table["methods"])


def _whole(table: dict[str, Any]) -> list[str]:
    """The data sets that every method has."""
    return list(_frame(table, "accuracy").dropna().index)


def tables_of(data: Data, experiment: str) -> dict[int, dict[str, Any]]:
    return {table["depth"]: table for table in data["tables"] if table["experiment"] == experiment}


def accuracy_against_trees(data: Data, plt: Any) -> Iterator[tuple[str, Any]]:
    for experiment in data["experiments"]:
        figure, panels = panels_by_depth(data, plt)
        draw_means(panels, tables_of(data, experiment))
        yield f"_{experiment}", with_legend(figure, panels, "trees used", "test accuracy")


def draw_means(panels: Panels, tables: dict[int, dict[str, Any]]) -> None:
    """A point for each method, in the panel of each depth."""
    for depth, table in tables.items():
        for method, mean in _means(table, _whole(table)).iterrows():
            panels[depth].plot(mean["trees"], mean["accuracy"], "o", alpha=0.8, **style(str(method)))
        whole_numbers(panels[depth].xaxis)


def reweighting(data: Data, plt: Any) -> Iterator[tuple[str, Any]]:
    """An arrow for each method, from its result with its own trees to that with AdaBoost's trees, reweighted."""
    own, reweighted = tables_of(data, "cart"), tables_of(data, "reweight")
    if not set(own) & set(reweighted):
        return
    figure, panels = panels_by_depth(data, plt)
    for depth in set(own) & set(reweighted):
        shared = [name for name in _whole(own[depth]) if name in _whole(reweighted[depth])]
        before, after = (_means(tables[depth], shared) for tables in (own, reweighted))
        for method in after.index:
            points = pd.DataFrame([before.loc[method], after.loc[method]])
            panels[depth].plot(points["trees"], points["accuracy"], lw=1, color=style(method)["color"])
            panels[depth].plot(*after.loc[method, ["trees", "accuracy"]], "o", **style(method))
        if "adaboost" in before.index:
            panels[depth].plot(*before.loc["adaboost", ["trees", "accuracy"]], "k*", label="AdaBoost")
    yield "", with_legend(figure, panels, "trees used (dot: AdaBoost's trees, reweighted)", "test accuracy")


def variants(data: Data, plt: Any) -> Iterator[tuple[str, Any]]:
    """Box plots of confidence-rated and of optimal trees against CART trees."""
    for variant in data["variants"]:
        rows = pd.DataFrame(variant["rows"], columns=["depth", "method", "dataset", "improvement"])
        if rows.empty:
            continue
        figure, panels = panels_by_depth(data, plt)
        for depth, ax in panels.items():
            part = rows[rows["depth"] == depth]
            ax.boxplot([100 * part.loc[part["method"] == method, "improvement"] for method in data["ours"]])
            ax.set_xticks(range(1, len(data["ours"]) + 1), data["ours"])
            ax.axhline(0.0, color="0.5", lw=1)
        next(iter(panels.values())).set_ylabel("improvement over CART, per cent")
        yield f"_{variant['experiment']}", figure


def seconds(data: Data, plt: Any) -> Iterator[tuple[str, Any]]:
    """Box plots over the data sets of the seconds for a fit."""
    rows = pd.DataFrame(data["seconds"])
    for experiment, part in rows.groupby("experiment"):
        figure, panels = panels_by_depth(data, plt)
        for depth, ax in panels.items():
            here = part[part["depth"] == depth]
            methods = [name for name in METHODS if (here["method"] == name).any()]
            ax.boxplot([here.loc[here["method"] == method, "seconds"] for method in methods])
            ax.set_xticks(range(1, len(methods) + 1), methods, rotation=60)
            ax.set_yscale("log")
        next(iter(panels.values())).set_ylabel("seconds for a fit, one thread")
        yield f"_{experiment}", figure


def critical_difference(data: Data, plt: Any) -> Iterator[tuple[str, Any]]:
    """Demsar's diagram: mean ranks on a line, with bars under methods that do not differ significantly."""
    for table in data["tables"]:
        if table["ranks"]:
            yield f"_{table['experiment']}_depth_{table['depth']}", _diagram(table, plt)


def _diagram(table: dict[str, Any], plt: Any) -> Any:
    figure, ax = plt.subplots(figsize=(7, 0.35 * _height(table) + 0.6), layout="constrained")
    draw_diagram(table, ax)
    ax.set_title(f"{table['experiment']}, depth {table['depth']}", fontsize=9)
    return figure


def _height(table: dict[str, Any]) -> float:
    return (len(table["ranks"]) + 1) // 2 + len(table["groups"]) * 0.4 + 1


def draw_diagram(table: dict[str, Any], ax: Any) -> None:
    ranks, groups = table["ranks"], table["groups"]
    n, half = len(ranks), (len(ranks) + 1) // 2
    ax.set_xlim(-0.8, n + 1.8)
    ax.set_ylim(-_height(table), 1.4)
    ax.axis("off")
    ax.hlines(0, 1, n, color="k", lw=1)
    for tick in range(1, n + 1):
        ax.vlines(tick, 0, 0.2, color="k", lw=1)
        ax.text(tick, 0.35, str(tick), ha="center", fontsize=8)
    for k, (method, rank) in enumerate(ranks.items()):
        is_left = k < half
        y = -(len(groups) * 0.4 + 0.8 + (k if is_left else n - 1 - k))
        end = 0.9 if is_left else n + 0.1
        ax.plot([rank, rank, end], [0, y, y], color="0.4", lw=0.8)
        label = f"{METHODS[method].title} {rank:.2f}"
        ax.text(
            end, y, f"{label} " if is_left else f" {label}", ha="right" if is_left else "left", va="center", fontsize=8
        )
    for k, group in enumerate(groups):
        ax.hlines(-0.4 * (k + 1), ranks[group[0]] - 0.05, ranks[group[-1]] + 0.05, color="k", lw=3)
    width = table["critical_difference"]
    ax.hlines(1.0, 1, 1 + width, color="k", lw=1.5)
    ax.text(1 + width, 1.0, f" critical difference {width:.2f}", va="center", fontsize=8)
