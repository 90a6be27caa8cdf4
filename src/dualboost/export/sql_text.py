"""Names and values as SQL writes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedModelError
from .reading import require_text

SAFE_DIGITS = 15
"""Literals of up to so many digits are read right by every database."""
ALL_DIGITS = 17
"""So many digits tell all numbers apart; SQLite reads some literals of 16 digits as the number next to it."""


def identifier(name: str) -> str:
    if not name:
        raise UnsupportedModelError("A column has the empty name, which SQL does not have: rename it, and fit again.")
    return '"' + require_text(name, "column", "SQL").replace('"', '""') + '"'


def number(value: float) -> str:
    """A literal with an exponent, which makes it a double; without one it would be a decimal in many databases."""
    short = f"{float(value):.{SAFE_DIGITS - 1}e}"
    text = short if float(short) == value else f"{float(value):.{ALL_DIGITS - 1}e}"
    digits, exponent = text.split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"


def literal(value: Any) -> str:
    """A class or a category."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool):
        return "TRUE" if plain else "FALSE"
    if isinstance(plain, str):
        return "'" + require_text(plain, "class or category", "SQL").replace("'", "''") + "'"
    if isinstance(plain, int):
        return str(plain)
    if isinstance(plain, float):
        return number(plain)
    raise UnsupportedModelError(
        f"The value {plain!r} of type {type(plain).__name__} cannot be written in SQL; classes and categories must be "
        "text, numbers or booleans."
    )
