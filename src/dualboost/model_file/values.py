"""Writes and reads classes and categories together with their numpy type, so that predictions have that type."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedModelError
from .checks import LARGEST, choice, fail, fields, flag, inside, integer, items, number, shown, text

INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
FLOATS = ("float16", "float32", "float64")
CLASS_TYPES = ("bool", *INTEGERS, *FLOATS, "str", "object")
TEXT_TYPES = ("str", "string", "object")
CATEGORY_TYPES = ("bool", *INTEGERS, *FLOATS[1:], *TEXT_TYPES)
MOST_CHARACTERS = 2**25
"""The most characters of the longest class times the number of classes: numpy keeps every string as long as that."""
MOST_NEGATIVE = -(2**63)
"""The smallest whole number among categories of mixed types."""
MOST_POSITIVE = 2**64 - 1
"""The largest whole number among categories of mixed types."""


def describe_classes(classes: NDArray[Any]) -> dict[str, Any]:
    kind = "str" if classes.dtype.kind == "U" else str(classes.dtype)
    return _describe(kind, CLASS_TYPES, classes.tolist(), "The classes")


def describe_categories(feature: int, categories: NDArray[Any]) -> dict[str, Any]:
    """The categories of a column."""
    values = categories.tolist()
    kind = "str" if all(isinstance(value, str) for value in values) else str(categories.dtype)
    return {"feature": feature} | _describe(kind, CATEGORY_TYPES, values, f"The categories of feature {feature}")


def _describe(kind: str, kinds: tuple[str, ...], values: list[Any], what: str) -> dict[str, Any]:
    odd = next((value for value in values if type(value) not in (bool, int, float, str)), None)
    if kind not in kinds or odd is not None:
        reason = f"are of type {kind}" if odd is None else f"hold {odd!r}"
        raise UnsupportedModelError(
            f"{what} {reason}, which a model file cannot hold; fit with numbers or strings, or pickle the model."
        )
    return {"type": kind, "values": values}


def read_classes(value: Any, where: str, count: int | None = None) -> NDArray[Any]:
    """The classes, in order: as many as asked for, or two and more."""
    entry = fields(value, where, ("type", "values"))
    kind = choice(entry["type"], inside(where, "type"), CLASS_TYPES)
    place = inside(where, "values")
    values = items(entry["values"], place, count)
    found = [_scalar(v, inside(place, k), kind, mixed=False) for k, v in enumerate(values)]
    if len(found) < 2:
        fail(place, f"has {len(found)} entries; it must have 2 or more")
    if kind == "str" and len(found) * max(map(len, found)) > MOST_CHARACTERS:
        fail(place, f"has {len(found)} strings, of which one is too long for so many")
    classes = np.array(found, dtype=kind)
    _require_order(found, classes.tolist(), place, kind)
    return classes


def _require_order(found: list[Any], kept: list[Any], where: str, kind: str) -> None:
    """Require that classes increase, and that numpy has kept them as they are."""
    for k, name in enumerate(found):
        if kept[k] != name:
            fail(inside(where, k), f"is {shown(name)}, which {kind} does not hold exactly")
        if k and not found[k - 1] < name:
            fail(inside(where, k), f"is {shown(name)}, after {shown(found[k - 1])}; classes must be in order")


def read_categories(value: Any, where: str, n_features: int) -> tuple[int, NDArray[Any]]:
    """The position of a feature and its categories."""
    entry = fields(value, where, ("feature", "type", "values"))
    feature = integer(entry["feature"], inside(where, "feature"), 0, n_features - 1)
    kind = choice(entry["type"], inside(where, "type"), CATEGORY_TYPES)
    place = inside(where, "values")
    found = [_scalar(v, inside(place, k), kind, mixed=True) for k, v in enumerate(items(entry["values"], place))]
    if len(set(found)) < len(found):
        fail(place, "has a category twice")
    return feature, np.array(found, dtype=object if kind in TEXT_TYPES else kind)


def _scalar(value: Any, where: str, kind: str, mixed: bool) -> Any:
    """A value that an array of this type holds exactly; with ``mixed``, objects may also be numbers and booleans."""
    if kind == "object" and mixed and type(value) is not str:
        kind = {bool: "bool", int: "integer", float: "float64"}.get(type(value), kind)
    if kind in TEXT_TYPES:
        return text(value, where)
    if kind == "bool":
        return flag(value, where)
    if kind in FLOATS:
        found = number(value, where, -LARGEST, LARGEST)
        if abs(found) > float(np.finfo(kind).max) or float(np.dtype(kind).type(found)) != found:
            fail(where, f"is {shown(value)}, which {kind} does not hold exactly")
        return found
    low, high = (MOST_NEGATIVE, MOST_POSITIVE) if kind == "integer" else (np.iinfo(kind).min, np.iinfo(kind).max)
    return integer(value, where, int(low), int(high))
