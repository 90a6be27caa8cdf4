"""Plan and records of a study on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, get_type_hints

from dualboost.data.files import write_whole
from dualboost.errors import InvalidDataError, InvalidParameterError

from .datasets import file_of
from .protocol import EQUAL_SIZE, EXPERIMENTS, GROWING, METHODS, Cell, Preset
from .sizes import BUDGETS

# Those who make tables of records need not ask whether a figure is there, and of which type it is.

WHOLE = {"n_train", "n_features", "trees", "leaves"}
NUMBERS = {"hyperparameter", "seconds", "train_score", "validation_accuracy", "test_accuracy"}
PERHAPS_NUMBERS = {"gap", "objective"}
TEXTS = {"error", "traceback", "stop_reason"}
LISTS = {"weights", "margins", "anytime_accuracy", "anytime_trees"}
SIZES = {"within_trees", "within_leaves", "within_validation", "within_test"}
"""What a record of the experiment of equal sizes has besides: a number for each budget."""
FIGURES = WHOLE | NUMBERS | PERHAPS_NUMBERS | LISTS | {"stop_reason"}
"""What the record of a fit that succeeded has."""
N_MARGINS = 101
"""The number of quantiles of the test margins."""
LARGEST = 2**53
"""Whole numbers beyond it are no counts of anything here, and do not fit into a table of numbers."""


def as_record(value: Any) -> dict[str, Any]:
    """The value, if it is a record; a ValueError that says what is wrong with it otherwise."""
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    _require_cell(value)
    if "error" not in value:
        _require_names(value, FIGURES | (SIZES if value["experiment"] == EQUAL_SIZE else set()))
    for name, figure in value.items():
        _require_figure(name, figure)
    if "error" not in value:
        _require_lengths(value)
    return value


def _require_cell(value: dict[str, Any]) -> None:
    """Require a cell of the study, and the key that it has."""
    _require_names(value, (*Cell._fields, "key"))
    for name, kind in get_type_hints(Cell).items():
        is_right = _is_whole(value[name]) if kind is int else _is_text(value[name])
        if not is_right:
            raise ValueError(f"{name}={value[name]!r} is not possible")
    cell = Cell(*(value[name] for name in Cell._fields))
    if cell.method not in METHODS or cell.experiment not in EXPERIMENTS:
        raise ValueError(f"method={cell.method!r} or experiment={cell.experiment!r} is not known")
    if value["key"] != cell.key:
        raise ValueError(f"key={value['key']!r} is not that of its cell, {cell.key!r}")


def _require_names(value: dict[str, Any], names: Iterable[str]) -> None:
    missing = sorted(set(names) - set(value))
    if missing:
        raise ValueError(f"{missing[0]!r} is missing")


def _require_figure(name: str, figure: Any) -> None:
    is_right = (
        (name not in WHOLE or _is_whole(figure))
        and (name not in NUMBERS or _is_number(figure))
        and (name not in PERHAPS_NUMBERS or figure is None or _is_number(figure))
        and (name not in TEXTS or _is_text(figure))
        and (name not in LISTS | SIZES or (isinstance(figure, list) and all(map(_is_number, figure))))
    )
    if not is_right:
        raise ValueError(f"{name}={str(figure)[:40]} is not possible")


def _require_lengths(value: dict[str, Any]) -> None:
    if value["experiment"] == EQUAL_SIZE:
        lengths = {len(value[name]) for name in SIZES}
        if lengths != {len(BUDGETS)}:
            raise ValueError(f"there are {sorted(lengths)} numbers, not {len(BUDGETS)}, one for each budget")
    elif len(value["margins"]) != N_MARGINS:
        raise ValueError(f"margins has {len(value['margins'])} numbers, not {N_MARGINS}")
    if len(value["anytime_accuracy"]) != len(value["anytime_trees"]):
        raise ValueError("anytime_accuracy and anytime_trees differ in length")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST)


def _is_text(value: Any) -> bool:
    """Text that can be written to a file: JSON may hold halves of characters."""
    return isinstance(value, str) and not any(0xD800 <= ord(character) < 0xE000 for character in value)


# Of fits that were made once more with every stage optimal, the records are in ``stages.jsonl``.

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
