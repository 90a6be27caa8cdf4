"""Tables of the results, beside the paper's, and their significance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, studentized_range, wilcoxon

from .protocol import METHODS
from .results import Results

PARTS = {
    "cart": "CART trees",
    "confidence": "confidence-rated",
    "optimal": "optimal",
    "reweight": "reweighted",
    "equal_size": "equal sizes",
}
"""The experiments as readers know them."""


def listed(items: Iterable[object]) -> str:
    """Words such as "1, 3 and 5"."""
    *first, last = map(str, items)
    return f"{', '.join(first)} and {last}" if first else last


def counted(n: int, word: str) -> str:
    """Words such as "1 seed" and "5 seeds"."""
    return f"{n} {word}{'s' * (n != 1)}"


def titles(names: Iterable[str]) -> str:
    """The titles of methods, in the order of the registry."""
    return listed(METHODS[name].title for name in sorted(names, key=list(METHODS).index))


def short(name: str) -> str:
    """The title of a method without the ending that the paper's six share."""
    return METHODS[name].title.removesuffix("-Boost")


def figure(value: float) -> str:
    """The value with three digits, never as a power of ten."""
    text = f"{value:.3g}"
    return f"{value:.5f}" if "e-" in text else f"{value:.0f}" if "e" in text else text


def unbroken(text: str) -> str:
    """The text on one line, wherever it stands."""
    return text.replace(" ", "\u00a0")


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


# Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006): Friedman's test on the
# ranks, the critical difference of Nemenyi, and Wilcoxon's signed-rank tests of each pair, corrected by Holm's
# method.

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


REFERENCE = "xgboost"


def paper_results() -> pd.DataFrame:
    """The paper's tables: experiment, depth, dataset, method, accuracy_mean, accuracy_std, columns (trees used)."""
    return _table("accuracy_and_trees.csv")


def paper_seconds() -> pd.DataFrame:
    """The paper's times for a fit with stumps: dataset, method, depth, seconds_mean, seconds_std."""
    return _table("seconds.csv")


def _table(name: str) -> pd.DataFrame:
    with (resources.files(__package__) / "paper" / name).open() as text:
        return pd.read_csv(text)


def paper_table(experiment: str, depth: int) -> AccuracyTable:
    """The paper's table for one experiment and depth; without rows if it has none."""
    paper = paper_results()
    part = paper[(paper["experiment"] == experiment) & (paper["depth"] == depth)].set_index(["dataset", "method"])
    order = [name for name in METHODS if name in part.index.unique("method")]
    return AccuracyTable(
        *(
            part[column].unstack("method").reindex(columns=order)
            for column in ("accuracy_mean", "accuracy_std", "columns")
        )
    )


def compare_seconds(results: Results) -> pd.DataFrame:
    """Seconds for a fit with stumps, ours (means over values and seeds) beside the paper's, by data set and method."""
    fits, key = results.fits, ["dataset", "method"]
    if "seconds" not in fits:
        return pd.DataFrame(columns=[*key, "seconds", "paper_seconds", "ratio"])
    paper = paper_seconds().set_index(key)
    ours = fits[(fits["experiment"] == "cart") & fits["depth"].isin(paper["depth"])].groupby(key)["seconds"].mean()
    both = pd.DataFrame({"seconds": ours}).join(paper["seconds_mean"].rename("paper_seconds"), how="inner")
    return both.assign(ratio=both["paper_seconds"] / both["seconds"]).reset_index()


def compare_with_paper(results: Results) -> pd.DataFrame:
    """One row for each cell that both have: accuracies minus XGBoost's accuracy in the same run, and trees used.

    ``strays`` is our difference minus the paper's. The table is empty if there are no results of XGBoost.
    """
    chosen = results.chosen()
    cell = ["depth", "dataset", "method"]
    native = chosen[chosen["experiment"] == "cart"].groupby(cell)
    ours = pd.DataFrame({"accuracy": native["test_accuracy"].mean(), "trees": native["trees"].mean()})
    paper = paper_results()
    theirs = paper[paper["experiment"] == "cart"].set_index(cell)[["accuracy_mean", "columns"]]
    both = ours.join(theirs, how="inner")
    if REFERENCE not in both.index.unique("method"):
        return pd.DataFrame()
    both = both[both.index.droplevel("method").isin(both.xs(REFERENCE, level="method").index)]
    for name, column in (("difference", "accuracy"), ("paper_difference", "accuracy_mean")):
        reference = both[column].xs(REFERENCE, level="method")
        both[name] = both[column] - reference.reindex(both.index.droplevel("method")).to_numpy()
    both["strays"] = both["difference"] - both["paper_difference"]
    both = both[both.index.get_level_values("method") != REFERENCE]
    return both.rename(columns={"accuracy_mean": "paper_accuracy", "columns": "paper_trees"}).reset_index()


def straying(comparison: pd.DataFrame) -> pd.DataFrame:
    """For each depth and method: the means of both, and the median over data sets of |our difference - the paper's|."""
    grouped = comparison.groupby(["depth", "method"])
    means = grouped[["accuracy", "paper_accuracy", "trees", "paper_trees", "difference", "paper_difference"]].mean()
    means["median |strays|"] = comparison["strays"].abs().groupby([comparison["depth"], comparison["method"]]).median()
    return means
