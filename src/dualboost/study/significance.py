"""Tests which methods differ significantly: ranks over data sets, and paired tests with a correction.

Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006): Friedman's test on the ranks,
the critical difference of Nemenyi, and Wilcoxon's signed-rank tests of each pair, corrected by Holm's method.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, studentized_range, wilcoxon

from .tables import DIGITS, AccuracyTable

LEVEL = 0.05
LEAST_DATASETS = 5


@dataclass(frozen=True)
class Significance:
    """Mean ranks (1 is best), the p-value of Friedman's test, the critical difference, and a p-value for each pair."""

    ranks: pd.Series
    friedman_p: float
    critical_difference: float
    accuracy: pd.DataFrame
    """The accuracies that are compared, by data set (rows) and method (columns)."""

    @property
    def groups(self) -> list[list[str]]:
        """The largest groups of methods whose mean ranks are within the critical difference: bars of the diagram."""
        names, values = list(self.ranks.index), self.ranks.to_numpy()
        spans: list[tuple[int, int]] = []
        for first in range(len(names)):
            last = int(np.searchsorted(values, values[first] + self.critical_difference, side="right"))
            if last - first > 1 and (not spans or last > spans[-1][1]):
                spans.append((first, last))
        return [names[first:last] for first, last in spans]

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """One row for each pair: mean difference, p-value, and p-value corrected for the number of pairs.

        Tests of differences with ties take seconds, so that they are made only if they are asked for.
        """
        rows = []
        for one, other in combinations(self.accuracy, 2):
            difference = self.accuracy[one] - self.accuracy[other]
            p = float(wilcoxon(difference).pvalue) if difference.abs().max() > 0 else 1.0
            rows.append((one, other, float(difference.mean()), p))
        pairs = pd.DataFrame(rows, columns=["method", "other", "difference", "p"]).sort_values("p", kind="stable")
        steps = np.arange(len(pairs), 0, -1)
        pairs["corrected_p"] = np.minimum(np.maximum.accumulate(pairs["p"].to_numpy() * steps), 1.0)
        return pairs.reset_index(drop=True)


def significance(table: AccuracyTable) -> Significance | None:
    """The tests over the data sets with results of all methods; None if there are fewer than five data sets."""
    accuracy = table.accuracy.dropna().round(DIGITS + 1)
    n, k = accuracy.shape
    if n < LEAST_DATASETS or k < 3:
        return None
    ranks = accuracy.rank(axis=1, ascending=False).mean().sort_values(kind="stable")
    friedman_p = float(friedmanchisquare(*(accuracy[name] for name in accuracy)).pvalue)
    critical = studentized_range.ppf(1.0 - LEVEL, k, np.inf) / np.sqrt(2.0) * np.sqrt(k * (k + 1) / (6.0 * n))
    return Significance(ranks, friedman_p, float(critical), accuracy)
