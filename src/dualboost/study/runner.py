"""Runs every cell of a preset once: in parallel, resumable, one record to disk as each fit ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

from ..errors import InvalidParameterError
from ..progress import ProgressBar
from ..threads import one_blas_thread
from .datasets import available
from .fitting import run_cell
from .protocol import Cell, Preset

RECORDS, PRESET = "records.jsonl", "preset.json"


def run_study(
    preset: Preset,
    out: str | Path,
    folder: Path | None = None,
    n_jobs: int = 1,
    backend: str | None = None,
    verbose: int = 0,
) -> int:
    """Run what is not recorded yet in the folder ``out``; the number of records that were added.

    Killed at any moment and started again, it goes on where it was: a line that was cut off is run again. Records do
    not depend on ``n_jobs`` or ``backend``, but for their order and their seconds.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    _require_same_preset(preset, out / PRESET)
    done = recorded_keys(out / RECORDS)
    names = list(preset.datasets) or available(folder)
    pending = [cell for cell in preset.cells(names) if cell.key not in done]
    with (out / RECORDS).open("a", encoding="utf-8") as file, ProgressBar(len(pending), verbose > 0, "fit") as bar:
        for record in _records(pending, preset, folder, n_jobs, backend):
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())
            bar.advance(**{name: record[name] for name in ("dataset", "method", "depth")})
    return len(pending)


def _records(
    cells: list[Cell], preset: Preset, folder: Path | None, n_jobs: int, backend: str | None
) -> Iterator[dict[str, Any]]:
    with parallel_config(backend=backend) if backend else parallel_config(backend="loky"):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        yield from parallel(delayed(_run)(cell, preset, folder) for cell in cells)


def _run(cell: Cell, preset: Preset, folder: Path | None) -> dict[str, Any]:
    with one_blas_thread():
        return run_cell(cell, preset, folder)


def recorded_keys(path: Path) -> set[str]:
    """The cells that are on disk; a last line without an end is cut off first."""
    if not path.exists():
        return set()
    content = path.read_bytes()
    complete = content[: content.rfind(b"\n") + 1]
    if len(complete) < len(content):
        with path.open("r+b") as file:
            file.truncate(len(complete))
    return {json.loads(line)["key"] for line in complete.splitlines()}


def _require_same_preset(preset: Preset, path: Path) -> None:
    """A folder of results belongs to one preset."""
    table = json.loads(json.dumps(preset.as_table()))
    if not path.exists():
        path.write_text(json.dumps(table, indent=1))
        return
    before = json.loads(path.read_text())
    different = [name for name in table if table[name] != before.get(name)]
    if different:
        name = different[0]
        raise InvalidParameterError(
            f"{path.parent} holds results of another preset: {name} was {before.get(name)!r} and is {table[name]!r}. "
            "Choose another folder for the results."
        )
