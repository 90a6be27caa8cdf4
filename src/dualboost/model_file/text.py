"""Parses JSON more strictly than Python does, and writes JSON that people can read."""

from __future__ import annotations

import json
from typing import Any

from ..errors import ModelFormatError
from .layout import MOST_PARTS

MOST_DIGITS = 20
"""The most digits of a whole number, enough for 64 bits; Python needs quadratic time to parse longer numbers."""


def parse(content: str) -> Any:
    """The value of a JSON text; NaN and infinities are let through, because the checks can say where they are."""
    n_parts = sum(content.count(mark) for mark in "[{:")
    if n_parts > MOST_PARTS:
        raise ModelFormatError(f"the file has {n_parts} lists, objects and keys; {MOST_PARTS} are the most allowed")
    try:
        return json.loads(content, object_pairs_hook=_object, parse_int=_whole_number)
    except RecursionError:
        raise ModelFormatError("the file is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ModelFormatError(f"the file is not JSON: {error}") from None


def render(value: Any, indent: str = "") -> str:
    """JSON with each entry of an object on a line of its own, and each list of plain values on one line."""
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        lines = [f"{deeper}{render(name)}: {render(entry, deeper)}" for name, entry in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        return "[\n" + ",\n".join(deeper + render(entry, deeper) for entry in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, entry in pairs:
        if name in entries:
            raise ModelFormatError(f"the file has the key {name[:40]!r} twice in one object")
        entries[name] = entry
    return entries


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ModelFormatError(f"the file has a whole number of {len(digits)} digits, {digits[:10]}...")
    return int(digits)
