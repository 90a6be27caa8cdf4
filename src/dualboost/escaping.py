"""Names from tables and files where they are shown: none of them controls a terminal, a spreadsheet or a compiler."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

JOINERS = "\u200c\u200d"
"""Invisible, but letters of some scripts and parts of emoji are drawn by them."""
SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""The first character of a cell that a spreadsheet computes; the last four are full-width forms."""
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
C_MARKS = re.compile(r"\*(?=/)|/(?=\*)|\?(?=\?)")
"""Where a comment of C would begin or end, and where a trigraph begins."""


def printable(text: str, kept: str = "") -> str:
    """The text for a terminal, a label or a page, in one line.

    Control characters, invisible ones such as U+202E, and lone surrogates are escaped as JSON escapes them, so that
    JSON stays JSON. ``kept`` are characters that stay as they are, such as the ends of lines.
    """
    odd = [one for one in set(text) if not _is_shown(one) and one not in kept]
    return text.translate({ord(one): _escaped(one) for one in odd}) if odd else text


def _is_shown(character: str) -> bool:
    return character.isprintable() or character in JOINERS or unicodedata.category(character) == "Zs"


def _escaped(character: str) -> str:
    if character in SHORT:
        return SHORT[character]
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4))


def csv_cell(value: Any) -> Any:
    """The value as a cell of a CSV file: text that a spreadsheet would compute begins with an apostrophe."""
    if isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def c_comment(line: str) -> str:
    """A line inside a comment of C."""
    return C_MARKS.sub(r"\g<0> ", printable(line))
