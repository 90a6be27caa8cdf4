"""Warnings about columns of categories that are probably not what the user meant."""

from __future__ import annotations

from ..errors import DataWarning, warn_user
from .columns import Column, as_number

MOSTLY = 0.9
"""A column counts as numbers, or as an identifier, if more than this share of its values looks like that."""
ENOUGH_ROWS = 50
"""Columns with fewer values than this are never taken for identifiers."""
ENOUGH_TO_TELL = 10
"""If a column has at least this many values and none is a known category, its type has probably changed."""


def doubt_training(column: Column, n_kinds: int) -> None:
    """Warn of a column of numbers that contains a word, and of one that looks like an identifier."""
    present = [(k, entry) for k, entry in enumerate(column.entries) if entry is not None]
    note = _word_among_numbers(column, present) if column.kind == "text" else ""
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


def doubt_unknown(column: Column) -> None:
    """Warn of a column none of whose values was seen in training."""
    present = [entry for entry in column.entries if entry is not None]
    if len(present) >= ENOUGH_TO_TELL:
        warn_user(
            f"{column.source.column(column.name)} has no value (such as {present[0]!r}) that is a category of the "
            "training data: all of them count as missing.",
            DataWarning,
        )
