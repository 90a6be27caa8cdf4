"""Warnings about columns of categories that are probably not what the user meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

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


class Entries(NamedTuple):
    """What decides whether a column, or a part of one, is doubtful."""

    is_text: bool
    n_present: int
    words: int
    """How many entries of text are no numbers."""
    first_word: tuple[str, str] | None
    """The row of the first of them, and the word."""
    has_codes: bool
    """Whether an entry begins with a zero, as postcodes do, which are no numbers."""
    example: Any


def entries_of(column: Column) -> Entries:
    present = [(k, entry) for k, entry in enumerate(column.entries) if entry is not None]
    texts = present if column.kind == "text" else []
    words = [(k, entry) for k, entry in texts if as_number(entry) is None]
    has_codes = not words and any(entry.strip()[:1] == "0" and entry.strip()[1:2].isdigit() for _, entry in texts)
    first = (column.source.row(words[0][0]), words[0][1]) if words else None
    return Entries(bool(texts), len(present), len(words), first, has_codes, present[0][1] if present else None)


def doubt_training(column: Column, parts: Sequence[Entries], n_kinds: int, by_type: bool = True) -> None:
    """Warn of a column of numbers that are text or contain a word, and of one that looks like an identifier.

    All parts of the column count, wherever they are. Only its type, and not the user, has said that the column holds
    categories if ``by_type``.
    """
    present = [part for part in parts if part.n_present]
    is_text = bool(present) and all(part.is_text for part in present)
    n_present, n_words = sum(part.n_present for part in present), sum(part.words for part in present)
    note = ""
    if is_text and 0 < n_words < (1 - MOSTLY) * n_present:
        row, word = next(part.first_word for part in present if part.first_word is not None)
        note = f"is text, as {row} has {word!r}; its numbers become categories."
    elif is_text and by_type and not n_words and n_kinds > MOST_CODES and not any(part.has_codes for part in present):
        note = (
            f"holds numbers written as text, such as {present[0].example!r}, and each of its {n_kinds} different "
            f"values becomes a category: {column.source.make_numbers}, or {column.source.declare} if they are meant as "
            "categories."
        )
    elif n_present >= ENOUGH_ROWS and n_kinds > MOSTLY * n_present:
        note = (
            f"has {n_kinds} different values in {n_present} rows, which tell nothing about other rows: "
            f"{column.source.leave_out}, or make numbers or a few categories of it."
        )
    if note:
        warn_user(f"{column.source.column(column.name)} {note}", DataWarning)


def doubt_unknown(column: Column) -> None:
    """Warn of a column none of whose values was seen in training."""
    present = [entry for entry in column.entries if entry is not None]
    if len(present) >= ENOUGH_TO_TELL:
        warn_user(
            f"{column.source.column(column.name)} has no value (such as {present[0]!r}) that is a category of the "
            "training data: all of them count as missing.",
            DataWarning,
        )
