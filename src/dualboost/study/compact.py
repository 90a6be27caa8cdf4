"""Results as a few small tables, to be kept and published: every figure of the report can be made of them again.

Kept are all fits with what the report shows of each, and of the long tables only what it draws: iterations of the fits
chosen, their margins and weights (relative to the largest) with CART trees, for one seed the margins at each value,
and what is chosen within budgets of trees and leaves.
``summary.json`` holds the plans, with the checksums of the data and the versions of the libraries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..data.table_files import read_table
from ..data.whole_files import write_whole
from ..errors import InvalidDataError, InvalidParameterError
from .choice import CELL, keys_of, of_stages, tuned
from .equal_size import chosen_sizes
from .fitting import QUANTILES
from .folder import PRESET, SUMMARY, parts_of, planned_keys, read_plan
from .methods import METHODS

if TYPE_CHECKING:
    from .results import Results

PARTS = {"stages_are_optimal": bool, "without_stages": list, "tables": dict, "plans": dict}
"""What a summary holds, and of which type."""
MAIN = "cart"
"""The experiment whose margins and weights are drawn."""
SOME_QUANTILES = QUANTILES[::5]
LEFT_OUT = ["objective", "train_accuracy"]
"""Columns of fits that no table, observation or plot is made of."""
DECIMALS = {"validation_accuracy": 6, "test_accuracy": 6, "accuracy": 5, "margin": 3, "weight": 3}
DIGITS = {"hyperparameter": 6, "seconds": 2, "gap": 1}
"""How many significant digits are kept of figures whose size varies."""


def write_compact(results: Results, source: Path, out: Path, names: Iterable[str]) -> list[Path]:
    """Write the tables of these names as Parquet files, and what was planned."""
    if (out / PRESET).exists() or out.resolve() == source.resolve():
        raise InvalidParameterError(f"{out} holds a run; name another folder for compact results with -o.")
    out.mkdir(parents=True, exist_ok=True)
    tables = _compact(_complete(results), names)
    for name, table in tables.items():
        table.to_parquet(_path(out, name), index=False, compression="zstd", compression_level=19)
    summary = {
        "stages_are_optimal": results.stages_are_optimal,
        "without_stages": sorted(key for key in results.pending if key == of_stages(tuned(key))),
        "tables": {name: _description(table) for name, table in tables.items()},
        "plans": plans_of(source),
    }
    write_whole(out / SUMMARY, json.dumps(summary, indent=1).encode())
    return [*(_path(out, name) for name in tables), out / SUMMARY]


def plans_of(source: Path) -> dict[str, Any]:
    """What was planned for each part of the results, by the name of its folder."""
    plans: dict[str, Any] = {}
    for part in parts_of(source):
        plans |= _summary(part)["plans"] if is_compact(part) else {part.name: read_plan(part)}
    return plans


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.parquet"


def _complete(results: Results) -> Results:
    """The results without the fits of which other values are still to come: none of them can be chosen yet."""
    incomplete = set(map(tuned, results.pending)).difference(keys_of(results.fits))  # a fit without stages is complete
    is_complete = [tuned(key) not in incomplete for key in keys_of(results.fits)]
    return replace(results, fits=results.fits[is_complete].reset_index(drop=True))


def _compact(results: Results, names: Iterable[str]) -> dict[str, pd.DataFrame]:
    """The tables of these names without what no table, observation or plot is made of."""
    chosen = results.chosen()[CELL]
    thinned = {
        "fits": lambda table: table.drop(columns=LEFT_OUT, errors="ignore"),
        "iterations": lambda table: table.merge(chosen, on=CELL),
        "margins": lambda table: _some_margins(table, chosen),
        "weights": lambda table: _relative(table[_has_margins(table)].merge(chosen, on=CELL)),
        "sizes": chosen_sizes,
    }
    known = pd.MultiIndex.from_frame(results.fits[CELL])
    tables = {}
    for name in names:
        table = thinned.get(name, lambda table: table)(getattr(results, name))
        tables[name] = _rounded(table[pd.MultiIndex.from_frame(table[CELL]).isin(known)])
    return tables


def _has_margins(table: pd.DataFrame) -> pd.Series:
    """Which rows are of CART ensembles with weights that add up; the scores of XGBoost and LightGBM are no margins."""
    with_margins = [name for name, method in METHODS.items() if method.has_margins]
    return (table["experiment"] == MAIN) & table["method"].isin(with_margins)


def _some_margins(margins: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """Every fifth hundredth: of the fits chosen, and of all values of the first seed."""
    few = margins[_has_margins(margins) & margins["quantile"].isin(SOME_QUANTILES)]
    is_chosen = pd.MultiIndex.from_frame(few[CELL]).isin(pd.MultiIndex.from_frame(chosen))
    return few[is_chosen | (few["seed"] == few["seed"].min())]


def _relative(weights: pd.DataFrame) -> pd.DataFrame:
    """The weights of each fit as shares of its largest."""
    largest = weights.groupby(CELL)["weight"].transform("max")
    return weights.assign(weight=weights["weight"] / largest)


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    exact = {name: table[name].round(decimals) for name, decimals in DECIMALS.items() if name in table}
    for name, digits in DIGITS.items():
        if name in table:
            exact[name] = table[name].map(lambda value, digits=digits: float(f"{value:.{digits}g}"))
    return table.assign(**exact).reset_index(drop=True)


def is_compact(folder: Path) -> bool:
    return (folder / SUMMARY).exists()


def read_compact(folder: Path, names: Iterable[str]) -> dict[str, Any]:
    """The arguments of ``Results``: tables of these names, whether stages are optimal, how many fits are missing."""
    summary = _summary(folder)
    tables = {name: _read(folder, name, summary["tables"][name]) for name in names if name in summary["tables"]}
    pending = frozenset(summary["planned"].difference(keys_of(tables["fits"])).union(summary["without_stages"]))
    return tables | {"stages_are_optimal": summary["stages_are_optimal"], "pending": pending}


def _summary(folder: Path) -> dict[str, Any]:
    path = folder / SUMMARY
    try:
        summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        wrong = [name for name, kind in PARTS.items() if not isinstance(summary[name], kind)]
        summary["planned"] = set().union(*map(planned_keys, {} if wrong else summary["plans"].values()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidDataError(f"{path} is damaged: {error}.") from error
    if wrong or "fits" not in summary["tables"]:
        raise InvalidDataError(f"{path} is damaged: {(wrong or ['fits'])[0]!r} is not what it should be.")
    return summary


def _read(folder: Path, name: str, about: Any) -> pd.DataFrame:
    """A table as it was written; one without rows is only described in the summary."""
    path = _path(folder, name)
    is_empty = name != "fits" and isinstance(about, dict) and about.get("rows") == 0
    table = pd.DataFrame(columns=about.get("columns")) if is_empty else read_table(path)
    if about != _description(table):
        raise InvalidDataError(f"{path} is not the table that {SUMMARY} describes; export the results again.")
    return table


def _description(table: pd.DataFrame) -> dict[str, Any]:
    return {"rows": len(table), "columns": list(table)}
