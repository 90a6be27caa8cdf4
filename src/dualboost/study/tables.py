"""Accuracy and trees, one row a data set and one column a method, as the paper prints them."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from .methods import METHODS
from .results import Results

DIGITS = 3


@dataclass(frozen=True)
class AccuracyTable:
    """Means over the seeds, for one experiment and depth."""

    accuracy: pd.DataFrame
    deviation: pd.DataFrame
    trees: pd.DataFrame

    @property
    def best(self) -> pd.DataFrame:
        """Where a method has the best accuracy of its row, to the digits printed."""
        return self._is_best(list(self.accuracy))

    @property
    def best_totally_corrective(self) -> pd.DataFrame:
        """Where a totally corrective method has the best accuracy of those in its row."""
        return self._is_best([name for name in self.accuracy if METHODS[name].is_totally_corrective])

    def _is_best(self, methods: list[str]) -> pd.DataFrame:
        rounded = self.accuracy.round(DIGITS)
        best = rounded[methods].max(axis=1)
        found = rounded.eq(best, axis=0)
        found[[name for name in rounded if name not in methods]] = False
        return found

    def as_text(self) -> pd.DataFrame:
        """Cells such as ``0.838 / 19``; an asterisk marks the best of all, a plus the best totally corrective one."""
        best, ours = self.best, self.best_totally_corrective
        cells = {
            METHODS[name].title: [
                f"{accuracy:.{DIGITS}f}{'*' * bool(best.at[row, name])}{'+' * bool(ours.at[row, name])} / "
                f"{self.trees.at[row, name]:.0f}"
                for row, accuracy in self.accuracy[name].items()
            ]
            for name in self.accuracy
        }
        table = pd.DataFrame(cells, index=self.accuracy.index)
        for label in ("mean", "median"):
            means = zip(getattr(self.accuracy, label)(), getattr(self.trees, label)(), strict=True)
            table.loc[label] = [f"{accuracy:.{DIGITS}f} / {trees:.0f}" for accuracy, trees in means]
        return table


def accuracy_table(results: Results, experiment: str, depth: int) -> AccuracyTable:
    """The fits chosen on the validation rows; methods in the order of the registry."""
    chosen = results.chosen()
    part = chosen[(chosen["experiment"] == experiment) & (chosen["depth"] == depth)]
    grouped = part.groupby(["dataset", "method"])
    order = [name for name in METHODS if name in set(part["method"])]

    def pivot(values: pd.Series) -> pd.DataFrame:
        return values.unstack("method").reindex(columns=order)

    return AccuracyTable(
        pivot(grouped["test_accuracy"].mean()), pivot(grouped["test_accuracy"].std()), pivot(grouped["trees"].mean())
    )
