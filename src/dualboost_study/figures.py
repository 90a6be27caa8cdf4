"""The paper's figures as PDF files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from dualboost.arguments import how_to_install
from dualboost.errors import MissingDependencyError

from .protocol import METHODS
from .report import report_data
from .results import Results

COLOURS = (
    *(f"C{k}" for k in range(10)),
    *("#aec7e8", "#ffbb78", "#98df8a", "#ff9896", "#c5b0d5", "#c49c94", "#f7b6d2", "#333333", "#dbdb8d", "#9edae5"),
)
"""One colour for each method; the first ten are matplotlib's own."""
LEGEND_WIDTH = 1.5
"""The width of an entry of the legend in inches."""
ERROR_BARS = 10

Data = dict[str, Any]
Panels = dict[int, Any]
Drawing = Iterator[tuple[str, Any]]
"""Figures, each with the ending of its file name: a data set or an experiment."""


def panels_by_depth(data: Data, plt: Any) -> tuple[Any, Panels]:
    depths = data["depths"]
    figure, axes = plt.subplots(1, len(depths), figsize=(3.6 * len(depths), 3.4), layout="constrained", squeeze=False)
    panels = dict(zip(depths, axes[0], strict=True))
    for depth, ax in panels.items():
        ax.set_title(f"depth {depth}")
        ax.grid(alpha=0.3)
    return figure, panels


def panels_by_method(data: Data, methods: list[str], plt: Any) -> tuple[Any, dict[tuple[str, int], Any]]:
    """A figure with a row for each method and a column for each depth."""
    depths = data["depths"]
    size = (3.2 * len(depths), 1.5 * len(methods))
    figure, axes = plt.subplots(len(methods), len(depths), figsize=size, layout="constrained", squeeze=False)
    panels = {(method, depth): axes[i][k] for i, method in enumerate(methods) for k, depth in enumerate(depths)}
    for (method, depth), ax in panels.items():
        ax.set_title(f"{METHODS[method].title}, depth {depth}", fontsize=8)
        ax.tick_params(labelsize=7)
    return figure, panels


def style(method: str) -> dict[str, Any]:
    colour = COLOURS[list(METHODS).index(method) % len(COLOURS)]
    return {"color": colour, "label": METHODS[method].title}


def whole_numbers(axis: Any) -> None:
    axis.get_major_locator().set_params(integer=True)


def with_legend(figure: Any, panels: Panels, x: str | None, y: str) -> Any:
    """One legend for all panels; without ``x``, panels have labels of their own."""
    for ax in panels.values() if x is not None else ():
        ax.set_xlabel(x)
    next(iter(panels.values())).set_ylabel(y)
    handles: dict[str, Any] = {}
    for ax in panels.values():
        handles |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    columns = max(2, int(figure.get_figwidth() / LEGEND_WIDTH))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=columns, frameon=False, fontsize=8
    )
    return figure


def with_margins(data: Data) -> list[str]:
    """The methods with weights and margins."""
    return [*data["ours"], "adaboost"]


def _of(data: Data, kind: str, dataset: str) -> list[dict[str, Any]]:
    return [one for one in data[kind] if one.get("experiment", "cart") == "cart" and one["dataset"] == dataset]


def anytime(data: Data, plt: Any) -> Drawing:
    for dataset in data["datasets"]:
        figure, panels = panels_by_depth(data, plt)
        for k, curve in enumerate(_of(data, "anytime", dataset)):
            step = max(1, len(curve["iteration"]) // ERROR_BARS)
            panels[int(curve["depth"])].errorbar(
                curve["iteration"], curve["mean"], curve["std"], errorevery=(k % step, step), lw=1.2, elinewidth=0.6,
                drawstyle="steps-post", **style(curve["method"]),
            )  # fmt: skip
        figure.suptitle(dataset)
        yield f"_{dataset}", with_legend(figure, panels, "iteration", "test accuracy")


def margins(data: Data, plt: Any) -> Drawing:
    for dataset in data["datasets"]:
        figure, panels = panels_by_depth(data, plt)
        for curve in _of(data, "margins", dataset):
            if curve["method"] in with_margins(data):
                panels[int(curve["depth"])].step(
                    curve["margin"], curve["quantile"], where="post", **style(curve["method"])
                )
        figure.suptitle(dataset)
        yield f"_{dataset}", with_legend(figure, panels, "margin", "share of test rows with at most it")


def weights(data: Data, plt: Any) -> Drawing:
    for dataset in data["datasets"]:
        figure, panels = panels_by_method(data, with_margins(data), plt)
        for curve in _of(data, "weights", dataset):
            ax = panels.get((curve["method"], int(curve["depth"])))
            if ax is not None:
                ax.bar(curve["rank"], curve["weight"], width=0.9, color=style(curve["method"])["color"])
        figure.suptitle(f"{dataset}: weights relative to the largest")
        yield f"_{dataset}", figure


def value_margins(data: Data, plt: Any) -> Drawing:
    for dataset in data["datasets"]:
        figure, panels = panels_by_method(data, data["ours"], plt)
        curves = _of(data, "value_margins", dataset)
        last = max((curve["value"] for curve in curves), default=0) or 1
        for curve in curves:
            ax = panels[curve["method"], int(curve["depth"])]
            ax.step(curve["margin"], curve["quantile"], where="post", lw=1, color=plt.cm.viridis(curve["value"] / last))
        figure.suptitle(f"{dataset}: share of test rows with at most a margin, small values dark")
        yield f"_{dataset}", figure


def sensitivity(data: Data, plt: Any) -> Drawing:
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
    """The points whose accuracy no point with at most as many trees reaches, in order of trees."""
    ordered = points.sort_values(["trees", "test_accuracy"], ascending=[True, False])
    return ordered[ordered["test_accuracy"] > ordered["test_accuracy"].cummax().shift(fill_value=-1.0)]


def _means(table: dict[str, Any], datasets: list[str]) -> pd.DataFrame:
    frames = {kind: _frame(table, kind).loc[datasets] for kind in ("trees", "accuracy")}
    return pd.DataFrame({kind: frame.mean() for kind, frame in frames.items()})


def _frame(table: dict[str, Any], kind: str) -> pd.DataFrame:
    return pd.DataFrame(table[kind], index=table["datasets"], columns=table["methods"])


def _complete_datasets(table: dict[str, Any]) -> list[str]:
    return list(_frame(table, "accuracy").dropna().index)


def tables_of(data: Data, experiment: str) -> dict[int, dict[str, Any]]:
    return {table["depth"]: table for table in data["tables"] if table["experiment"] == experiment}


def accuracy_against_trees(data: Data, plt: Any) -> Drawing:
    for experiment in data["experiments"]:
        figure, panels = panels_by_depth(data, plt)
        draw_means(panels, tables_of(data, experiment))
        yield f"_{experiment}", with_legend(figure, panels, "trees used", "test accuracy")


def draw_means(panels: Panels, tables: dict[int, dict[str, Any]]) -> None:
    """A point for each method, in the panel of each depth."""
    for depth, table in tables.items():
        for method, mean in _means(table, _complete_datasets(table)).iterrows():
            panels[depth].plot(mean["trees"], mean["accuracy"], "o", alpha=0.8, **style(str(method)))
        whole_numbers(panels[depth].xaxis)


def reweighting(data: Data, plt: Any) -> Drawing:
    """A line for each method, from its result with its own trees to its result with AdaBoost's trees, reweighted."""
    own, reweighted = tables_of(data, "cart"), tables_of(data, "reweight")
    if not set(own) & set(reweighted):
        return
    figure, panels = panels_by_depth(data, plt)
    for depth in set(own) & set(reweighted):
        shared = [name for name in _complete_datasets(own[depth]) if name in _complete_datasets(reweighted[depth])]
        before, after = (_means(tables[depth], shared) for tables in (own, reweighted))
        for method in after.index:
            points = pd.DataFrame([before.loc[method], after.loc[method]])
            panels[depth].plot(points["trees"], points["accuracy"], lw=1, color=style(method)["color"])
            panels[depth].plot(*after.loc[method, ["trees", "accuracy"]], "o", **style(method))
        if "adaboost" in before.index:
            panels[depth].plot(*before.loc["adaboost", ["trees", "accuracy"]], "k*", label="AdaBoost")
    yield "", with_legend(figure, panels, "trees used (dot: AdaBoost's trees, reweighted)", "test accuracy")


def variants(data: Data, plt: Any) -> Drawing:
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


def seconds(data: Data, plt: Any) -> Drawing:
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


def critical_difference(data: Data, plt: Any) -> Drawing:
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


FIGURES: dict[str, Callable[[Data, Any], Drawing]] = {
    "accuracy_against_trees": accuracy_against_trees,
    "anytime": anytime,
    "weights": weights,
    "margins": margins,
    "margins_over_values": value_margins,
    "sensitivity": sensitivity,
    "reweighting": reweighting,
    "variants": variants,
    "seconds": seconds,
    "critical_difference": critical_difference,
}
"""The figures by the beginning of their file names."""


def draw_figures(results: Results, folder: str | Path) -> list[Path]:
    """Draw every figure into a file of its own, with a panel for each depth."""
    plt = pyplot()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    data, paths = report_data(results), []
    for name, draw in FIGURES.items():
        for suffix, figure in draw(data, plt):
            paths.append(folder / f"{name}{suffix}.pdf")
            figure.savefig(paths[-1])
            plt.close(figure)
    return paths


def pyplot() -> Any:
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError(f"Figures need matplotlib: {how_to_install('matplotlib')}.") from error
    return plt
