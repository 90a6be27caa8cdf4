"""Columns of categories that are probably not what the user meant: which are refused, and which are warned of."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from ..errors import DataWarning
from ..telling import warn_user
from .columns import Column, as_number, is_truth

SMALLEST_CATEGORY = 4
"""A category of fewer training rows than this counts as missing, as one that is not seen in training does."""
MOSTLY = 0.9
"""A column counts as numbers, or as an identifier, if more than this share of its values looks like that."""
FEW_ROWS = 0.01
"""Entries too rare to be categories are broken ones if no more than this share of the rows has them."""
ENOUGH_ROWS = 50
"""Columns with fewer values than this are never taken for identifiers."""
MOST_CODES = 10
"""Text with no more different numbers than this is taken for codes of categories without a word."""
ENOUGH_TO_TELL = 10
"""If a column has at least this many values and none is a known category, its type has probably changed."""


WRITTEN = re.compile(r"[-+]?[$€£]?\s?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?\s?[%$€£]?")
"""Numbers as people write them: 1,234 or 12% or $5."""
LEADING_NUMBER = re.compile(r"^[-+]?[\d.,]+\s*")
FEWEST_CODES = 3
"""So many different words of letters and digits, such as V57, K1A or 12B, make a column one of codes."""


def nearly_all(sizes: Mapping[Any, float], others: Collection[Any]) -> bool:
    """Whether a column holds nearly nothing but what it holds beside ``others``.

    These are at most a tenth of its different entries, or too rare to be categories and in at most a hundredth of its
    rows. ``sizes`` are the numbers of rows of all different entries.
    """
    if len(others) <= (1 - MOSTLY) * len(sizes):
        return True
    rows = sum(sizes[entry] for entry in others)
    return rows <= FEW_ROWS * sum(sizes.values()) and all(sizes[entry] < SMALLEST_CATEGORY for entry in others)


def broken_entries(sizes: Mapping[Any, float]) -> list[Any]:
    """The entries that spoil a column of numbers or truth values; none if the column probably holds categories.

    The column is text, and ``sizes`` are the numbers of rows of its different entries. Codes are categories: numbers
    that begin with a zero, and three or more different words of letters and digits.
    """
    unread = [entry for entry in sizes if not _is_value(entry)]
    words = [entry for entry in unread if not _is_written_number(entry)]
    if not unread or len(unread) == len(sizes) or not nearly_all(sizes, words):
        return []
    marks = {LEADING_NUMBER.sub("", str(word)) for word in words if _has_letters_and_digits(str(word))}
    return [] if len(marks) >= FEWEST_CODES or any(map(_begins_with_zero, sizes)) else unread


def _is_value(entry: Any) -> bool:
    return as_number(entry) is not None or is_truth(entry)


def _is_written_number(entry: Any) -> bool:
    return isinstance(entry, str) and WRITTEN.fullmatch(entry.strip()) is not None


def _has_letters_and_digits(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _begins_with_zero(entry: Any) -> bool:
    """Whether an entry is a code such as 01234."""
    return isinstance(entry, str) and entry.strip()[:1] == "0" and entry.strip()[1:2].isdigit()


def doubt_training(column: Column, sizes: Mapping[Any, float], n_present: int, is_text: bool) -> None:
    """Refuse a column of numbers with a broken entry; warn of one of numbers as text, and of an identifier.

    ``sizes``, and ``n_present``, the number of entries present, count the entries of all workers. ``is_text``: the
    column holds categories only because its entries are text; neither its type nor the user declares them.
    """
    note = ""
    if is_text:
        broken = broken_entries(sizes)
        if broken:
            raise column.no_training_number(broken)
        note = _word_among_numbers(column, sizes) or _numbers_as_text(column, sizes)
    if not note and n_present >= ENOUGH_ROWS and len(sizes) > MOSTLY * n_present:
        note = (
            f"has {len(sizes)} different values in {n_present} rows, which tell nothing about other rows: "
            f"{column.source.leave_out}, or make numbers or a few categories of it."
        )
    if note:
        warn_user(f"{column.source.column(column.name)} {note}", DataWarning)


def _word_among_numbers(column: Column, sizes: Mapping[Any, float]) -> str:
    words = {entry for entry in sizes if not _is_value(entry)}
    if not words or sum(sizes[word] for word in words) >= (1 - MOSTLY) * sum(sizes.values()):
        return ""
    rows = (column.source.row(k) for k, entry in enumerate(column.entries) if entry in words)
    first = next((entry for entry in column.entries if entry in words), next(iter(words)))
    row = next(rows, "a row of another worker")
    return f"is text, as {row} has {first!r}; its numbers or truth values become categories."


def _numbers_as_text(column: Column, sizes: Mapping[Any, float]) -> str:
    """Codes that begin with a zero, such as postcodes, are no numbers."""
    if len(sizes) <= MOST_CODES or any(map(_begins_with_zero, sizes)):
        return ""
    if any(as_number(entry) is None and not _is_written_number(entry) for entry in sizes):
        return ""
    return (
        f"holds numbers written as text, such as {next(iter(sizes))!r}, and each of its {len(sizes)} different values "
        f"becomes a category: {column.source.make_numbers}, or {column.source.declare} if they are meant as categories."
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
