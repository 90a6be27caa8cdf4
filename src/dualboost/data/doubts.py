"""Warnings about columns of categories that are probably not what the user meant."""

from __future__ import annotations

from ..errors import DataWarning
from ..telling import warn_user
from .columns import Column, as_number

MOSTLY = 0.9
"""A column counts as numbers, or as an identifier, if more than this share of its values looks like that."""
ENOUGH_ROWS = 50
"""Columns with fewer values than this are never taken for identifiers."""
MOST_CODES = 10
"""Text with no more different numbers than this is taken for codes of categories without a word."""
ENOUGH_TO_TELL = 10
"""If a column has at least this many values and none is a known category, its type has probably changed."""


def doubt_training(column: Column, n_kinds: int, by_type: bool = True) -> None:
    """Warn of a column of numbers that are text or contain a word, and of one that looks like an identifier.

    Only its type, and not the user, has said that the column holds categories if ``by_type``.
    """
    present = [(k, entry) for k, entry in enumerate(column.entries) if entry is not None]
    note = _word_among_numbers(column, present) if column.kind == "text" else ""
    if not note and by_type and column.kind == "text":
        note = _numbers_as_text(column, present, n_kinds)
    if not note and len(present) >= ENOUGH_ROWS and n_kinds > MOSTLY * len(present):
        note = (
            f"has {n_kinds} different values in {len(present)} rows, which tell nothing about other rows: "
            f"{column.source.leave_out}, or make numbers or a few categories of it."
        )
    if note:
        warn_user(f"{column.source.column(column.name)} {note}", DataWarning)


def _word_among_numbers(column: Column, present: list[tuple[int, str]]) -> str:
    words = [(k, entry) for k, entry in present if as_number(entry) is None]
    if not words or len(words) >= (1 - MOSTLY) * len(present):
        return ""
    row, word = words[0]
    return f"is text, as {column.source.row(row)} has {word!r}; its numbers become categories."


def _numbers_as_text(column: Column, present: list[tuple[int, str]], n_kinds: int) -> str:
    """Codes that begin with a zero, such as postcodes, are no numbers."""
    if n_kinds <= MOST_CODES:
        return ""
    if any(entry.strip()[:1] == "0" and entry.strip()[1:2].isdigit() for _, entry in present):
        return ""
    if any(as_number(entry) is None for _, entry in present):
        return ""
    return (
        f"holds numbers written as text, such as {present[0][1]!r}, and each of its {n_kinds} different values becomes "
        f"a category: {column.source.make_numbers}, or {column.source.declare} if they are meant as categories."
    )


def doubt_unknown(column: Column) -> None:
    """Warn of a column none of whose values was seen in training."""
    present = [entry for entry in column.entries if entry is not None]
    if len(present) >= ENOUGH_TO_TELL:
        warn_user(
            f"{column.source.column(column.name)} has no value (such as {present[0]!r}) that is a category of the "
            "training data: all of them count as missing.",
            DataWarning,
        )
