"""Makes the report from results and a template: one HTML page that needs no network."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._version import __version__
from .comparison import compare_with_paper, straying
from .fitting import QUANTILES
from .methods import METHODS
from .observations import OBSERVATIONS
from .results import CELL, Results
from .significance import significance
from .tables import accuracy_table

PLACEHOLDER = "/*DATA*/"
VARIANTS = ("confidence", "optimal")
MOST_WEIGHTS = 100
FEW_QUANTILES = QUANTILES[::5]
"""The quantiles for plots with a curve for each hyperparameter value, which need fewer points."""


def write_report(results: Results, path: str | Path) -> Path:
    """Write the page to a file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    template = (resources.files(__package__) / "page" / "report.html").read_text(encoding="utf-8")
    data = json.dumps(report_data(results), allow_nan=False).replace("</", "<\\/")
    path.write_text(template.replace(PLACEHOLDER, data), encoding="utf-8")
    return path


def report_data(results: Results) -> dict[str, Any]:
    """Everything that the page shows, as plain lists and numbers."""
    chosen = results.chosen()
    cells = sorted(set(zip(chosen["experiment"], chosen["depth"], strict=True)))
    methods = [name for name in METHODS if name in set(chosen["method"])]
    return {
        "version": __version__,
        "n_fits": len(results.fits),
        "gaps": results.gaps,
        "methods": {name: METHODS[name].title for name in methods},
        "ours": [name for name in methods if METHODS[name].is_totally_corrective],
        "datasets": sorted(chosen["dataset"].unique()),
        "depths": sorted(int(depth) for depth in chosen["depth"].unique()),
        "experiments": sorted(chosen["experiment"].unique()),
        "observations": _observations(results),
        "tables": [_table(results, experiment, int(depth)) for experiment, depth in cells],
        "anytime": _anytime(results, chosen),
        "sensitivity": _records(_means(results.fits, ["experiment", "dataset", "depth", "method", "value"])),
        "margins": _margins(results, chosen),
        "value_margins": _value_margins(results),
        "stages_are_optimal": results.stages_are_optimal,
        "weights": _weights(results, chosen),
        "variants": [_variant(chosen, experiment) for experiment in VARIANTS],
        "seconds": _records(_means(results.fits, ["experiment", "dataset", "depth", "method"])),
        "comparison": _comparison(results),
    }


def _observations(results: Results) -> list[dict[str, Any]]:
    judged = [(one, one.judge(results)) for _, one in sorted(OBSERVATIONS.items())]
    return [
        {
            "number": one.number,
            "statement": one.statement,
            "criterion": one.criterion,
            "word": verdict.word,
            "sentence": verdict.sentence,
            "figures": {name: _number(value) for name, value in verdict.figures.items()},
        }
        for one, verdict in judged
    ]


def _table(results: Results, experiment: str, depth: int) -> dict[str, Any]:
    table = accuracy_table(results, experiment, depth)
    found = significance(table)
    return {
        "experiment": experiment,
        "depth": depth,
        "methods": list(table.accuracy),
        "datasets": list(table.accuracy.index),
        "accuracy": _grid(table.accuracy),
        "deviation": _grid(table.deviation),
        "trees": _grid(table.trees),
        "best": table.best.to_numpy().tolist(),
        "best_ours": table.best_totally_corrective.to_numpy().tolist(),
        "ranks": None if found is None else {name: _number(rank) for name, rank in found.ranks.items()},
        "critical_difference": None if found is None else _number(found.critical_difference),
        "groups": None if found is None else found.groups,
        "friedman_p": None if found is None else _number(found.friedman_p),
    }


def _anytime(results: Results, chosen: pd.DataFrame) -> list[dict[str, Any]]:
    """Mean and standard deviation over the seeds of the fits chosen, after each iteration."""
    grouped = results.anytime(chosen).groupby(["experiment", "dataset", "depth", "method", "iteration"])["accuracy"]
    table = pd.DataFrame({"mean": grouped.mean(), "std": grouped.std().fillna(0.0)}).reset_index()
    return _curves(table, ["experiment", "dataset", "depth", "method"], ["iteration", "mean", "std"])


def _margins(results: Results, chosen: pd.DataFrame) -> list[dict[str, Any]]:
    merged = results.margins.merge(chosen[CELL], on=CELL)
    key = ["experiment", "dataset", "depth", "method", "quantile"]
    table = merged.groupby(key)["margin"].mean().reset_index()
    return _curves(table, key[:-1], ["margin", "quantile"])


def _value_margins(results: Results) -> list[dict[str, Any]]:
    """The margins of each totally corrective method at each value of its hyperparameter, with CART trees."""
    margins, ours = results.margins, [name for name, method in METHODS.items() if method.is_totally_corrective]
    is_shown = (margins["experiment"] == "cart") & margins["method"].isin(ours)
    few = margins[is_shown & margins["quantile"].isin(FEW_QUANTILES)]
    merged = few.merge(results.fits[[*CELL, "hyperparameter"]], on=CELL)
    key = ["dataset", "depth", "method", "value", "quantile"]
    table = merged.groupby(key)[["margin", "hyperparameter"]].mean().reset_index()
    curves = _curves(table, key[:-1], ["margin", "quantile", "hyperparameter"])
    return [curve | {"hyperparameter": curve["hyperparameter"][0]} for curve in curves]


def _weights(results: Results, chosen: pd.DataFrame) -> list[dict[str, Any]]:
    """The sorted weights relative to the largest weight, as means over the seeds."""
    merged = results.weights.merge(chosen[CELL], on=CELL)
    merged = merged[merged["rank"] <= MOST_WEIGHTS]
    largest = merged.groupby(CELL)["weight"].transform("max")
    key = ["experiment", "dataset", "depth", "method", "rank"]
    table = merged.assign(weight=merged["weight"] / largest).groupby(key)["weight"].mean().reset_index()
    return _curves(table, key[:-1], ["rank", "weight"])


def _variant(chosen: pd.DataFrame, experiment: str) -> dict[str, Any]:
    """The relative improvement of a variant over CART trees, for each data set, depth and method."""
    key = ["depth", "method", "dataset"]
    variant = chosen[chosen["experiment"] == experiment].groupby(key)["test_accuracy"].mean()
    cart = chosen[chosen["experiment"] == "cart"].groupby(key)["test_accuracy"].mean()
    improvement = (variant / cart - 1.0).dropna().rename("improvement").reset_index()
    return {"experiment": experiment, "rows": _records(improvement)}


def _comparison(results: Results) -> dict[str, Any]:
    comparison = compare_with_paper(results)
    if comparison.empty:
        return {"cells": [], "methods": []}
    return {"cells": _records(comparison), "methods": _records(straying(comparison).reset_index())}


def _means(fits: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    return fits.groupby(key)[["hyperparameter", "test_accuracy", "trees", "seconds"]].mean().reset_index()


def _curves(table: pd.DataFrame, key: list[str], columns: list[str]) -> list[dict[str, Any]]:
    """One entry for each curve: its key, and each column as a list."""
    curves = []
    for values, part in table.groupby(key):
        curve = {name: _plain(value) for name, value in zip(key, values, strict=True)}
        curves.append(curve | {name: [_number(value) for value in part[name]] for name in columns})
    return curves


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{name: _plain(value) for name, value in row.items()} for row in table.to_dict("records")]


def _grid(table: pd.DataFrame) -> list[list[float | None]]:
    return [[_number(value) for value in row] for row in table.to_numpy()]


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else _number(value)


def _number(value: Any) -> float | None:
    """The value with seven digits; None if it is not a number."""
    return float(f"{value:.7g}") if np.isfinite(value) else None
