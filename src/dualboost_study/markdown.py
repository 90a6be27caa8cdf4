"""The page of results: a text with blocks that are filled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd

from dualboost.errors import InvalidDataError
from dualboost.escaping import printable

from .figures import draw_pictures
from .observations import OBSERVATIONS, Verdict
from .observations.base import HEURISTIC, OURS
from .observations.equal_size import LEAVES, TREES
from .protocol import METHODS
from .results import Results
from .sizes import ANY_DEPTH, size_means, trees_to_match
from .summary import leaders, sentences, verdicts
from .tables import (
    DIGITS,
    PARTS,
    AccuracyTable,
    accuracy_table,
    compare_seconds,
    compare_with_paper,
    figure,
    paper_table,
    short,
    significance,
    straying,
    unbroken,
)


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


NOT_RUN = "\nThe experiment was not run.\n"


def equal_trees(results: Results) -> str:
    """Mean accuracy within so many trees, by depth and method; the best of each row in bold."""
    if results.sizes.empty:
        return NOT_RUN
    table = size_means(results.sizes, "trees")
    wanted = [(depth, budget) for depth in table.index.unique("depth") if depth != ANY_DEPTH for budget in TREES]
    wanted += [(ANY_DEPTH, budget) for budget in TREES]
    return _table(table, {f"depth {d}, {n} trees" if d else f"any depth, {n} trees": (d, n) for d, n in wanted})


def equal_leaves(results: Results) -> str:
    """Mean accuracy within so many leaves of trees of any depth."""
    if results.sizes.empty:
        return NOT_RUN
    return _table(size_means(results.sizes, "leaves"), {f"{n} leaves": (ANY_DEPTH, n) for n in LEAVES})


def _table(means: pd.DataFrame, wanted: dict[str, tuple[int, int]]) -> str:
    rows = []
    for label, key in wanted.items():
        if key in means.index:
            row = means.loc[key].round(DIGITS)
            marks = ["**" if value == row.max() else "" for value in row]
            cells = [f"{mark}{value:.{DIGITS}f}{mark}" for mark, value in zip(marks, row, strict=True)]
            rows.append([unbroken(label), *cells])
    return markdown_table(["within", *map(short, means)], rows)


def matches(results: Results) -> str:
    """What each method has after all iterations, and how many trees a tuned heuristic needs to match it."""
    if results.sizes.empty:
        return NOT_RUN
    there = [name for name in METHODS if name in set(results.sizes["method"])]
    rivals = [name for name in there if name in HEURISTIC]
    if not rivals:
        return NOT_RUN
    table = trees_to_match(results.sizes, [name for name in there if name not in rivals], rivals)
    rows = [
        [
            f"{row.depth}",
            short(row.method),
            f"{row.accuracy:.{DIGITS}f}",
            f"{row.trees:.0f}",
            f"{row.own_trees:.0f}",
            f"{row.rivals_at_most_as_many:.{DIGITS}f}",
            "more than 100" if pd.isna(row.rival_trees) else f"{row.rival_trees:.0f}",
        ]
        for row in table[table["depth"] != ANY_DEPTH].itertuples()
    ]
    head = [
        "depth",
        "method",
        "accuracy",
        "its trees",
        "it matches within",
        "best heuristic with no more trees",
        "trees of a heuristic that match",
    ]
    return markdown_table(head, rows)


# A block stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``; what is written around it is by hand.

BLOCKS: dict[str, Callable[[Results], str]] = {
    "opening": opening,
    "observations": observations,
    "accuracy": accuracy_means,
    "accuracy by data set": accuracy_by_dataset,
    "closeness": closeness,
    "ranks": ranks,
    "variants": variants,
    "times": times,
    "equal trees": equal_trees,
    "equal leaves": equal_leaves,
    "matches": matches,
}
"""What each block holds."""
PICTURES = "pictures of "
"""A block with such a name shows a picture."""
BLOCK = re.compile(r"(<!-- begin (?P<name>[a-z ]+) -->\n)(?P<text>.*?)(<!-- end (?P=name) -->)", re.DOTALL)


def write_page(results: Results, path: str | Path) -> Path:
    """Fill the blocks of the file, or of a new one, and draw the pictures that it shows beside it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    template = resources.files(__package__) / "page" / "results.md"
    text = path.read_text(encoding="utf-8") if path.exists() else template.read_text(encoding="utf-8")
    drawn = {picture.stem: picture.name for picture in draw_pictures(results, path.parent, f"{path.stem}_")}
    shown = {stem.removeprefix(f"{path.stem}_"): name for stem, name in drawn.items()}
    path.write_text(filled(text, results, shown), encoding="utf-8")
    return path


def filled(text: str, results: Results, pictures: dict[str, str]) -> str:
    """The text with its blocks made anew; ``pictures`` are names of files by what they show."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        if name.startswith(PICTURES):
            file = pictures.get(name.removeprefix(PICTURES).replace(" ", "_"))
            content = f"\n![{name.removeprefix(PICTURES)}]({file})\n" if file else ""
        elif name in BLOCKS:
            content = BLOCKS[name](results)
        else:
            raise InvalidDataError(f"The page has a block {name!r}, which is not known; there are {sorted(BLOCKS)}.")
        return f"{match[1]}{content}{match[4]}"

    return BLOCK.sub(block, text)
