"""Records as tables, and parts of a study as one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dualboost.data.files import write_whole
from dualboost.data.table_files import read_table
from dualboost.errors import InvalidDataError, InvalidParameterError

from .fitting import QUANTILES
from .folder import (
    PRESET,
    RECORDS,
    SIZES,
    STAGES,
    SUMMARY,
    parts_of,
    planned_keys,
    planned_preset,
    read_plan,
    read_records,
)
from .protocol import METHODS
from .sizes import (
    CELL,
    chosen_cells,
    chosen_fits,
    chosen_sizes,
    has_optimal_stages,
    keys_of,
    of_stages,
    sizes_table,
    tuned,
)


def join(parts: Sequence[Results], tables: Sequence[str]) -> Results:
    """The results of all parts as one.

    Where the stages of one part are optima, the iterations of parts whose stages are none are left out, so that no two
    of them are compared.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    _require_disjoint(parts)
    are_optimal = any(part.stages_are_optimal for part in parts)
    parts = [
        part if part.stages_are_optimal == are_optimal else replace(part, iterations=part.iterations.iloc[:0])
        for part in parts
    ]
    joined = {name: _stacked([getattr(part, name) for part in parts]) for name in tables}
    pending = frozenset.union(*(part.pending for part in parts)).difference(keys_of(joined["fits"]))
    return replace(first, **joined, stages_are_optimal=are_optimal, pending=pending)


def _require_disjoint(parts: Sequence[Results]) -> None:
    cells = pd.concat([part.fits[CELL] for part in parts])
    twice = cells[cells.duplicated()]
    if len(twice):
        key = "/".join(map(str, twice.iloc[0]))
        raise InvalidDataError(f"{len(twice):,} fits are in two parts of the results, such as {key}; take one away.")


def _stacked(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all tables in the order of the cells; tables without rows have no say in the types of columns."""
    filled = [table for table in tables if len(table)]
    if not filled:
        return tables[0]
    return pd.concat(filled, ignore_index=True).sort_values(CELL, kind="stable", ignore_index=True)


# Kept are all fits with what the report shows of each, and of the long tables only what it draws: iterations of the
# fits chosen, their margins and weights (relative to the largest) with CART trees, for one seed the margins at each
# value, and what is chosen within budgets of trees and leaves. ``summary.json`` holds the plans, with the checksums
# of the data and the versions of the libraries.

PARTS = {"stages_are_optimal": bool, "without_stages": list, "tables": dict, "plans": dict}
"""What a summary holds, and of which type."""
MAIN = "cart"
"""The experiment whose margins and weights are drawn."""
SOME_QUANTILES = QUANTILES[::5]
LEFT_OUT = ["objective", "train_score"]
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


__all__ = ["CELL", "TABLES", "Results", "read_results"]

NESTED = {"anytime_accuracy", "anytime_trees", "margins", "weights", "key", "traceback", *SIZES}
TABLES = ("fits", "iterations", "margins", "weights", "sizes")


@dataclass(frozen=True)
class Results:
    """Four tables, each with the columns of ``Cell`` first."""

    fits: pd.DataFrame
    iterations: pd.DataFrame
    margins: pd.DataFrame
    weights: pd.DataFrame
    stages_are_optimal: bool = True
    """Whether each stage of a totally corrective method is an optimum, or only the last stage."""
    pending: frozenset[str] = frozenset()
    """The keys of fits that were planned and are not recorded yet; ``of_stages`` of those that only lack stages."""
    sizes: pd.DataFrame = field(default_factory=lambda: sizes_table([]))
    """The ensembles within each budget of trees and leaves, of the experiment of equal sizes."""

    def chosen(self) -> pd.DataFrame:
        """Of the fits that differ only in the hyperparameter, the one with the best validation accuracy."""
        return chosen_fits(self.fits)

    @property
    def n_pending(self) -> int:
        return len(self.pending)

    @property
    def n_failed(self) -> int:
        return int(self.fits["error"].notna().sum()) if "error" in self.fits else 0

    @property
    def gaps(self) -> str:
        """What is missing, in words; empty if the results are complete."""
        parts = [f"{self.n_pending:,} planned fits are not there yet" if self.n_pending else ""]
        parts.append(f"{self.n_failed:,} fits failed" if self.n_failed else "")
        return "; ".join(filter(None, parts))

    def anytime(self, cells: pd.DataFrame) -> pd.DataFrame:
        """The iterations of these cells; a fit that ended early is continued with its last ensemble."""
        part = self.iterations.merge(cells[CELL], on=CELL)
        wide = part.pivot(index=CELL, columns="iteration", values="accuracy").ffill(axis=1)
        return wide.stack().rename("accuracy").reset_index()

    def _fits_with_choice(self) -> pd.DataFrame:
        """The fits, with a column that says which of them are chosen for the tables."""
        keys = set(map(tuple, self.chosen()[CELL].to_numpy()))
        return self.fits.assign(chosen=[tuple(cell) in keys for cell in self.fits[CELL].to_numpy()])

    def write(self, folder: str | Path, kind: str = "csv") -> list[Path]:
        """Write each table to a file, as CSV or Parquet."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in TABLES:
            path = folder / f"{name}.{kind}"
            table = self._fits_with_choice() if name == "fits" else getattr(self, name)
            table.to_parquet(path, index=False) if kind == "parquet" else table.to_csv(path, index=False)
            paths.append(path)
        return paths


def read_results(folder: str | Path) -> Results:
    """The results of a run, or of several in folders of one folder; or tables that ``export --compact`` has written."""
    return join([_read_part(part) for part in parts_of(Path(folder))], TABLES)


def _read_part(folder: Path) -> Results:
    """The records of a folder, in the order of the cells, not in the order in which they were run."""
    if is_compact(folder):
        return Results(**read_compact(folder, TABLES))
    plan, records = read_plan(folder), read_records(folder)
    preset = planned_preset(plan)
    if not any("error" not in record for record in records):
        first = f"; the first error: {records[0]['error']}" if records else ""
        raise InvalidDataError(f"{folder / RECORDS} has no fit that succeeded{first}.")
    records.sort(key=lambda record: [record[name] for name in CELL])
    fits = pd.DataFrame([{name: value for name, value in one.items() if name not in NESTED} for one in records])
    pending = planned_keys(plan) - {record["key"] for record in records}
    staged, without_stages = records, set[str]()
    if preset.reoptimize == "chosen":
        staged, without_stages = _with_optimal_stages(records, fits, read_records(folder, STAGES))
    return Results(
        fits,
        _long(staged, {"anytime_accuracy": "accuracy", "anytime_trees": "trees"}, "iteration", first=1),
        _long(records, {"margins": "margin"}, "quantile", labels=QUANTILES),
        _long(records, {"weights": "weight"}, "rank", first=1),
        preset.reoptimize != "as_needed",
        frozenset(pending | without_stages),
        sizes_table(records),
    )


def _with_optimal_stages(
    records: list[dict[str, Any]], fits: pd.DataFrame, stages: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], set[str]]:
    """The records chosen, from the fits whose stages are optimal, and the keys of those that are not there yet.

    A split of which some are not there is left out, so that methods are compared on the same splits.
    """
    by_key = {record["key"]: record for record in stages if "error" not in record}
    chosen = chosen_cells(fits)
    missing = {cell for cell in chosen if has_optimal_stages(cell) and cell.key not in by_key}
    incomplete = {(cell.experiment, cell.dataset, cell.depth, cell.seed) for cell in missing}
    kept = {cell.key for cell in chosen if (cell.experiment, cell.dataset, cell.depth, cell.seed) not in incomplete}
    staged = [by_key.get(record["key"], record) for record in records if record["key"] in kept]
    return staged, {of_stages(cell.key) for cell in missing}


def _long(
    records: list[dict[str, Any]], names: dict[str, str], index: str, first: int = 0, labels: Any = None
) -> pd.DataFrame:
    """One row for each entry of the nested lists."""
    having = [record for record in records if record.get(next(iter(names)))]
    if not having:
        return pd.DataFrame(columns=[*CELL, index, *names.values()])
    lengths = [len(record[next(iter(names))]) for record in having]
    table = {name: np.repeat([record[name] for record in having], lengths) for name in CELL}
    place = np.concatenate([np.arange(length) for length in lengths])
    table[index] = place + first if labels is None else np.asarray(labels)[place]
    table |= {column: np.concatenate([record[name] for record in having]) for name, column in names.items()}
    return pd.DataFrame(table)
