"""Tables of accuracy and trees as in the paper, with a row for each data set and a column for each method."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from .methods import METHODS
from .results import Results

DIGITS = 3
SUMMARIES = ("mean", "median")


@dataclass(frozen=True)
class AccuracyTable:
    """Means over the seeds, for one experiment and depth."""

    accuracy: pd.DataFrame
    deviation: pd.DataFrame
    trees: pd.DataFrame

    @property
    def best(self) -> pd.DataFrame:
        """Where a method has the best accuracy in its row, up to the digits printed."""
        return self._is_best(list(self.accuracy))

    @property
    def best_totally_corrective(self) -> pd.DataFrame:
        """Where a totally corrective method has the best accuracy of all totally corrective methods in its row."""
        return self._is_best([name for name in self.accuracy if METHODS[name].is_totally_corrective])

    def _is_best(self, methods: list[str]) -> pd.DataFrame:
        rounded = self.accuracy.round(DIGITS)
        best = rounded[methods].max(axis=1)
        found = rounded.eq(best, axis=0)
        found[[name for name in rounded if name not in methods]] = False
        return found

    def summary(self, label: str) -> list[tuple[float, float]]:
        """The mean or median accuracy and trees of each method, over the data sets with results of all methods."""
        whole = self.accuracy.notna().all(axis=1)
        figures = (getattr(table[whole], label)() for table in (self.accuracy, self.trees))
        return list(zip(*figures, strict=True))

    def as_text(self) -> pd.DataFrame:
        """Cells such as ``0.838* / 19.2``; ``!`` marks the best of all, ``*`` the best totally corrective one."""
        best, ours = self.best, self.best_totally_corrective
        cells = {
            METHODS[name].title: [
                self._cell(row, name, "!" * bool(best.at[row, name]) + "*" * bool(ours.at[row, name]))
                for row in self.accuracy.index
            ]
            for name in self.accuracy
        }
        table = pd.DataFrame(cells, index=self.accuracy.index)
        for label in SUMMARIES:
            table.loc[label] = [_figures(*pair) for pair in self.summary(label)]
        return table

    def _cell(self, row: str, name: str, marks: str) -> str:
        accuracy = self.accuracy.at[row, name]
        return "" if pd.isna(accuracy) else _figures(accuracy, self.trees.at[row, name], marks)

    def as_latex(self) -> str:
        """The same table in LaTeX, the best in bold and the best totally corrective methods with a star."""
        best, ours = self.best, self.best_totally_corrective
        lines = [r"\begin{tabular}{l" + "r" * len(self.accuracy.columns) + "}", r"\hline"]
        lines.append(" & ".join(["data set", *(METHODS[name].title for name in self.accuracy)]) + r" \\ \hline")
        for row in self.accuracy.index:
            cells = [self._latex_cell(row, name, best.at[row, name], ours.at[row, name]) for name in self.accuracy]
            lines.append(" & ".join([_escaped(str(row)), *cells]) + r" \\")
        lines.append(r"\hline")
        for label in SUMMARIES:
            lines.append(" & ".join([label, *(_figures(*pair) for pair in self.summary(label))]) + r" \\")
        return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])

    def _latex_cell(self, row: str, name: str, is_best: bool, is_ours: bool) -> str:
        cell = self._cell(row, name, "$^*$" if is_ours else "")
        figure = f"{self.accuracy.at[row, name]:.{DIGITS}f}"
        return cell.replace(figure, rf"\textbf{{{figure}}}", 1) if is_best else cell


def _figures(accuracy: float, trees: float, marks: str = "") -> str:
    return "" if pd.isna(accuracy) else f"{accuracy:.{DIGITS}f}{marks} / {trees:.1f}"


def _escaped(name: str) -> str:
    for character in "&%$#_{}":
        name = name.replace(character, f"\\{character}")
    return name


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
