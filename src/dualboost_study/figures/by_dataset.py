"""Figures of single data sets with CART trees: anytime curves, weights, margins, and all hyperparameter values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from .panels import Data, panels_by_depth, panels_by_method, style, whole_numbers, with_legend, with_margins

ERROR_BARS = 10


def _of(data: Data, kind: str, dataset: str) -> list[dict[str, Any]]:
    return [one for one in data[kind] if one.get("experiment", "cart") == "cart" and one["dataset"] == dataset]


def anytime(data: Data, plt: Any) -> Iterator[tuple[str, Any]]:
    for dataset in data["datasets"]:
        figure, panels = panels_by_depth(data, plt)
        for k, curve in enumerate(_of(data, "anytime", dataset)):
            step = max(1, len(curve["iteration"]) // ERROR_BARS)
            panels[int(curve["depth"])].errorbar(
                curve["iteration"], curve["mean"], curve["std"], errorevery=(k % step, step), lw=1.2, elinewidth=0.6,
                drawstyle="steps-post",                **style(curve["method"]),
            )  # fmt: skip
        figure.suptitle(dataset)
        yield f"_{dataset}", with_legend(figure, panels, "iteration", "test accuracy")


def margins(data: Data, plt: Any) -> Iterator[tuple[str, Any]]:
    for dataset in data["datasets"]:
        figure, panels = panels_by_depth(data, plt)
        for curve in _of(data, "margins", dataset):
            if curve["method"] in with_margins(data):
                panels[int(curve["depth"])].step(
                    curve["margin"], curve["quantile"], where="post", **style(curve["method"])
                )
        figure.suptitle(dataset)
        yield f"_{dataset}", with_legend(figure, panels, "margin", "share of test rows with at most it")


def weights(data: Data, plt: Any) -> Iterator[tuple[str, Any]]:
    for dataset in data["datasets"]:
        figure, panels = panels_by_method(data, with_margins(data), plt)
        for curve in _of(data, "weights", dataset):
            ax = panels.get((curve["method"], int(curve["depth"])))
            if ax is not None:
                ax.bar(curve["rank"], curve["weight"], width=0.9, color=style(curve["method"])["color"])
        figure.suptitle(f"{dataset}: weights relative to the largest")
        yield f"_{dataset}", figure


def value_margins(data: Data, plt: Any) -> Iterator[tuple[str, Any]]:
    for dataset in data["datasets"]:
        figure, panels = panels_by_method(data, data["ours"], plt)
        curves = _of(data, "value_margins", dataset)
        last = max((curve["value"] for curve in curves), default=0) or 1
        for curve in curves:
            ax = panels[curve["method"], int(curve["depth"])]
            ax.step(curve["margin"], curve["quantile"], where="post", lw=1, color=plt.cm.viridis(curve["value"] / last))
        figure.suptitle(f"{dataset}: share of test rows with at most a margin, small values dark")
        yield f"_{dataset}", figure


def sensitivity(data: Data, plt: Any) -> Iterator[tuple[str, Any]]:
    for dataset in data["datasets"]:
        figure, panels = panels_by_depth(data, plt)
        rows = pd.DataFrame(_of(data, "sensitivity", dataset))
        rows = rows[rows["method"].isin(data["ours"])] if len(rows) else rows
        for row in rows.to_dict("records"):
            panels[int(row["depth"])].plot(row["trees"], row["test_accuracy"], ".", **style(row["method"]))
        for depth, part in rows.groupby("depth") if len(rows) else ():
            front = pareto_front(part)
            panels[int(depth)].step(
                front["trees"], front["test_accuracy"], "--", where="post", color="0.5", lw=1, label="front"
            )
            whole_numbers(panels[int(depth)].xaxis)
        figure.suptitle(dataset)
        yield f"_{dataset}", with_legend(figure, panels, "trees used", "test accuracy")


def pareto_front(points: pd.DataFrame) -> pd.DataFrame:
    """The points that no other point beats in accuracy with at most as many trees, in order of trees."""
    ordered = points.sort_values(["trees", "test_accuracy"], ascending=[True, False])
    return ordered[ordered["test_accuracy"] > ordered["test_accuracy"].cummax().shift(fill_value=-1.0)]
