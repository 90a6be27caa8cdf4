"""The form of an observation: a number, a statement, and a function that judges it by results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from dualboost.formulations import STUDIED

from ..protocol import PUBLISHED
from ..results import Results
from ..tables import counted, listed

OURS = list(STUDIED)
HEURISTIC = [name for name in PUBLISHED if name not in OURS]
EQUAL = 0.005
"""Accuracies that differ by less than this are said to match."""


def splits_told(fits: pd.DataFrame) -> tuple[str, str]:
    """How many data sets there are, and how many seeds each has, such as "17 data sets" and "1 to 2 seeds"."""
    seeds = fits.groupby("dataset")["seed"].nunique()
    fewest = "" if seeds.min() == seeds.max() else f"{seeds.min()} to "
    return counted(len(seeds), "data set"), fewest + counted(int(seeds.max()), "seed")


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
            by_depth = {depth: " and ".join(splits_told(part)) for depth, part in fits.groupby("depth")}
            for counts in dict.fromkeys(by_depth.values()):
                depths = listed([depth for depth, told in by_depth.items() if told == counts])
                parts.append(f"{experiment} at depth {depths}, {counts}")
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


def chosen_fits(results: Results, experiment: str, like: str | None = None) -> pd.DataFrame:
    """The fits chosen of an experiment; with ``like``, only those of splits and depths that the other one has too."""
    chosen = results.chosen()
    part, split = chosen[chosen["experiment"] == experiment], ["dataset", "depth", "seed"]
    if like is None:
        return part
    return part.merge(chosen.loc[chosen["experiment"] == like, split].drop_duplicates(), on=split)


def means(results: Results, column: str, experiment: str = "cart", like: str | None = None) -> pd.DataFrame:
    """Means over seeds, then over the data sets that all methods have, by depth (rows) and method (columns)."""
    return mean_over_datasets(chosen_fits(results, experiment, like), column)


def mean_over_datasets(fits: pd.DataFrame, column: str) -> pd.DataFrame:
    by_dataset = fits.groupby(["depth", "dataset", "method"])[column].mean().unstack("method")
    return by_dataset.dropna().groupby("depth").mean()


def has(table: pd.DataFrame, methods: list[str], depths: list[int]) -> list[int]:
    """The depths, among those given, for which the table has all methods."""
    if any(name not in table for name in methods):
        return []
    return [depth for depth in depths if depth in table.index and table.loc[depth, methods].notna().all()]
