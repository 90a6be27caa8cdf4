"""Runs the fits of a study, and continues a run that was interrupted."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed, parallel_config

from dualboost.arguments import require_jobs
from dualboost.boosting.observers import ProgressBar
from dualboost.errors import InvalidDataError
from dualboost.matrix.rows import one_blas_thread

from .datasets import available, load
from .fitting import run_cell
from .folder import (
    RECORDS,
    STAGES,
    checksum_of,
    cut_off_incomplete_line,
    make_folder,
    only_run,
    prepare_folder,
    read_records,
)
from .protocol import Cell, Preset, tuning_group
from .results import chosen_cells, keys_of, plans_of, read_results

LEAST_OF_A_CLASS = 5


@dataclass
class Run:
    """The number of fits, and the keys of failed fits by their error."""

    added: int = 0
    failed: dict[str, list[str]] = field(default_factory=dict)

    def count(self, record: dict[str, Any]) -> None:
        self.added += 1
        if "error" in record:
            self.failed.setdefault(record["error"], []).append(record["key"])

    @property
    def n_failed(self) -> int:
        return sum(map(len, self.failed.values()))


def run_study(
    preset: Preset,
    out: str | Path,
    folder: Path | None = None,
    n_jobs: int = 1,
    backend: str | None = None,
    verbose: int = 0,
    beside: Path | None = None,
) -> Run:
    """Run the fits without a record in the folder ``out``, and the fits that failed before.

    A killed run continues when it is started again; a fit with an incomplete record is run again. Fits in the results
    of the folder ``beside`` are left out. A second run into the folder of a running one is refused. Only the order and
    the seconds of the records depend on ``n_jobs`` and ``backend``.
    """
    out = Path(out)
    require_jobs(n_jobs)
    n_rows = {name: _usable_rows(name, folder) for name in preset.datasets or available(folder)}
    preset = replace(preset, datasets=tuple(sorted(n_rows, key=lambda name: n_rows[name])))
    known = set() if beside is None else _fits_beside(Path(beside), preset, folder)
    make_folder(out)
    with only_run(out):
        prepare_folder(out, preset, folder)
        run = Run()
        make = partial(_make_fits, run=run, folder=folder, n_jobs=n_jobs, backend=backend, verbose=verbose)
        for seed in range(preset.seeds):
            cells = [cell for cell in preset.cells() if cell.seed == seed and tuning_group(cell.key) not in known]
            make(cells, out / RECORDS, preset)
            if preset.reoptimize == "chosen":
                make(_staged(cells, out), out / STAGES, replace(preset, reoptimize="every"))
        return run


def _fits_beside(beside: Path, preset: Preset, folder: Path | None) -> set[str]:
    """The tuning groups that the results hold; an error if a data set of the same name has other rows."""
    fits = read_results(beside).fits
    checksums = {name: checksum_of(name, folder) for name in preset.datasets}
    for plan in plans_of(beside).values():
        for name, checksum in plan.get("checksums", {}).items():
            if checksums.get(name, checksum) != checksum:
                raise InvalidDataError(
                    f"The fits of {name!r} in {beside} were made with other data than yours: use the same file, or "
                    "name the other data sets in the preset (datasets)."
                )
    return set(map(tuning_group, keys_of(fits)))


def _staged(cells: list[Cell], out: Path) -> list[Cell]:
    """The cells whose value is chosen, and whose fit with every stage optimal differs."""
    keys = {cell.key for cell in cells}
    recorded = [record for record in read_records(out / RECORDS) if record["key"] in keys and "error" not in record]
    chosen = set(chosen_cells(pd.DataFrame(recorded))) if recorded else set()
    return [cell for cell in cells if cell in chosen and cell.has_optimal_stages]


def _make_fits(
    cells: list[Cell],
    path: Path,
    preset: Preset,
    *,
    run: Run,
    folder: Path | None,
    n_jobs: int,
    backend: str | None,
    verbose: int,
) -> None:
    """Append a record to the file for each cell without one, or with an error."""
    cut_off_incomplete_line(path)
    done = {record["key"] for record in read_records(path) if "error" not in record}
    pending = [cell for cell in cells if cell.key not in done]
    if not pending:
        return
    with (
        parallel_config(backend=backend or "loky"),
        path.open("a", encoding="utf-8") as file,
        ProgressBar(len(pending), verbose > 0, "fit") as bar,
    ):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        for record in parallel(delayed(_run)(cell, preset, folder) for cell in pending):
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())  # a kill loses at most the records of running fits
            run.count(record)
            bar.advance(**{name: record[name] for name in ("dataset", "method", "depth")})


def _usable_rows(name: str, folder: Path | None) -> int:
    """The number of rows of a data set; an error for a useless one comes before hours of fits."""
    _, labels = load(name, folder)
    fewest = int(min((labels > 0).sum(), (labels < 0).sum()))
    if fewest < LEAST_OF_A_CLASS:
        raise InvalidDataError(
            f"The data set {name!r} has {fewest} rows of a class; {LEAST_OF_A_CLASS} are needed for three parts."
        )
    return len(labels)


def _run(cell: Cell, preset: Preset, folder: Path | None) -> dict[str, Any]:
    with one_blas_thread():
        return run_cell(cell, preset, folder)
