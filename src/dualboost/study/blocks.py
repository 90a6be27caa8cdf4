"""Blocks of the page of results: the summary, verdicts, tables beside the paper's, ranks and times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from ..escaping import printable
from .comparison import compare_seconds, compare_with_paper, paper_table, straying
from .methods import METHODS
from .observations import OBSERVATIONS, Verdict
from .observations.base import OURS
from .results import Results
from .significance import significance
from .summary import leaders, sentences, verdicts
from .tables import DIGITS, AccuracyTable, accuracy_table
from .words import PARTS, figure, short, unbroken


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; data sets are called as files are, so that a name may hold any character."""
    lines = ([printable(cell).replace("|", r"\|") for cell in line] for line in [head, ["---"] * len(head), *rows])
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def opening(results: Results) -> str:
    """The sentences of the summary, and who leads at each depth."""
    said = "".join(f"- {sentence}\n" for sentence in sentences(results, verdicts(results)))
    rows = []
    for row in leaders(results).to_dict("records"):
        best = [_leader(row, side) for side in ("ours", "heuristic")]
        difference = row["ours_accuracy"] - row["heuristic_accuracy"]
        rows.append([str(row["depth"]), *best, f"{difference:+.{DIGITS}f}"])
    return said + markdown_table(["depth", "best of the six", "best heuristic", "difference"], rows)


def _leader(row: dict[Any, Any], side: str) -> str:
    return f"{METHODS[row[side]].title}: {row[f'{side}_accuracy']:.{DIGITS}f} with {row[f'{side}_trees']:.0f} trees"


def observations(results: Results) -> str:
    """All verdicts in a table; then each with its criterion, its data and its figures."""
    judged = verdicts(results)
    rows = [[str(n), unbroken(verdict.word), OBSERVATIONS[n].statement] for n, verdict in judged.items()]
    details = [_verdict(results, number, verdict) for number, verdict in judged.items()]
    return markdown_table(["", "verdict", "statement"], rows) + "\n" + "\n".join(details)


def _verdict(results: Results, number: int, verdict: Verdict) -> str:
    one = OBSERVATIONS[number]
    lines = [
        f"**{number}. {verdict.word.capitalize()}.** {verdict.sentence}\n",
        f"- *Judged so:* {one.criterion}",
        f"- *Data:* {one.data(results) or 'none'}.",
    ]
    figures = "; ".join(f"{name}: {figure(value)}" for name, value in verdict.figures.items())
    lines += [f"- *Figures:* {figures}."] if figures else []
    return "\n".join(lines) + "\n"


def accuracy_means(results: Results) -> str:
    """Mean accuracy / trees by depth and method, ours and the paper's, over the data sets that both have."""
    rows = []
    for depth in _depths(results, "cart"):
        ours, paper = accuracy_table(results, "cart", depth), paper_table("cart", depth)
        shared = ours.accuracy.dropna().index.intersection(paper.accuracy.index)
        for name, table in (("ours", ours), ("paper", paper)):
            cells = [_mean(table, shared, method) for method in ours.accuracy]
            rows.append([unbroken(f"depth {depth}, {name}"), *cells])
    return markdown_table(["", *_titles(results, "cart")], rows)


def accuracy_by_dataset(results: Results) -> str:
    """A table for each depth: ours, and the paper's below."""
    return "".join(_by_dataset(results, depth) for depth in _depths(results, "cart"))


def _by_dataset(results: Results, depth: int) -> str:
    ours, paper = accuracy_table(results, "cart", depth), paper_table("cart", depth)
    best = ours.best
    rows = []
    for dataset in ours.accuracy.index:
        cells = []
        for method in ours.accuracy:
            mark = "**" if best.at[dataset, method] else ""
            figures = [_figures(ours, dataset, method, mark), _figures(paper, dataset, method)]
            cells.append("<br>".join(filter(None, figures)))
        rows.append([str(dataset), *cells])
    return f"\nDepth {depth}:\n" + markdown_table(["data set", *map(short, ours.accuracy)], rows)


def closeness(results: Results) -> str:
    """The median over data sets of how far differences to XGBoost are from the paper's, by method and depth."""
    comparison = compare_with_paper(results)
    if comparison.empty:
        return "\nThere is nothing to compare.\n"
    strays = straying(comparison)["median |strays|"].unstack("depth")
    order = [name for name in METHODS if name in strays.index]
    rows = [[unbroken(METHODS[name].title), *(_fixed(strays.at[name, depth], 4) for depth in strays)] for name in order]
    return markdown_table(["method", *(f"depth {depth}" for depth in strays)], rows)


def ranks(results: Results) -> str:
    """Mean ranks by method and depth, with the critical difference."""
    found = {depth: significance(accuracy_table(results, "cart", depth)) for depth in _depths(results, "cart")}
    tested = {depth: one for depth, one in found.items() if one is not None}
    if not tested:
        return "\nThere are too few data sets for ranks.\n"
    methods = [name for name in METHODS if any(name in one.ranks for one in tested.values())]
    rows = [[METHODS[name].title, *(f"{one.ranks[name]:.2f}" for one in tested.values())] for name in methods]
    rows.append(["critical difference", *(f"{one.critical_difference:.2f}" for one in tested.values())])
    rows.append(["Friedman's test, p", *(f"{one.friedman_p:.2g}" for one in tested.values())])
    return markdown_table(["mean rank", *(f"depth {depth}" for depth in tested)], rows)


def variants(results: Results) -> str:
    """Mean accuracy / trees of the other kinds of trees, ours and the paper's, over the data sets that both have."""
    rows = []
    for experiment in ("confidence", "optimal", "reweight"):
        for depth in _depths(results, experiment):
            ours, paper = accuracy_table(results, experiment, depth), paper_table(experiment, depth)
            shared = ours.accuracy.dropna().index.intersection(paper.accuracy.index)
            for name, table in (("ours", ours), ("paper", paper)):
                cells = [_mean(table, shared, method) if method in table.accuracy else "" for method in OURS]
                rows.append([f"{PARTS[experiment]}, depth {depth}, {name} ({len(shared)} sets)", *cells])
    return markdown_table(["", *map(short, OURS)], rows) if rows else "\nNone was run.\n"


def times(results: Results) -> str:
    """Seconds for a fit with stumps by data set: the median of the six methods, and XGBoost, ours and the paper's."""
    table = compare_seconds(results)
    if table.empty:
        return "\nThere is nothing to compare.\n"
    six = table[table["method"].isin(OURS)].groupby("dataset")[["seconds", "paper_seconds"]].median()
    rows = [
        [str(row.Index), _seconds(row.seconds), f"{row.paper_seconds:.0f}", f"{row.paper_seconds / row.seconds:,.0f}"]
        for row in six.sort_values("paper_seconds").itertuples()
    ]
    return markdown_table(["data set", "seconds here", "seconds in the paper", "ratio"], rows)


def _depths(results: Results, experiment: str) -> list[int]:
    fits = results.fits
    return sorted(int(depth) for depth in fits.loc[fits["experiment"] == experiment, "depth"].unique())


def _titles(results: Results, experiment: str) -> list[str]:
    there = set(results.fits.loc[results.fits["experiment"] == experiment, "method"])
    return [short(name) for name in METHODS if name in there]


def _mean(table: AccuracyTable, datasets: pd.Index, method: str) -> str:
    if method not in table.accuracy or not len(datasets):
        return ""
    accuracy, trees = (part.loc[datasets, method].mean() for part in (table.accuracy, table.trees))
    return unbroken(f"{accuracy:.{DIGITS}f} / {trees:.0f}")


def _figures(table: AccuracyTable, dataset: object, method: str, mark: str = "") -> str:
    if dataset not in table.accuracy.index or method not in table.accuracy:
        return ""
    accuracy, trees = (part.at[dataset, method] for part in (table.accuracy, table.trees))
    return "" if pd.isna(accuracy) else unbroken(f"{mark}{accuracy:.{DIGITS}f}{mark} / {trees:.0f}")


def _fixed(value: float, digits: int) -> str:
    return "" if pd.isna(value) else f"{value:.{digits}f}"


def _seconds(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
