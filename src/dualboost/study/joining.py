"""Joins parts of one study that were run with different presets: optimal trees on fewer data sets, for example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from ..errors import InvalidDataError
from .choice import CELL, keys_of

if TYPE_CHECKING:
    from .results import Results


def join(parts: Sequence[Results], tables: Sequence[str]) -> Results:
    """The results of all parts as one.

    Where the stages of one part are optima, the iterations of parts whose stages are none are left out, so that no two
    of them are compared.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    _require_disjoint(parts)
    are_optimal = any(part.stages_are_optimal for part in parts)
    parts = [
        part if part.stages_are_optimal == are_optimal else replace(part, iterations=part.iterations.iloc[:0])
        for part in parts
    ]
    joined = {name: _stacked([getattr(part, name) for part in parts]) for name in tables}
    pending = frozenset.union(*(part.pending for part in parts)).difference(keys_of(joined["fits"]))
    return replace(first, **joined, stages_are_optimal=are_optimal, pending=pending)


def _require_disjoint(parts: Sequence[Results]) -> None:
    cells = pd.concat([part.fits[CELL] for part in parts])
    twice = cells[cells.duplicated()]
    if len(twice):
        key = "/".join(map(str, twice.iloc[0]))
        raise InvalidDataError(f"{len(twice):,} fits are in two parts of the results, such as {key}; take one away.")


def _stacked(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all tables in the order of the cells; tables without rows have no say in the types of columns."""
    filled = [table for table in tables if len(table)]
    if not filled:
        return tables[0]
    return pd.concat(filled, ignore_index=True).sort_values(CELL, kind="stable", ignore_index=True)
