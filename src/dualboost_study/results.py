"""Results as tables: read from one run, from several, or from compact files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dualboost.data.files import write_whole
from dualboost.data.table_files import read_table
from dualboost.errors import InvalidDataError, InvalidParameterError

from .folder import (
    PRESET,
    QUANTILES,
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
from .protocol import CELL, EQUAL_SIZE, METHODS, Cell, stages_key, tuning_group
from .sizes import chosen_sizes, sizes_table

NESTED = {"anytime_accuracy", "anytime_trees", "margins", "weights", "key", "traceback", *SIZES}
TABLES = ("fits", "iterations", "margins", "weights", "sizes")


def chosen_fits(fits: pd.DataFrame) -> pd.DataFrame:
    """Of the fits that differ only in the hyperparameter, the one with the best validation accuracy.

    Among equals the fit with the fewest trees is taken, then the smaller value.
    """
    succeeded = fits[fits["error"].isna()] if "error" in fits else fits
    order = succeeded.sort_values(
        ["validation_accuracy", "trees", "value"], ascending=[False, True, True], kind="stable"
    )
    return order.drop_duplicates(CELL[:-1]).sort_values(CELL[:-1]).reset_index(drop=True)


def cells_of(table: pd.DataFrame) -> list[Cell]:
    return [Cell(*row) for row in table[CELL].itertuples(index=False)]


def chosen_cells(fits: pd.DataFrame) -> list[Cell]:
    return cells_of(chosen_fits(fits))


def keys_of(fits: pd.DataFrame) -> list[str]:
    return [cell.key for cell in cells_of(fits)]


@dataclass(frozen=True)
class Results:
    """Tables that begin with the columns ``CELL``."""

    fits: pd.DataFrame
    iterations: pd.DataFrame
    margins: pd.DataFrame
    weights: pd.DataFrame
    stages_are_optimal: bool = True
    """Whether each stage of a totally corrective method is an optimum, or only the last stage."""
    pending: frozenset[str] = frozenset()
    """The keys of planned fits without a record, and the ``stages_key`` of fits that only lack their stages."""
    sizes: pd.DataFrame = field(default_factory=lambda: sizes_table([]))
    """The ensembles within each budget of trees and leaves, of the experiment of equal sizes."""

    def chosen(self) -> pd.DataFrame:
        return chosen_fits(self.fits)

    def experiments(self) -> list[tuple[str, int]]:
        """The experiments and depths that have a table of accuracies by data set."""
        pairs = self.fits.loc[self.fits["experiment"] != EQUAL_SIZE, ["experiment", "depth"]]
        return sorted(set(pairs.itertuples(index=False, name=None)))

    @property
    def gaps(self) -> str:
        """The numbers of missing fits in words; empty if the results are complete."""
        n_failed = int(self.fits["error"].notna().sum()) if "error" in self.fits else 0
        parts = [f"{len(self.pending):,} planned fits are not there yet" if self.pending else ""]
        parts.append(f"{n_failed:,} fits failed" if n_failed else "")
        return "; ".join(filter(None, parts))

    def anytime(self, cells: pd.DataFrame) -> pd.DataFrame:
        """The iterations of these cells; the last ensemble of a fit that ended early continues its curve."""
        part = self.iterations.merge(cells[CELL], on=CELL)
        wide = part.pivot(index=CELL, columns="iteration", values="accuracy").ffill(axis=1)
        return wide.stack().rename("accuracy").reset_index()

    def write(self, folder: str | Path, suffix: str = "csv") -> list[Path]:
        """Write each table to a file, as CSV or Parquet; fits get a column that marks the chosen ones."""
        folder, chosen = Path(folder), set(chosen_cells(self.fits))
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in TABLES:
            table, path = getattr(self, name), folder / f"{name}.{suffix}"
            if name == "fits":
                table = table.assign(chosen=[cell in chosen for cell in cells_of(table)])
            table.to_parquet(path, index=False) if suffix == "parquet" else table.to_csv(path, index=False)
            paths.append(path)
        return paths


def read_results(folder: str | Path) -> Results:
    """The results of a run, of several runs in subfolders of one folder, or of compact tables."""
    return _joined([_read_part(part) for part in parts_of(Path(folder))])


def _joined(parts: Sequence[Results]) -> Results:
    """The results of all parts as one.

    If the stages of one part are optima, iterations of parts without optimal stages are left out, so that they are not
    compared.
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
    tables = {name: _stacked([getattr(part, name) for part in parts]) for name in TABLES}
    pending = frozenset.union(*(part.pending for part in parts)).difference(keys_of(tables["fits"]))
    return replace(first, **tables, stages_are_optimal=are_optimal, pending=pending)


def _require_disjoint(parts: Sequence[Results]) -> None:
    cells = pd.concat([part.fits[CELL] for part in parts])
    twice = cells[cells.duplicated()]
    if len(twice):
        key = "/".join(map(str, twice.iloc[0]))
        raise InvalidDataError(f"{len(twice):,} fits are in two parts of the results, such as {key}; take one away.")


def _stacked(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all tables in the order of the cells; tables without rows do not change the types of columns."""
    filled = [table for table in tables if len(table)]
    if not filled:
        return tables[0]
    return pd.concat(filled, ignore_index=True).sort_values(CELL, kind="stable", ignore_index=True)


def _read_part(folder: Path) -> Results:
    """The records of a folder in the order of the cells, which does not depend on the order of the run."""
    if _is_compact(folder):
        return _read_compact(folder)
    plan, records = read_plan(folder), read_records(folder / RECORDS)
    preset = planned_preset(plan)
    if not any("error" not in record for record in records):
        first = f"; the first error: {records[0]['error']}" if records else ""
        raise InvalidDataError(f"{folder / RECORDS} has no fit that succeeded{first}.")
    records.sort(key=lambda record: [record[name] for name in CELL])
    fits = pd.DataFrame([{name: value for name, value in one.items() if name not in NESTED} for one in records])
    pending = planned_keys(plan) - {record["key"] for record in records}
    staged, without_stages = records, set[str]()
    if preset.reoptimize == "chosen":
        staged, without_stages = _with_optimal_stages(records, fits, read_records(folder / STAGES))
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
    """The chosen records with optimal stages, and the keys of missing ones.

    A split with a missing record is left out, so that methods are compared on the same splits.
    """
    by_key = {record["key"]: record for record in stages if "error" not in record}
    chosen = chosen_cells(fits)
    missing = {cell for cell in chosen if cell.has_optimal_stages and cell.key not in by_key}
    incomplete = {(cell.experiment, cell.dataset, cell.depth, cell.seed) for cell in missing}
    kept = {cell.key for cell in chosen if (cell.experiment, cell.dataset, cell.depth, cell.seed) not in incomplete}
    staged = [by_key.get(record["key"], record) for record in records if record["key"] in kept]
    return staged, {stages_key(cell.key) for cell in missing}


def _long(
    records: list[dict[str, Any]], names: dict[str, str], index: str, first: int = 0, labels: Any = None
) -> pd.DataFrame:
    having = [record for record in records if record.get(next(iter(names)))]
    if not having:
        return pd.DataFrame(columns=[*CELL, index, *names.values()])
    lengths = [len(record[next(iter(names))]) for record in having]
    table = {name: np.repeat([record[name] for record in having], lengths) for name in CELL}
    place = np.concatenate([np.arange(length) for length in lengths])
    table[index] = place + first if labels is None else np.asarray(labels)[place]
    table |= {column: np.concatenate([record[name] for record in having]) for name, column in names.items()}
    return pd.DataFrame(table)


# Compact results are small files to publish. They hold all fits, and of the long tables only what the report draws:
# iterations of the chosen fits; their margins and weights (relative to the largest) with CART trees; for one seed the
# margins at each value; and the chosen ensembles within budgets. ``summary.json`` holds the plans.

SUMMARY_PARTS = {"stages_are_optimal": bool, "without_stages": list, "tables": dict, "plans": dict}
SOME_QUANTILES = QUANTILES[::5]
LEFT_OUT = ["objective", "train_accuracy"]
"""Columns of fits that no table, observation or plot uses."""
DECIMALS = {"validation_accuracy": 6, "test_accuracy": 6, "accuracy": 5, "margin": 3, "weight": 3}
SIGNIFICANT_DIGITS = {"hyperparameter": 6, "seconds": 2, "gap": 1}


def write_compact(results: Results, source: Path, out: Path) -> list[Path]:
    """Write the tables of the results in the folder ``source`` as Parquet files, with their plans."""
    if (out / PRESET).exists() or out.resolve() == source.resolve():
        raise InvalidParameterError(f"{out} holds a run; name another folder for compact results with -o.")
    out.mkdir(parents=True, exist_ok=True)
    tables = _compact(results)
    for name, table in tables.items():
        table.to_parquet(out / f"{name}.parquet", index=False, compression="zstd", compression_level=19)
    summary = {
        "stages_are_optimal": results.stages_are_optimal,
        "without_stages": sorted(key for key in results.pending if key == stages_key(tuning_group(key))),
        "tables": {name: _description(table) for name, table in tables.items()},
        "plans": plans_of(source),
    }
    write_whole(out / SUMMARY, json.dumps(summary, indent=1).encode())
    return [*(out / f"{name}.parquet" for name in tables), out / SUMMARY]


def plans_of(source: Path) -> dict[str, Any]:
    """The plan of each part of the results, by the name of its folder."""
    plans: dict[str, Any] = {}
    for part in parts_of(source):
        plans |= _summary(part)["plans"] if _is_compact(part) else {part.name: read_plan(part)}
    return plans


def _compact(results: Results) -> dict[str, pd.DataFrame]:
    """The tables without unused rows and columns, and without fits whose other values are missing: none is chosen."""
    incomplete = set(map(tuning_group, results.pending)).difference(keys_of(results.fits))  # not if only stages miss
    is_complete = [tuning_group(key) not in incomplete for key in keys_of(results.fits)]
    fits = results.fits[is_complete].reset_index(drop=True)
    chosen = chosen_fits(fits)[CELL]
    weights = results.weights[_has_margins(results.weights)].merge(chosen, on=CELL)
    tables = {
        "fits": fits.drop(columns=LEFT_OUT, errors="ignore"),
        "iterations": results.iterations.merge(chosen, on=CELL),
        "margins": _some_margins(results.margins, chosen),
        "weights": weights.assign(weight=weights["weight"] / weights.groupby(CELL)["weight"].transform("max")),
        "sizes": chosen_sizes(results.sizes),
    }
    known = pd.MultiIndex.from_frame(fits[CELL])
    return {name: _rounded(table[pd.MultiIndex.from_frame(table[CELL]).isin(known)]) for name, table in tables.items()}


def _has_margins(table: pd.DataFrame) -> pd.Series:
    """Whether a row is of CART trees and has normalised scores; XGBoost and LightGBM have none."""
    with_margins = [name for name, method in METHODS.items() if method.has_margins]
    return (table["experiment"] == "cart") & table["method"].isin(with_margins)


def _some_margins(margins: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """Every fifth quantile, of the chosen fits and of all values of the first seed."""
    few = margins[_has_margins(margins) & margins["quantile"].isin(SOME_QUANTILES)]
    is_chosen = pd.MultiIndex.from_frame(few[CELL]).isin(pd.MultiIndex.from_frame(chosen))
    return few[is_chosen | (few["seed"] == few["seed"].min())]


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    exact = {name: table[name].round(decimals) for name, decimals in DECIMALS.items() if name in table}
    for name, digits in SIGNIFICANT_DIGITS.items():
        if name in table:
            exact[name] = table[name].map(lambda value, digits=digits: float(f"{value:.{digits}g}"))
    return table.assign(**exact).reset_index(drop=True)


def _is_compact(folder: Path) -> bool:
    return (folder / SUMMARY).exists()


def _read_compact(folder: Path) -> Results:
    summary = _summary(folder)
    described = summary["tables"]
    tables = {name: _read_table(folder, name, described[name]) for name in TABLES if name in described}
    pending = frozenset(summary["planned"].difference(keys_of(tables["fits"])).union(summary["without_stages"]))
    return Results(**tables, stages_are_optimal=summary["stages_are_optimal"], pending=pending)


def _summary(folder: Path) -> dict[str, Any]:
    path = folder / SUMMARY
    try:
        summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        wrong = [name for name, kind in SUMMARY_PARTS.items() if not isinstance(summary[name], kind)]
        summary["planned"] = set().union(*map(planned_keys, {} if wrong else summary["plans"].values()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidDataError(f"{path} is damaged: {error}.") from error
    if wrong or "fits" not in summary["tables"]:
        raise InvalidDataError(f"{path} is damaged: {(wrong or ['fits'])[0]!r} is missing or has another type.")
    return summary


def _read_table(folder: Path, name: str, described: Any) -> pd.DataFrame:
    """A table as it was written; a table without rows is only described in the summary."""
    path = folder / f"{name}.parquet"
    is_empty = name != "fits" and isinstance(described, dict) and described.get("rows") == 0
    table = pd.DataFrame(columns=described.get("columns")) if is_empty else read_table(path)
    if described != _description(table):
        raise InvalidDataError(f"{path} is not the table that {SUMMARY} describes; export the results again.")
    return table


def _description(table: pd.DataFrame) -> dict[str, Any]:
    return {"rows": len(table), "columns": list(table)}
