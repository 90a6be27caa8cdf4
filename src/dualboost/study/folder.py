"""A folder of results: what was planned (``preset.json``), and a record of each fit (``records.jsonl``).

Of fits that were made once more with every stage optimal, the records are in ``stages.jsonl``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..data.whole_files import write_whole
from ..errors import InvalidDataError, InvalidParameterError
from .datasets import file_of
from .protocol import GROWING, Preset
from .record import as_record

RECORDS = "records.jsonl"
"""The file with one record on each line."""
STAGES = "stages.jsonl"
"""The file with a record of each fit that was made once more with every stage optimal."""
PRESET = "preset.json"
"""The file with what was planned."""
SUMMARY = "summary.json"
"""The file that describes the tables of compact results."""
PACKAGES = ("dualboost", "numpy", "scikit-learn", "lightgbm", "xgboost", "pystreed")


def make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameterError(f"{out} cannot be a folder for results: {error.strerror}.") from error


def prepare_folder(out: Path, preset: Preset, data: Path | None) -> None:
    """Write or check the plan: the fits of a folder must be of one protocol and one version of the data."""
    checksums = {name: checksum_of(name, data) for name in preset.datasets}
    plan = preset.as_table() | {"checksums": checksums, "versions": _versions()}
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
    """That of the file of a data set in the folder of the data."""
    path = file_of(name, data)
    return "generated" if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def read_plan(folder: Path) -> dict[str, Any]:
    """The preset that was run, with the checksums of its data and the versions of the libraries."""
    path = folder / PRESET
    try:
        plan: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        _require_objects({"plan": plan})
        _require_objects({name: plan.get(name, {}) for name in ("checksums", "versions")})
        planned_preset(plan)
    except OSError as error:
        raise InvalidDataError(f"{folder} has no {PRESET}; it is not a folder of study results.") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidDataError(f"{path} is damaged: {error}.") from error
    return plan


def _require_objects(parts: dict[str, Any]) -> None:
    for name, part in parts.items():
        if not isinstance(part, dict):
            raise ValueError(f"{name} is {str(part)[:40]}, which is no JSON object")


def planned_keys(plan: dict[str, Any]) -> set[str]:
    return {cell.key for cell in planned_preset(plan).cells()}


def planned_preset(plan: dict[str, Any]) -> Preset:
    known = {field.name for field in fields(Preset)}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in plan.items() if name in known
    }
    return Preset(**values)


def parts_of(folder: Path) -> list[Path]:
    """The folders of results that a folder holds: itself, or those in it, which are parts of one study."""
    if any((folder / name).exists() for name in (PRESET, SUMMARY)):
        return [folder]
    return sorted({path.parent for name in (PRESET, SUMMARY) for path in folder.glob(f"*/{name}")}) or [folder]


def read_records(folder: Path, name: str = RECORDS) -> list[dict[str, Any]]:
    """The last record of each fit, in the order of the file; an incomplete last line is left out."""
    path = folder / name
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
