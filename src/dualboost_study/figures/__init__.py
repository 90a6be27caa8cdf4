"""Draws the paper's figures as PDF files, and the pictures of the page of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dualboost.arguments import how_to_install
from dualboost.errors import MissingDependencyError

from ..report import report_data
from ..results import Results
from .by_dataset import anytime, margins, sensitivity, value_margins, weights
from .over_datasets import accuracy_against_trees, critical_difference, reweighting, seconds, variants
from .pictures import PICTURES

Drawing = Iterator[tuple[str, Any]]
FIGURES: dict[str, Callable[[dict[str, Any], Any], Drawing]] = {
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
"""For each file name a function that yields figures, each with an ending of the name: a data set or an experiment."""


def draw_figures(results: Results, folder: str | Path) -> list[Path]:
    """Draw every figure into a file of its own, with a panel for each depth."""
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


def draw_pictures(results: Results, folder: str | Path, prefix: str) -> list[Path]:
    """Draw the pictures of the page of results that these results have something for, as PNG files."""
    plt, data, paths = _pyplot(), report_data(results), []
    for name, draw in PICTURES.items():
        figure = draw(data, plt)
        if figure is not None:
            paths.append(Path(folder) / f"{prefix}{name}.png")
            figure.savefig(paths[-1], dpi=100)
            plt.close(figure)
    return paths


def _pyplot() -> Any:
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError(f"Figures need matplotlib: {how_to_install('matplotlib')}.") from error
    return plt
