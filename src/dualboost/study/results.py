"""Turns the records of fits into tidy tables: fits, iterations, margins and weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidDataError
from .choice import CELL, chosen_cells, chosen_fits, has_optimal_stages, of_stages
from .compact import is_compact, read_compact
from .equal_size import sizes_table
from .fitting import QUANTILES
from .folder import RECORDS, STAGES, parts_of, planned_keys, planned_preset, read_plan, read_records
from .joining import join
from .record import SIZES

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
