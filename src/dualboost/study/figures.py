"""The paper's figures, as PDF files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import MissingDependencyError
from .methods import METHODS
from .report import VARIANTS, report_data
from .results import Results

Data = dict[str, Any]


def draw_figures(results: Results, folder: str | Path) -> list[Path]:
    """One file a kind of figure, a panel a depth; curves are those of each data set, a page each."""
    plt = _pyplot()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    data, paths = report_data(results), []
    for name, draw in FIGURES.items():
        for suffix, figure in draw(data, plt):
            paths.append(folder / f"{name}{suffix}.pdf")
            figure.savefig(paths[-1])
            plt.close(figure)
    return paths


def _pyplot() -> Any:
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError("Figures need matplotlib: pip install 'dualboost[study]'.") from error
    return plt


def _panels(data: Data, plt: Any) -> tuple[Any, dict[int, Any]]:
    depths = data["depths"]
    figure, axes = plt.subplots(1, len(depths), figsize=(3.6 * len(depths), 3.2), layout="constrained", squeeze=False)
    panels = dict(zip(depths, axes[0], strict=True))
    for depth, ax in panels.items():
        ax.set_title(f"depth {depth}")
        ax.grid(alpha=0.3)
    return figure, panels


def _style(method: str) -> dict[str, Any]:
    names = list(METHODS)
    return {"color": f"C{names.index(method)}", "label": METHODS[method].title}


def _finish(figure: Any, panels: dict[int, Any], x: str, y: str) -> Any:
    for ax in panels.values():
        ax.set_xlabel(x)
    first = next(iter(panels.values()))
    first.set_ylabel(y)
    handles: dict[str, Any] = {}
    for ax in panels.values():
        handles |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    columns = min(9, 3 * len(panels))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=columns, frameon=False, fontsize=8
    )
    return figure


def _scatter(data: Data, plt: Any) -> list[tuple[str, Any]]:
    """Accuracy against trees, means over the data sets, for each experiment."""
    drawn = []
    for experiment in data["experiments"]:
        figure, panels = _panels(data, plt)
        for table in (table for table in data["tables"] if table["experiment"] == experiment):
            accuracy = pd.DataFrame(table["accuracy"], columns=table["methods"]).mean()
            trees = pd.DataFrame(table["trees"], columns=table["methods"]).mean()
            for method in table["methods"]:
                panels[table["depth"]].plot(trees[method], accuracy[method], "o", **_style(method))
        drawn.append((f"_{experiment}", _finish(figure, panels, "trees used", "test accuracy")))
    return drawn


def _curves(kind: str, x: str, y: str, x_label: str, y_label: str) -> Callable[[Data, Any], list[tuple[str, Any]]]:
    """Curves of the main experiment, a figure for each data set."""

    def draw(data: Data, plt: Any) -> list[tuple[str, Any]]:
        drawn = []
        for dataset in data["datasets"]:
            figure, panels = _panels(data, plt)
            for curve in data[kind]:
                is_shown = kind == "anytime" or curve["method"] in [*data["ours"], "adaboost"]  # others have no margins
                if is_shown and curve["experiment"] == "cart" and curve["dataset"] == dataset:
                    panels[curve["depth"]].plot(curve[x], curve[y], **_style(curve["method"]))
            figure.suptitle(dataset)
            drawn.append((f"_{dataset}", _finish(figure, panels, x_label, y_label)))
        return drawn

    return draw


def _sensitivity(data: Data, plt: Any) -> list[tuple[str, Any]]:
    """Every value of the hyperparameter, a figure for each data set."""
    drawn = []
    for dataset in data["datasets"]:
        figure, panels = _panels(data, plt)
        for row in data["sensitivity"]:
            if row["experiment"] == "cart" and row["dataset"] == dataset and row["method"] in data["ours"]:
                panels[int(row["depth"])].plot(row["trees"], row["test_accuracy"], ".", **_style(row["method"]))
        figure.suptitle(dataset)
        drawn.append((f"_{dataset}", _finish(figure, panels, "trees used", "test accuracy")))
    return drawn


def _variants(data: Data, plt: Any) -> list[tuple[str, Any]]:
    """Box plots of confidence-rated and of optimal trees against CART trees."""
    drawn = []
    for variant in data["variants"]:
        rows = pd.DataFrame(variant["rows"], columns=["depth", "method", "dataset", "improvement"])
        if variant["experiment"] not in VARIANTS or rows.empty:
            continue
        figure, panels = _panels(data, plt)
        for depth, ax in panels.items():
            part = rows[rows["depth"] == depth]
            values = [100 * part.loc[part["method"] == method, "improvement"] for method in data["ours"]]
            ax.boxplot(values)
            ax.set_xticks(range(1, len(values) + 1), data["ours"])
            ax.axhline(0.0, color="0.5", lw=1)
        next(iter(panels.values())).set_ylabel("improvement over CART, per cent")
        drawn.append((f"_{variant['experiment']}", figure))
    return drawn


FIGURES: dict[str, Callable[[Data, Any], list[tuple[str, Any]]]] = {
    "accuracy_against_trees": _scatter,
    "anytime": _curves("anytime", "iteration", "mean", "iteration", "test accuracy"),
    "margins": _curves("margins", "margin", "quantile", "margin", "share of test rows"),
    "weights": _curves("weights", "rank", "weight", "tree", "weight, relative to the largest"),
    "sensitivity": _sensitivity,
    "variants": _variants,
}
