"""Records as tidy tables: fits, iterations, margins and weights."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import InvalidDataError
from .fitting import QUANTILES
from .protocol import Cell
from .runner import PRESET, RECORDS

CELL = list(Cell._fields)
NESTED = {"anytime_accuracy", "anytime_trees", "margins", "weights", "key", "traceback"}
TABLES = ("fits", "iterations", "margins", "weights")


@dataclass(frozen=True)
class Results:
    """Four tables, each with the columns of ``Cell`` first."""

    fits: pd.DataFrame
    iterations: pd.DataFrame
    margins: pd.DataFrame
    weights: pd.DataFrame
    stages_are_optimal: bool = True
    """Whether each stage of a totally corrective method is an optimum, or only the last."""

    def chosen(self) -> pd.DataFrame:
        """The fits of the value with the best validation accuracy; of equals, the one with the fewest trees."""
        fits = self.fits[self.fits["error"].isna()] if "error" in self.fits else self.fits
        order = fits.sort_values(
            ["validation_accuracy", "trees", "value"], ascending=[False, True, True], kind="stable"
        )
        return order.drop_duplicates(CELL[:-1]).sort_values(CELL[:-1]).reset_index(drop=True)

    def anytime(self, cells: pd.DataFrame) -> pd.DataFrame:
        """The iterations of these cells; a fit that ended early keeps its last ensemble to the end of the longest."""
        part = self.iterations.merge(cells[CELL], on=CELL)
        wide = part.pivot(index=CELL, columns="iteration", values="accuracy").ffill(axis=1)
        return wide.stack().rename("accuracy").reset_index()

    def write(self, folder: str | Path, kind: str = "csv") -> list[Path]:
        """One file a table, as CSV or Parquet."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in TABLES:
            path = folder / f"{name}.{kind}"
            table = getattr(self, name)
            table.to_parquet(path, index=False) if kind == "parquet" else table.to_csv(path, index=False)
            paths.append(path)
        return paths


def read_results(folder: str | Path) -> Results:
    """The records of a folder, in the order of their cells, whatever the order they were run in."""
    path = Path(folder) / RECORDS
    if not path.exists():
        raise InvalidDataError(f"{folder} has no {RECORDS}; it is not a folder of study results.")
    records = [json.loads(line) for line in path.read_bytes().splitlines() if line.endswith(b"}")]
    records.sort(key=lambda record: [record[name] for name in CELL])
    flat = [{name: value for name, value in record.items() if name not in NESTED} for record in records]
    return Results(
        pd.DataFrame(flat),
        _long(records, {"anytime_accuracy": "accuracy", "anytime_trees": "trees"}, "iteration", first=1),
        _long(records, {"margins": "margin"}, "quantile", labels=QUANTILES),
        _long(records, {"weights": "weight"}, "rank", first=1),
        json.loads((Path(folder) / PRESET).read_text())["reoptimize"] == "every",
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
