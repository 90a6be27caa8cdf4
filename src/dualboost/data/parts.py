"""A column of which there are several parts, on workers or in partitions: what it holds as a whole.

The parts are compared before any of them is read: one part must not change the meaning of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..errors import InvalidDataError
from .columns import Column, are_dates, as_number, kind_of
from .tables import Table

WORDS = {"times": "dates or times", "mixed": "text and numbers", "odd": "neither numbers nor text"}


class Contents(NamedTuple):
    """What a column, or a part of one, holds."""

    kind: str
    """As in ``Column``."""
    of_entries: str
    """The kind of the entries, which is that of the categories where these are of a type that says so."""
    is_missing: bool
    """Whether no entry is present, so that the type means nothing beside other parts."""
    are_truths: bool
    are_dates: bool
    """Whether it holds times, or text that is dates."""
    word: str | None = None
    """The first entry of text that is no number."""

    @property
    def words(self) -> str:
        entries = WORDS.get(self.of_entries, self.of_entries)
        if self.kind == "categories":
            return f"categories that are {entries}"
        return entries if self.word is None else f"{entries} ({self.word!r})"


def contents_of(column: Column) -> Contents:
    entries, kind = column.kind, column.kind
    if kind == "categories":
        entries = kind_of({type(entry) for entry in column.entries} - {type(None)})
    dates = kind == "times" or (kind == "text" and are_dates({one for one in column.entries if one is not None}))
    word = None
    if kind in ("text", "mixed"):
        word = next((one for one in column.entries if one is not None and as_number(one) is None), None)
    return Contents(kind, entries, column.is_missing, column.are_truths, dates, word)


NUMBERS = Contents("numbers", "numbers", False, False, False)


def contents_of_table(table: Table) -> list[Contents]:
    """What each column holds; quick where the table is a matrix."""
    numbers = table.numbers
    if numbers is None or table.truths:
        return [contents_of(table.column(k)) for k in range(table.shape[1])]
    missing = NUMBERS._replace(is_missing=True)
    if sparse.issparse(numbers):
        return [NUMBERS] * table.shape[1]
    return [missing if is_missing else NUMBERS for is_missing in np.isnan(numbers).all(axis=0).tolist()]


def whole_of(name: str, parts: Sequence[Contents], places: Sequence[str], is_chosen: bool = False) -> Contents:
    """What all parts hold together, or an error that names two parts which cannot be one column.

    Text beside numbers must be numbers, as in one table. ``is_chosen`` says that the column holds categories,
    whatever its type is.
    """
    if not is_chosen and all(part == parts[0] for part in parts):
        return parts[0]
    counted = [k for k, part in enumerate(parts) if not part.is_missing] or list(range(len(parts)))
    present = [parts[k] for k in counted]
    kind = _kind(present, is_chosen)
    if kind is None:
        first = parts[counted[0]]
        other = next(k for k in counted if parts[k][:2] != first[:2])
        raise InvalidDataError(
            f"{name} holds {first.words} in {places[counted[0]]} and {parts[other].words} in {places[other]}: give it "
            "the same type everywhere, as astype does."
        )
    return Contents(
        kind,
        present[0].of_entries,
        all(part.is_missing for part in parts),
        all(part.are_truths for part in present),
        kind in ("times", "text") and all(part.are_dates for part in present),
    )


def _kind(parts: Sequence[Contents], is_chosen: bool) -> str | None:
    """The kind of the whole; None where there is no such."""
    kinds, entries = {part.kind for part in parts}, {part.of_entries for part in parts}
    if is_chosen:  # text and numbers are different categories: meant only if a part has both
        are_meant = len(entries) == 1 or ("mixed" in entries and entries <= {"numbers", "text", "mixed"})
        return "categories" if are_meant else None
    if len(kinds) == 1 and len(entries) == 1:
        return parts[0].kind
    if "categories" in kinds:
        return "text" if entries == {"text"} else None
    are_numbers = kinds <= {"numbers", "text", "mixed"} and all(part.word is None for part in parts)
    return "mixed" if are_numbers else None


def require_same_columns(parts: Sequence[Sequence[Any]], places: Sequence[str]) -> None:
    """Refuse a part of X that has other columns than the first one, or another order; arrays have numbers for names."""
    first = parts[0]
    for part, place in zip(parts[1:], places[1:], strict=True):
        if list(part) == list(first):
            continue
        if len(part) != len(first) and all(isinstance(name, int) for name in (*part, *first)):
            raise InvalidDataError(f"X has {len(first)} columns in {places[0]} and {len(part)} in {place}.")
        for one, other, here, there in ((part, first, place, places[0]), (first, part, places[0], place)):
            extra = [name for name in one if name not in other]
            if extra:
                raise InvalidDataError(
                    f"X has the column {extra[0]!r} in {here}, but not in {there}: all must have the same columns."
                )
        k = next(k for k, (one, other) in enumerate(zip(first, part, strict=True)) if one != other)
        raise InvalidDataError(
            f"X has its columns in another order in {place} than in {places[0]}: {part[k]!r} stands in place of "
            f"{first[k]!r}. Select them by name, as X[names] does."
        )
