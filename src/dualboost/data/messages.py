"""What messages call tables, their columns and their rows."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

SHOWN = 5
"""How many names a message lists at most."""


class Source(NamedTuple):
    """Where a table comes from, and what its user can do about a column."""

    name: str = "X"
    first_row: int = 0
    """The number of the first row, as the user counts rows."""
    leave_out: str = "leave it out"
    declare: str = "name it in categorical_features"
    """How a column is said to hold categories."""
    make_numbers: str = "make numbers of it, as astype(float) does"
    """How text becomes numbers."""
    mend: str = (
        "Make such entries numbers or missing, as pandas.to_numeric(column, errors='coerce') does for numbers; "
        "column.astype('category') makes all entries categories"
    )
    """What can be done about entries that are no numbers in a column of numbers."""
    partitions: tuple[tuple[int, int], ...] = ()
    """The partitions that the rows come from, one after the other: their numbers, and how many rows each has."""

    def column(self, name: Any) -> str:
        return f"{self.name}: column {name!r}"

    def row(self, position: int) -> str:
        for number, n_rows in self.partitions:
            if position < n_rows:
                return f"row {position} of partition {number}"
            position -= n_rows
        return f"row {position + self.first_row}"


def few(names: Iterable[Any]) -> str:
    """The names, or the first of many."""
    listed = [str(name) for name in names]
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(map(repr, listed[:SHOWN])) + more


def suggestion(name: str, known: list[str]) -> str:
    """A hint at the column that the user may have meant."""
    near = [one for one in known if one.strip().lower() == name.strip().lower()] or get_close_matches(name, known, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {few(known)}."
