"""Dates and times, which trees cannot compare with numbers: how text is known to be dates, and what to make of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from ..errors import InvalidDataError
from .columns import Column
from .doubts import nearly_all

CLOCK = r"([T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|[+-]\d{2}:?\d{2}))?)?"
DATE = re.compile(rf"(\d{{4}}([-/.])\d{{1,2}}\2\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\3\d{{4}}){CLOCK}")


def are_dates(texts: Iterable[str]) -> bool:
    """Whether there are texts, and nearly all are dates: 2024-03-01, 2024-03-01T12:00, 1.3.2024 or 03/01/2024."""
    sizes = Counter(texts)
    return bool(sizes) and nearly_all(sizes, [text for text in sizes if not _is_date(text)])


def _is_date(text: str) -> bool:
    return DATE.fullmatch(text.strip()) is not None


def holds_times(column: Column) -> bool:
    """Whether a column holds times, or text that is dates."""
    return column.kind == "times" or (
        column.kind == "text" and are_dates(entry for entry in column.entries if entry is not None)
    )


def refused_times(column: Column, others: Iterable[Column] = ()) -> InvalidDataError:
    """The error for a column of times, and for ``others`` that hold some too: which numbers to make of them."""
    entries = enumerate(column.entries)
    present = [(k, one) for k, one in entries if one is not None and (not isinstance(one, str) or _is_date(one))]
    row, value = next((one for one in present if _has_clock(one[1])), present[0] if present else (0, None))
    too = [repr(other.name) for other in others if other is not column and holds_times(other)]
    as_well = f", and so {'does' if len(too) == 1 else 'do'} {', '.join(too)}" if too else ""
    return column.refused(
        f"holds dates or times ({column.source.row(row)} has {str(value)!r}), which are no numbers{as_well}. "
        f"{_parts(value)} Then {column.source.leave_out}. If its few values stand for groups of rows, "
        f"{column.source.declare}."
    )


def _parts(value: object) -> str:
    """Which numbers to make of times such as this one."""
    if hasattr(value, "total_seconds"):
        return "Make a number of it, such as its days or seconds."
    clock = "the hour, " if _has_clock(value) else ""
    if hasattr(value, "hour") and not hasattr(value, "year"):
        return "Make numbers of its parts: the hour, or the minutes since midnight."
    return (
        f"Make numbers of the parts that may matter: the month, the day of the week, {clock}and the days since a fixed "
        "day, or until another date of the row."
    )


def _has_clock(value: object) -> bool:
    """Whether it has an hour other than midnight."""
    if isinstance(value, str):
        return ":" in value
    return any(getattr(value, part, 0) for part in ("hour", "minute", "second"))
