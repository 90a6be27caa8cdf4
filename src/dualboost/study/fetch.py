"""Downloads the paper's data sets into a folder, and verifies each by its number of rows and its checksum."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..data.whole_files import write_whole
from ..errors import InvalidDataError, InvalidParameterError
from .datasets import TARGET
from .recipes import RECIPES
from .sources import Source

CHECKSUMS = "checksums.json"
"""The file that holds the checksum of every table that was fetched."""
DOWNLOADS = "downloads"
"""The folder of the downloaded files, from which the tables are made."""


@dataclass(frozen=True)
class Fetched:
    """The outcome for one data set."""

    name: str
    state: str
    """"fetched", "there already" or "failed"."""
    detail: str = ""


def fetch(folder: Path, names: Sequence[str] = (), recipes: dict[str, Source] = RECIPES) -> Iterator[Fetched]:
    """Fetch the data sets that are not there yet; a data set that fails does not stop the others.

    ``checksums.json`` in the folder holds the checksum of every table that was fetched. A file that has changed since
    then, or a source that gives another table than before, is an error.
    """
    unknown = [name for name in names if name not in recipes]
    if unknown:
        raise InvalidParameterError(f"{unknown[0]!r} cannot be fetched; there are {sorted(recipes)}.")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or recipes:
        try:
            yield _fetch_one(folder, name, recipes[name])
        except (OSError, ValueError, KeyError, ImportError) as error:
            yield Fetched(name, "failed", f"{type(error).__name__}: {error}".splitlines()[0])


def _fetch_one(folder: Path, name: str, source: Source) -> Fetched:
    path, known = folder / f"{name}.csv.gz", _checksums(folder)
    if path.exists():
        if name in known:
            _require_same(name, known[name], gzip.decompress(path.read_bytes()))
        return Fetched(name, "there already", "verified" if name in known else "not one of ours: left alone")
    frame = source.table(folder / DOWNLOADS)
    _require_table(name, frame, source.rows)
    content = frame[[*frame.columns.drop(TARGET), TARGET]].to_csv(index=False).encode()
    if name in known:
        _require_same(name, known[name], content)
    write_whole(path, gzip.compress(content, mtime=0))
    write_whole(folder / CHECKSUMS, json.dumps(known | {name: _sha256(content)}, indent=1).encode())
    return Fetched(name, "fetched", f"{len(frame)} rows")


def _require_table(name: str, frame: pd.DataFrame, rows: int) -> None:
    if len(frame) != rows:
        raise InvalidDataError(f"{name}: {len(frame)} rows came where {rows} were expected; the source has changed.")
    if frame[TARGET].nunique(dropna=False) != 2:
        raise InvalidDataError(f"{name}: the target has {frame[TARGET].nunique(dropna=False)} classes, not two.")


def _require_same(name: str, expected: str, content: bytes) -> None:
    if _sha256(content) != expected:
        raise InvalidDataError(
            f"{name}: the checksum is not the one of the first time. Delete {name}.csv.gz and its line in {CHECKSUMS} "
            "to fetch it anew."
        )


def _checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS
    known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return known


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
