"""Escapes for text from tables and files, so that it cannot control a terminal, a spreadsheet or a compiler."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

JOINERS = "\u200c\u200d"
"""Invisible characters that letters of some scripts and emoji need."""
SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""The first character of a formula in a spreadsheet; the last four are full-width forms."""
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
C_MARKS = re.compile(r"\*(?=/)|/(?=\*)|\?(?=\?)")
"""The beginning and the end of a comment of C, and the beginning of a trigraph."""


def printable(text: str, kept: str = "") -> str:
    """The text for a terminal, a label or a page, in one line.

    Control characters, invisible ones such as U+202E, and lone surrogates become escapes of JSON, so that JSON stays
    JSON. The characters of ``kept``, such as line breaks, stay unescaped.
    """
    odd = [one for one in set(text) if not _is_visible(one) and one not in kept]
    return text.translate({ord(one): _escaped(one) for one in odd}) if odd else text


def _is_visible(character: str) -> bool:
    return character.isprintable() or character in JOINERS or unicodedata.category(character) == "Zs"


def _escaped(character: str) -> str:
    if character in SHORT:
        return SHORT[character]
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4))


def csv_cell(value: Any) -> Any:
    """The value as a cell of a CSV file, with an apostrophe before text that a spreadsheet would compute."""
    if isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def c_comment(line: str) -> str:
    """A line inside a comment of C."""
    return C_MARKS.sub(r"\g<0> ", printable(line))
