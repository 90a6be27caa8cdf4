"""Runs every cell of a preset in parallel, and writes the record of a fit to disk as soon as the fit ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

from ..algebra.threads import one_blas_thread
from ..arguments import require_jobs
from ..errors import InvalidDataError
from ..loop.progress import ProgressBar
from .datasets import available, load
from .fitting import run_cell
from .folder import RECORDS, cut_off_incomplete_line, make_folder, prepare_folder, read_records
from .lock import only_run
from .protocol import Cell, Preset

LEAST_OF_A_CLASS = 5


@dataclass
class Run:
    """The outcome of a run: the number of fits, and the errors of those that failed."""

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
) -> Run:
    """Run the fits that are not recorded yet in the folder ``out``, and those that failed before.

    A run that was killed can be started again and goes on where it stopped; a fit whose record is incomplete is run
    again. While a run goes on, another one into the same folder is refused. Records do not depend on ``n_jobs`` or
    ``backend``, except for their order and their seconds.
    """
    out = Path(out)
    require_jobs(n_jobs)
    preset = replace(preset, datasets=preset.datasets or tuple(available(folder)))
    for name in preset.datasets:
        _require_usable(name, folder)  # an error should come before hours of fits
    make_folder(out)
    with only_run(out):
        prepare_folder(out, preset, folder)
        cut_off_incomplete_line(out)
        done = {record["key"] for record in read_records(out) if "error" not in record}
        pending = [cell for cell in preset.cells() if cell.key not in done]
        return _written(_records(pending, preset, folder, n_jobs, backend), len(pending), out, verbose)


def _written(records: Iterator[dict[str, Any]], n_records: int, out: Path, verbose: int) -> Run:
    """Append each record to the file of the folder, on disk before the next one is waited for."""
    run = Run()
    with (out / RECORDS).open("a", encoding="utf-8") as file, ProgressBar(n_records, verbose > 0, "fit") as bar:
        for record in records:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())
            run.count(record)
            bar.advance(**{name: record[name] for name in ("dataset", "method", "depth")})
    return run


def _require_usable(name: str, folder: Path | None) -> None:
    _, labels = load(name, folder)
    fewest = int(min((labels > 0).sum(), (labels < 0).sum()))
    if fewest < LEAST_OF_A_CLASS:
        raise InvalidDataError(
            f"The data set {name!r} has {fewest} rows of a class; {LEAST_OF_A_CLASS} are needed for three parts."
        )


def _records(
    cells: list[Cell], preset: Preset, folder: Path | None, n_jobs: int, backend: str | None
) -> Iterator[dict[str, Any]]:
    with parallel_config(backend=backend or "loky"):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        yield from parallel(delayed(_run)(cell, preset, folder) for cell in cells)


def _run(cell: Cell, preset: Preset, folder: Path | None) -> dict[str, Any]:
    with one_blas_thread():
        return run_cell(cell, preset, folder)
