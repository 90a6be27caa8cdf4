"""The interactive report: its data, and the page that shows them."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dualboost._version import __version__

from .folder import QUANTILES
from .observations import OBSERVATIONS, Verdict, verdicts
from .protocol import CELL, EQUAL_SIZE, HEURISTIC, METHODS
from .results import Results
from .sizes import size_means, trees_to_match
from .summary import leaders, sentences
from .tables import (
    AccuracyTable,
    accuracy_table,
    compare_seconds,
    compare_with_paper,
    paper_table,
    significance,
    straying,
)

DIGITS = 5


def number(value: Any) -> float | None:
    """The value with five digits; None if it is not a number."""
    return float(f"{value:.{DIGITS}g}") if value is not None and np.isfinite(value) else None


def plain(value: Any) -> Any:
    return value if isinstance(value, str) else number(value)


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{name: plain(value) for name, value in row.items()} for row in table.to_dict("records")]


def grid(table: pd.DataFrame) -> list[list[float | None]]:
    return [[number(value) for value in row] for row in table.to_numpy()]


def curves(table: pd.DataFrame, key: list[str], columns: list[str]) -> list[dict[str, Any]]:
    """One entry for each curve: its key, and each column as a list."""
    found = []
    for values, part in table.groupby(key):
        curve = {name: plain(value) for name, value in zip(key, values, strict=True)}
        found.append(curve | {name: [number(value) for value in part[name]] for name in columns})
    return found


def packed(value: Any) -> Any:
    """The value, with lists of objects of equal names as tables, whose JSON is half as long."""
    if isinstance(value, dict):
        return {name: packed(part) for name, part in value.items()}
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        columns = list(value[0])
        if all(list(part) == columns for part in value):
            return {"columns": columns, "rows": [[packed(part[name]) for name in columns] for part in value]}
    return [packed(part) for part in value] if isinstance(value, list) else value


MOST_WEIGHTS = 100
FEW_QUANTILES = QUANTILES[::5]
"""The quantiles of plots with a curve for each hyperparameter value."""
CURVE = ["experiment", "dataset", "depth", "method"]
"""The key of a curve."""


def _anytime(results: Results, chosen: pd.DataFrame) -> list[dict[str, Any]]:
    grouped = results.anytime(chosen).groupby([*CURVE, "iteration"])["accuracy"]
    table = pd.DataFrame({"mean": grouped.mean(), "std": grouped.std().fillna(0.0)}).reset_index()
    return curves(table, CURVE, ["iteration", "mean", "std"])


def _margins(results: Results, chosen: pd.DataFrame) -> list[dict[str, Any]]:
    merged = results.margins.merge(chosen[CELL], on=CELL)
    table = merged.groupby([*CURVE, "quantile"])["margin"].mean().reset_index()
    return curves(table, CURVE, ["margin", "quantile"])


def _value_margins(results: Results) -> list[dict[str, Any]]:
    table, ours = results.margins, [name for name, method in METHODS.items() if method.is_totally_corrective]
    is_shown = (table["experiment"] == "cart") & table["method"].isin(ours)
    few = table[is_shown & table["quantile"].isin(FEW_QUANTILES)]
    merged = few.merge(results.fits[[*CELL, "hyperparameter"]], on=CELL)
    key = ["dataset", "depth", "method", "value", "quantile"]
    means = merged.groupby(key)[["margin", "hyperparameter"]].mean().reset_index()
    found = curves(means, key[:-1], ["margin", "quantile", "hyperparameter"])
    return [curve | {"hyperparameter": curve["hyperparameter"][0]} for curve in found]


def _weights(results: Results, chosen: pd.DataFrame) -> list[dict[str, Any]]:
    merged = results.weights.merge(chosen[CELL], on=CELL)
    merged = merged[merged["rank"] <= MOST_WEIGHTS]
    largest = merged.groupby(CELL)["weight"].transform("max")
    relative = merged.assign(weight=merged["weight"] / largest)
    table = relative.groupby([*CURVE, "rank"])["weight"].mean().reset_index()
    return curves(table, CURVE, ["rank", "weight"])


VARIANTS = ("confidence", "optimal")
SCRIPTS = ("charts.js", "summary.js", "sections.js", "main.js")


def write_report(results: Results, path: str | Path) -> Path:
    """Write the page to a file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps(packed(report_data(results)), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    page = _part("report.html").replace("/*STYLE*/", _part("style.css"))
    page = page.replace("/*SCRIPT*/", "\n".join(map(_part, SCRIPTS))).replace("/*DATA*/", data)
    path.write_text(page, encoding="utf-8")
    return path


def _part(name: str) -> str:
    return (resources.files(__package__) / "page" / name).read_text(encoding="utf-8")


def report_data(results: Results) -> dict[str, Any]:
    """The data of the page, as plain lists and numbers."""
    every, judged = results.chosen(), verdicts(results)
    chosen = every[every["experiment"] != EQUAL_SIZE]
    fits = results.fits[results.fits["experiment"] != EQUAL_SIZE]
    cells = sorted(set(zip(chosen["experiment"], chosen["depth"], strict=True)))
    methods = [name for name in METHODS if name in set(every["method"])]
    by_value = ["experiment", "dataset", "depth", "method", "value"]
    return {
        "version": __version__,
        "n_fits": len(results.fits),
        "gaps": results.gaps,
        "summary": {"sentences": sentences(results, judged), "leaders": rows_of(leaders(results))},
        "methods": {name: METHODS[name].title for name in methods},
        "ours": [name for name in methods if METHODS[name].is_totally_corrective],
        "datasets": sorted(chosen["dataset"].unique()),
        "depths": sorted(int(depth) for depth in chosen["depth"].unique()),
        "experiments": sorted(chosen["experiment"].unique()),
        "observations": _observations(results, judged),
        "tables": [_table(accuracy_table(results, name, depth), name, int(depth)) for name, depth in cells],
        "paper": [_plain_table(paper_table(name, depth), name, int(depth)) for name, depth in cells],
        "anytime": _anytime(results, chosen),
        "sensitivity": rows_of(_means(fits, by_value)),
        "margins": _margins(results, chosen),
        "value_margins": _value_margins(results),
        "stages_are_optimal": results.stages_are_optimal,
        "weights": _weights(results, chosen),
        "variants": [_variant(chosen, experiment) for experiment in VARIANTS],
        "seconds": rows_of(_means(fits, by_value[:-1])),
        "paper_seconds": rows_of(compare_seconds(results)),
        "comparison": _comparison(results),
        "sizes": _sizes(results),
    }


def _observations(results: Results, judged: dict[int, Verdict]) -> list[dict[str, Any]]:
    return [
        {
            "number": n,
            "statement": OBSERVATIONS[n].statement,
            "criterion": OBSERVATIONS[n].criterion,
            "data": OBSERVATIONS[n].data(results),
            "word": verdict.word,
            "sentence": verdict.sentence,
            "figures": {name: number(value) for name, value in verdict.figures.items()},
        }
        for n, verdict in judged.items()
    ]


def _table(table: AccuracyTable, experiment: str, depth: int) -> dict[str, Any]:
    found, plain_table = significance(table), _plain_table(table, experiment, depth)
    if found is None:
        return plain_table | dict.fromkeys(("ranks", "critical_difference", "groups", "friedman_p"))
    return plain_table | {
        "ranks": {name: number(rank) for name, rank in found.ranks.items()},
        "critical_difference": number(found.critical_difference),
        "groups": found.groups,
        "friedman_p": number(found.friedman_p),
    }


def _plain_table(table: AccuracyTable, experiment: str, depth: int) -> dict[str, Any]:
    return {
        "experiment": experiment,
        "depth": depth,
        "methods": list(table.accuracy),
        "datasets": list(table.accuracy.index),
        "accuracy": grid(table.accuracy),
        "deviation": grid(table.deviation),
        "trees": grid(table.trees),
        "best": table.best.to_numpy().tolist(),
        "best_ours": table.best_totally_corrective.to_numpy().tolist(),
    }


def _variant(chosen: pd.DataFrame, experiment: str) -> dict[str, Any]:
    key = ["depth", "method", "dataset", "seed"]
    variant = chosen[chosen["experiment"] == experiment].set_index(key)["test_accuracy"]
    cart = chosen[chosen["experiment"] == "cart"].set_index(key)["test_accuracy"]
    both = pd.DataFrame({"variant": variant, "cart": cart}).dropna().groupby(key[:-1]).mean()
    improvement = (both["variant"] / both["cart"] - 1.0).rename("improvement").reset_index()
    return {"experiment": experiment, "rows": rows_of(improvement)}


def _comparison(results: Results) -> dict[str, Any]:
    comparison = compare_with_paper(results)
    if comparison.empty:
        return {"cells": [], "methods": []}
    return {"cells": rows_of(comparison), "methods": rows_of(straying(comparison).reset_index())}


def _sizes(results: Results) -> dict[str, Any]:
    """Mean accuracies within budgets, and the trees with which heuristics match the other methods."""
    sizes = results.sizes
    if sizes.empty:
        return {"means": [], "matches": []}
    found = []
    for unit in ("trees", "leaves"):
        table = size_means(sizes, unit)
        found += [
            {"kind": unit, "depth": int(depth), "budget": int(budget), "accuracy": [number(value) for value in row]}
            for (depth, budget), row in zip(table.index, table.to_numpy(), strict=True)
        ]
    rivals = [name for name in HEURISTIC if name in table]
    others = [name for name in table if name not in rivals]
    matches = rows_of(trees_to_match(sizes, others, rivals)) if rivals else []
    return {"methods": list(table), "means": found, "matches": matches, "datasets": int(sizes["dataset"].nunique())}


def _means(fits: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    return fits.groupby(key)[["hyperparameter", "test_accuracy", "trees", "seconds"]].mean().reset_index()
