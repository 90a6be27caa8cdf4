"""The folder of a run: its plan, its records, and its lock."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from dualboost.data.files import write_whole
from dualboost.errors import DualBoostWarning, InvalidDataError, InvalidParameterError

from .datasets import file_of
from .protocol import EQUAL_SIZE, EXPERIMENTS, GROWING, METHODS, Cell, Preset
from .sizes import BUDGETS

QUANTILES = np.linspace(0.0, 1.0, 101)
"""The points at which a record holds the distribution of the test margins."""
LARGEST = 2**53
"""Larger whole numbers are no counts, and do not fit into a table of numbers."""


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST)


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _is_text(value: Any) -> bool:
    """Whether a file can hold the text: JSON may hold half of a surrogate pair."""
    return isinstance(value, str) and not any(0xD800 <= ord(character) < 0xE000 for character in value)


FIGURES: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("n_train", "n_features", "trees", "leaves"), _is_whole),
    **dict.fromkeys(
        ("hyperparameter", "seconds", "train_accuracy", "validation_accuracy", "test_accuracy"), _is_number
    ),
    **dict.fromkeys(("gap", "objective"), _is_number_or_none),
    "stop_reason": _is_text,
    **dict.fromkeys(("weights", "margins", "anytime_accuracy", "anytime_trees"), _is_list),
}
"""The entries of the record of a fit that succeeded, besides its cell and key."""
SIZES = dict.fromkeys(("within_trees", "within_leaves", "within_validation", "within_test"), _is_list)
"""More entries of the experiment of equal sizes: a number for each budget."""
CELL_ENTRIES = {name: _is_whole if kind is int else _is_text for name, kind in get_type_hints(Cell).items()}
CHECKS = CELL_ENTRIES | FIGURES | SIZES | {"key": _is_text, "error": _is_text, "traceback": _is_text}


def as_record(value: Any) -> dict[str, Any]:
    """The value, if it is a record, so that tables need no checks; otherwise a ValueError with the reason."""
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    _require_names(value, (*CELL_ENTRIES, "key"))
    if "error" not in value:
        _require_names(value, FIGURES if value["experiment"] != EQUAL_SIZE else FIGURES | SIZES)
    for name, entry in value.items():
        if name in CHECKS and not CHECKS[name](entry):
            raise ValueError(f"{name}={entry!r:.40} is not possible")
    cell = Cell(*(value[name] for name in Cell._fields))
    if cell.method not in METHODS or cell.experiment not in EXPERIMENTS:
        raise ValueError(f"method={cell.method!r} or experiment={cell.experiment!r} is not known")
    if value["key"] != cell.key:
        raise ValueError(f"key={value['key']!r} differs from the key of its cell, {cell.key!r}")
    if "error" not in value:
        _require_lengths(value)
    return value


def _require_names(value: dict[str, Any], names: Iterable[str]) -> None:
    missing = sorted(set(names) - set(value))
    if missing:
        raise ValueError(f"{missing[0]!r} is missing")


def _require_lengths(value: dict[str, Any]) -> None:
    if value["experiment"] == EQUAL_SIZE:
        lengths = {len(value[name]) for name in SIZES}
        if lengths != {len(BUDGETS)}:
            raise ValueError(f"there are {sorted(lengths)} numbers, not {len(BUDGETS)}, one for each budget")
    elif len(value["margins"]) != len(QUANTILES):
        raise ValueError(f"margins has {len(value['margins'])} numbers, not {len(QUANTILES)}")
    if len(value["anytime_accuracy"]) != len(value["anytime_trees"]):
        raise ValueError("anytime_accuracy and anytime_trees differ in length")


RECORDS = "records.jsonl"
"""The file with one record on each line."""
STAGES = "stages.jsonl"
"""The file with a record of each fit that was repeated with every stage optimal."""
PRESET = "preset.json"
"""The file with the plan: the preset, the checksums of its data and the versions of the libraries."""
SUMMARY = "summary.json"
"""The file that describes the tables of compact results."""
PACKAGES = ("dualboost", "numpy", "scikit-learn", "lightgbm", "xgboost", "pystreed")


def make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameterError(f"{out} cannot be a folder for results: {error.strerror}.") from error


def prepare_folder(out: Path, preset: Preset, data: Path | None) -> None:
    """Write or check the plan: the fits of a folder have one protocol and one version of the data."""
    checksums = {name: checksum_of(name, data) for name in preset.datasets}
    plan = asdict(preset) | {"checksums": checksums, "versions": {name: _version(name) for name in PACKAGES}}
    if (out / PRESET).exists():
        before = read_plan(out)
        _require_same_protocol(out, before, plan)
        checksums |= {name: value for name, value in before.get("checksums", {}).items() if name not in checksums}
        plan["versions"] = before.get("versions", plan["versions"])
    write_whole(out / PRESET, json.dumps(plan, indent=1).encode())


def _require_same_protocol(out: Path, before: dict[str, Any], plan: dict[str, Any]) -> None:
    plan = json.loads(json.dumps(plan))
    for name in (field.name for field in fields(Preset) if field.name not in GROWING):
        if name in before and before[name] != plan[name]:
            raise InvalidParameterError(
                f"{out} holds results of another preset: {name} was {before[name]!r} and is {plan[name]!r}. "
                "Choose another folder for the results."
            )
    for name, checksum in before.get("checksums", {}).items():
        if plan["checksums"].get(name, checksum) != checksum:
            raise InvalidDataError(f"The data set {name!r} has changed since {out} was begun; choose another folder.")


def checksum_of(name: str, data: Path | None) -> str:
    path = file_of(name, data)
    return "generated" if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def read_plan(folder: Path) -> dict[str, Any]:
    path = folder / PRESET
    try:
        plan: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        _require_object("plan", plan)
        for name in ("checksums", "versions"):
            _require_object(name, plan.get(name, {}))
        planned_preset(plan)
    except OSError as error:
        raise InvalidDataError(f"{folder} has no {PRESET}; it is not a folder of study results.") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidDataError(f"{path} is damaged: {error}.") from error
    return plan


def _require_object(name: str, part: Any) -> None:
    if not isinstance(part, dict):
        raise ValueError(f"{name} is {str(part)[:40]}, which is no JSON object")


def planned_keys(plan: dict[str, Any]) -> set[str]:
    return {cell.key for cell in planned_preset(plan).cells()}


def planned_preset(plan: dict[str, Any]) -> Preset:
    known = {field.name for field in fields(Preset)}
    return Preset.from_table({name: value for name, value in plan.items() if name in known})


def parts_of(folder: Path) -> list[Path]:
    """The folder itself if it holds results, otherwise its subfolders with results, which are parts of one study."""
    if any((folder / name).exists() for name in (PRESET, SUMMARY)):
        return [folder]
    return sorted({path.parent for name in (PRESET, SUMMARY) for path in folder.glob(f"*/{name}")}) or [folder]


def read_records(path: Path) -> list[dict[str, Any]]:
    """The last record of each fit, in the order of the file; an incomplete last line is left out."""
    records: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(_complete(path).splitlines(), start=1):
        try:
            record = as_record(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise InvalidDataError(
                f"{path}: line {number} is damaged: {error}. Delete it, and run the preset again for that fit."
            ) from error
        records[record["key"]] = record
    return list(records.values())


def cut_off_incomplete_line(path: Path) -> None:
    if path.exists():
        length = len(_complete(path))
        with path.open("r+b") as file:
            file.truncate(length)


def _complete(path: Path) -> bytes:
    try:
        content = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise InvalidDataError(f"{path} cannot be read: {error.strerror}.") from error
    return content[: content.rfind(b"\n") + 1]


# The operating system releases the lock when a process ends for any reason, so no lock is left behind.

LOCK = ".lock"
"""The locked file, with the process that holds the lock. It stays: two processes could lock a file that is removed."""
PLACE = 1 << 20
"""The locked byte on Windows: after the text of the file, because a locked byte cannot be read."""


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder; refused while another run of any process holds it."""
    path = folder / LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)  # child processes do not inherit it, nor the lock
    except OSError as error:
        raise InvalidParameterError(f"{folder} cannot be a folder for results: {error.strerror}.") from error
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
    try:
        found = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return f" ({found})" if found else ""
