"""Runs the fits of a study, and goes on where it was interrupted."""

from __future__ import annotations

import json
import os
import platform
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from joblib import Parallel, delayed, parallel_config

from dualboost.arguments import require_jobs
from dualboost.boosting.observers import ProgressBar
from dualboost.errors import DualBoostWarning, InvalidDataError, InvalidParameterError
from dualboost.matrix.rows import one_blas_thread

from .datasets import available, load
from .fitting import run_cell
from .folder import RECORDS, STAGES, checksum_of, cut_off_incomplete_line, make_folder, prepare_folder, read_records
from .protocol import Cell, Preset
from .results import plans_of, read_results
from .sizes import chosen_cells, has_optimal_stages, keys_of, tuned

# The lock is the operating system's, which takes it back when a process ends, however that ends: none can be left
# behind.

LOCK = ".lock"
"""The file that is locked. It says who holds the lock, and stays: a file removed could be locked by two."""
PLACE = 1 << 20
"""The byte that is locked on Windows, where a locked byte cannot be read: behind those that say who holds the lock."""


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder; refused while another run, of this process or another, holds it."""
    path = folder / LOCK
    descriptor = _opened(path)
    try:
        if not _acquired(descriptor, path):
            raise InvalidParameterError(
                f"{folder} is in use by another run{_holder(path)}: wait until it ends, or choose another folder."
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {platform.node()}".encode())
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """The file, which processes that this one starts do not inherit, so that none of them keeps the lock."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InvalidParameterError(f"{path.parent} cannot be a folder for results: {error.strerror}.") from error


def _acquired(descriptor: int, path: Path) -> bool:
    try:
        _lock(descriptor)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        warnings.warn(
            f"{path} cannot be locked ({error.strerror}): make sure that no other run uses that folder.",
            DualBoostWarning,
            stacklevel=5,
        )
    return True


def _lock(descriptor: int) -> None:
    """Lock without waiting; BlockingIOError or PermissionError if another holds the lock."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, PLACE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _holder(path: Path) -> str:
    """Who holds the lock, in words, if that can be read."""
    try:
        found = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return f" ({found})" if found else ""


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
    beside: Path | None = None,
) -> Run:
    """Run the fits that are not recorded yet in the folder ``out``, and those that failed before.

    A run that was killed can be started again and goes on where it stopped; a fit whose record is incomplete is run
    again. Fits that the results in the folder ``beside`` have are left out. While a run goes on, another one into the
    same folder is refused. Records do not depend on ``n_jobs`` or ``backend``, but for their order and their seconds.
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
        for seed in range(preset.seeds):
            cells = [cell for cell in preset.cells() if cell.seed == seed and tuned(cell.key) not in known]
            for phase in filter(lambda phase: phase.cells, _phases(preset, cells, out)):
                records = _records(phase.cells, phase.preset, folder, n_jobs, backend)
                _write(records, out / phase.file, len(phase.cells), verbose, run)
        return run


def _fits_beside(beside: Path, preset: Preset, folder: Path | None) -> set[str]:
    """The fits that the results hold; an error where they are of other rows of the same name."""
    fits = read_results(beside).fits
    checksums = {name: checksum_of(name, folder) for name in preset.datasets}
    for plan in plans_of(beside).values():
        for name, checksum in plan.get("checksums", {}).items():
            if checksums.get(name, checksum) != checksum:
                raise InvalidDataError(
                    f"The fits of {name!r} in {beside} were made with other data than yours: use the same file, or "
                    "name the other data sets in the preset (datasets)."
                )
    return set(map(tuned, keys_of(fits)))


class Phase(NamedTuple):
    """Fits that are run together, and the file for their records."""

    file: str
    preset: Preset
    cells: list[Cell]


def _phases(preset: Preset, cells: list[Cell], out: Path) -> Iterator[Phase]:
    """The fits of these cells; then those whose value is chosen once more, if every stage of these is to be optimal."""
    yield Phase(RECORDS, preset, _pending(cells, out, RECORDS))
    if preset.reoptimize == "chosen":
        yield Phase(STAGES, replace(preset, reoptimize="every"), _pending(_staged(cells, out), out, STAGES))


def _staged(cells: list[Cell], out: Path) -> list[Cell]:
    """Of the cells, those that are chosen and whose stages are to be optimal."""
    keys = {cell.key for cell in cells}
    recorded = [record for record in read_records(out) if record["key"] in keys and "error" not in record]
    chosen = set(chosen_cells(pd.DataFrame(recorded))) if recorded else set()
    return [cell for cell in cells if cell in chosen and has_optimal_stages(cell)]


def _pending(cells: list[Cell], out: Path, file: str) -> list[Cell]:
    """The cells that the file has no record of, or an error."""
    cut_off_incomplete_line(out / file)
    done = {record["key"] for record in read_records(out, file) if "error" not in record}
    return [cell for cell in cells if cell.key not in done]


def _write(records: Iterator[dict[str, Any]], path: Path, n_records: int, verbose: int, run: Run) -> None:
    """Append each record to the file, on disk before the next one is waited for."""
    with path.open("a", encoding="utf-8") as file, ProgressBar(n_records, verbose > 0, "fit") as bar:
        for record in records:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())
            run.count(record)
            bar.advance(**{name: record[name] for name in ("dataset", "method", "depth")})


def _usable_rows(name: str, folder: Path | None) -> int:
    """The number of rows of a data set; an error if it is of no use should come before hours of fits."""
    _, labels = load(name, folder)
    fewest = int(min((labels > 0).sum(), (labels < 0).sum()))
    if fewest < LEAST_OF_A_CLASS:
        raise InvalidDataError(
            f"The data set {name!r} has {fewest} rows of a class; {LEAST_OF_A_CLASS} are needed for three parts."
        )
    return len(labels)


def _records(
    cells: list[Cell], preset: Preset, folder: Path | None, n_jobs: int, backend: str | None
) -> Iterator[dict[str, Any]]:
    with parallel_config(backend=backend or "loky"):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        yield from parallel(delayed(_run)(cell, preset, folder) for cell in cells)


def _run(cell: Cell, preset: Preset, folder: Path | None) -> dict[str, Any]:
    with one_blas_thread():
        return run_cell(cell, preset, folder)
