"""What a record of a fit is: its cell, and an error or figures; anything else is refused where it is read.

Those who make tables of records need not ask whether a figure is there, and of which type it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_type_hints

from .methods import EQUAL_SIZE, METHODS
from .protocol import EXPERIMENTS, Cell
from .sizes import BUDGETS

WHOLE = {"n_train", "n_features", "trees", "leaves"}
NUMBERS = {"hyperparameter", "seconds", "train_accuracy", "validation_accuracy", "test_accuracy"}
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
