"""Turns the records of fits into tidy tables: fits, iterations, margins and weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import InvalidDataError
from .equal_size import sizes_table
from .fitting import QUANTILES
from .folder import RECORDS, planned_preset, read_plan, read_records
from .protocol import Cell
from .record import SIZES

CELL = list(Cell._fields)
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
    n_pending: int = 0
    """The number of fits that were planned and are not recorded yet."""
    sizes: pd.DataFrame = field(default_factory=lambda: sizes_table([]))
    """The ensembles within each budget of trees and leaves, of the experiment of equal sizes."""

    def chosen(self) -> pd.DataFrame:
        """Of the fits that differ only in the hyperparameter, the one with the best validation accuracy.

        Among equals the fit with the fewest trees is taken.
        """
        fits = self.fits[self.fits["error"].isna()] if "error" in self.fits else self.fits
        order = fits.sort_values(
            ["validation_accuracy", "trees", "value"], ascending=[False, True, True], kind="stable"
        )
        return order.drop_duplicates(CELL[:-1]).sort_values(CELL[:-1]).reset_index(drop=True)

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
    """The records of a folder, in the order of the cells, not in the order in which they were run."""
    folder = Path(folder)
    preset, records = planned_preset(read_plan(folder)), read_records(folder)
    if not any("error" not in record for record in records):
        first = f"; the first error: {records[0]['error']}" if records else ""
        raise InvalidDataError(f"{folder / RECORDS} has no fit that succeeded{first}.")
    records.sort(key=lambda record: [record[name] for name in CELL])
    flat = [{name: value for name, value in record.items() if name not in NESTED} for record in records]
    return Results(
        pd.DataFrame(flat),
        _long(records, {"anytime_accuracy": "accuracy", "anytime_trees": "trees"}, "iteration", first=1),
        _long(records, {"margins": "margin"}, "quantile", labels=QUANTILES),
        _long(records, {"weights": "weight"}, "rank", first=1),
        preset.reoptimize == "every",
        len({cell.key for cell in preset.cells()} - {record["key"] for record in records}),
        sizes_table(records),
    )


def _long(
    records: list[dict[str, Any]], names: dict[str, str], index: str, first: int = 0, labels: Any = None
) -> pd.DataFrame:
    """One row for each entry of the nested lists."""
    rows = []
    for record in records:
        lists = [record.get(name, []) for name in names]
        for k, values in enumerate(zip(*lists, strict=True)):
            label = k + first if labels is None else float(labels[k])
            rows.append([*(record[name] for name in CELL), label, *values])
    return pd.DataFrame(rows, columns=[*CELL, index, *names.values()])
