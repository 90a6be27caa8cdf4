"""The form of an observation: a number, a statement, and a function that judges it by results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import pandas as pd

from ...formulations import STUDIED
from ..methods import METHODS, PUBLISHED
from ..results import Results

OURS = list(STUDIED)
HEURISTIC = [name for name in PUBLISHED if name not in OURS]
EQUAL = 0.005
"""Accuracies that differ by less than this are said to match."""


WORDS = {"dataset": "data set", "seed": "seed"}


def listed(items: Iterable[object]) -> str:
    """Words such as "1, 3 and 5"."""
    *first, last = map(str, items)
    return f"{', '.join(first)} and {last}" if first else last


def titles(names: Iterable[str]) -> str:
    """The titles of methods, in the order of the registry."""
    return listed(METHODS[name].title for name in sorted(names, key=list(METHODS).index))


def counted(n: int, word: str) -> str:
    return f"{n} {word}{'s' * (n != 1)}"


@dataclass(frozen=True)
class Verdict:
    """The judgement of an observation; ``holds`` is None if the results do not suffice to judge."""

    holds: bool | None
    sentence: str
    figures: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.holds is not None:
            object.__setattr__(self, "holds", bool(self.holds))
        object.__setattr__(self, "figures", {name: float(value) for name, value in self.figures.items()})

    @property
    def word(self) -> str:
        return {True: "holds", False: "does not hold", None: "not enough data"}[self.holds]


NOT_ENOUGH = Verdict(None, "The results do not contain all that this observation is about.")


@dataclass(frozen=True)
class Observation:
    """One of the paper's statements, in our words, and the function that judges it."""

    number: int
    statement: str
    criterion: str
    """What must be true of the figures for the statement to hold."""
    judge: Callable[[Results], Verdict]
    experiments: tuple[str, ...] = ("cart",)
    """The experiments that it is judged by."""

    def data(self, results: Results) -> str:
        """What the verdict rests on."""
        parts = []
        for experiment in self.experiments:
            fits = results.fits[results.fits["experiment"] == experiment]
            if len(fits):
                counts = " and ".join(counted(fits[name].nunique(), word) for name, word in WORDS.items())
                parts.append(f"{experiment} at depth {listed(sorted(fits['depth'].unique()))}, {counts}")
        return "; ".join(parts)


OBSERVATIONS: dict[int, Observation] = {}


def observation(
    number: int, statement: str, criterion: str, experiments: tuple[str, ...] = ("cart",)
) -> Callable[[Callable[[Results], Verdict]], Callable[[Results], Verdict]]:
    """Register the function that judges an observation."""

    def register(judge: Callable[[Results], Verdict]) -> Callable[[Results], Verdict]:
        OBSERVATIONS[number] = Observation(number, statement, criterion, judge, experiments)
        return judge

    return register


def means(results: Results, column: str, experiment: str = "cart") -> pd.DataFrame:
    """Means over data sets and seeds of the fits chosen: one row for each depth, one column for each method."""
    chosen = results.chosen()
    part = chosen[chosen["experiment"] == experiment]
    by_dataset = part.groupby(["depth", "method", "dataset"])[column].mean()
    return by_dataset.groupby(["depth", "method"]).mean().unstack("method")


def has(table: pd.DataFrame, methods: list[str], depths: list[int]) -> list[int]:
    """The depths, among those given, for which the table has all methods."""
    if any(name not in table for name in methods):
        return []
    return [depth for depth in depths if depth in table.index and table.loc[depth, methods].notna().all()]
