"""The summary: the leader at each depth, and the results in a few sentences."""

from __future__ import annotations

import pandas as pd

from .observations import EQUAL, SHALLOW, SPARSER, Verdict, means
from .protocol import HEURISTIC, METHODS, OURS
from .results import Results
from .sizes import ANY_DEPTH, MATCHES, size_means, trees_to_match
from .tables import (
    EXPERIMENT_NAMES,
    compare_seconds,
    compare_with_paper,
    counted,
    listed,
    splits_in_words,
    straying,
    titles,
)

CLOSE = ("nm", "lp", "cg", "qrlp")
"""The methods whose results are close to the paper's."""
TREES, LEAVES = 20, 80
"""The budgets that the summary names."""


def leaders(results: Results) -> pd.DataFrame:
    """The best of the six and the best heuristic with CART trees at each depth, by the mean over the data sets."""
    accuracy, trees = means(results, "test_accuracy"), means(results, "trees")
    rows = []
    for depth in accuracy.index:
        row: dict[str, object] = {"depth": int(depth)}
        for side, names in (("ours", OURS), ("heuristic", HEURISTIC)):
            here = accuracy.loc[depth, [name for name in names if name in accuracy]].dropna()
            if here.empty:
                break
            best = str(here.idxmax())
            row |= {side: best, f"{side}_accuracy": here[best], f"{side}_trees": trees.at[depth, best]}
        else:
            rows.append(row)
    return pd.DataFrame(rows)


def sentences(results: Results, judged: dict[int, Verdict]) -> list[str]:
    """The sentences of the summary that these results have data for."""
    found = [_scope(results), _claim(results), *_sizes(results), _observations(judged), _closeness(results)]
    return [sentence for sentence in [*found, _seconds(results)] if sentence]


def _scope(results: Results) -> str:
    fits, parts = results.fits, []
    methods, depths = counted(fits["method"].nunique(), "method"), listed(sorted(fits["depth"].unique()))
    datasets, seeds = splits_in_words(fits)
    for name, part in fits.groupby("experiment", sort=False):
        n_methods = counted(part["method"].nunique(), "method")
        parts.append(f"{EXPERIMENT_NAMES[str(name)]}: {n_methods}, {splits_in_words(part)[1]}")
    how_often = seeds if len(parts) == 1 else f"in parts: {'; '.join(parts)}"
    return f"{len(fits):,} fits: {methods} on {datasets}, trees of depth {depths}, {how_often}."


def _claim(results: Results) -> str:
    table = leaders(results)
    table = table[table["depth"].isin(SHALLOW)] if len(table) else table
    if table.empty:
        return ""
    behind = table["heuristic_accuracy"] - table["ours_accuracy"]
    holds = (behind <= EQUAL) & (table["ours_trees"] <= SPARSER * table["heuristic_trees"])
    yes, no = (table.loc[part, "depth"].tolist() for part in (holds, ~holds))
    parts = [f"holds at depth {listed(yes)}" if yes else "", f"does not hold at depth {listed(no)}" if no else ""]
    return (
        "The paper's main claim, that totally corrective methods match the heuristics with far fewer trees, "
        f"{' and '.join(filter(None, parts))}."
    )


def _observations(judged: dict[int, Verdict]) -> str:
    papers = [verdict.holds for number, verdict in judged.items() if number <= 18]
    parts = [f"{papers.count(True)} hold", f"{papers.count(False)} do not"]
    if None in papers:
        parts.append(f"{papers.count(None)} cannot be judged by these results")
    return f"Of the paper's eighteen observations {', '.join(parts)}."


def _sizes(results: Results) -> list[str]:
    sizes = results.sizes
    ours, rivals = ([name for name in names if name in set(sizes["method"])] for names in (OURS, HEURISTIC))
    if not ours or not rivals:
        return []
    found = [_within(sizes, unit, budget, ours, rivals) for unit, budget in (("trees", TREES), ("leaves", LEAVES))]
    return [*found, _matches(sizes, ours, rivals)]


def _within(sizes: pd.DataFrame, unit: str, budget: int, ours: list[str], rivals: list[str]) -> str:
    here = size_means(sizes, unit).loc[[(ANY_DEPTH, budget)]]
    one, other = (here[names].iloc[0].idxmax() for names in (ours, rivals))
    best, rival = (here[names].iloc[0].max() for names in (ours, rivals))
    over_leaves = f", and logistic over leaves reaches {here['logistic'].iloc[0]:.3f}" if "logistic" in here else ""
    return (
        f"Within {budget} {unit}, of a depth chosen on validation rows, the best of the six is "
        f"{METHODS[one].title} ({best:.3f}), the best heuristic {METHODS[other].title} ({rival:.3f}){over_leaves}."
    )


def _matches(sizes: pd.DataFrame, ours: list[str], rivals: list[str]) -> str:
    table = trees_to_match(sizes, ours, rivals)
    parts = []
    for depth, part in table[table["depth"] != ANY_DEPTH].groupby("depth"):
        best = part.loc[part["accuracy"].idxmax()]
        needed = "more than 100" if pd.isna(best["rival_trees"]) else f"{best['rival_trees']:.0f}"
        own = f"{METHODS[best['method']].title} {best['own_trees']:.0f} of its {best['trees']:.0f}"
        parts.append(f"{needed} at depth {depth} ({own})")
    return (
        f"To be within {MATCHES} of the most accurate of the six, a tuned heuristic needs so many trees: "
        f"{listed(parts)}."
    )


def _closeness(results: Results) -> str:
    comparison = compare_with_paper(results)
    if comparison.empty:
        return ""
    strays = straying(comparison)["median |strays|"].unstack("method")
    close = [name for name in CLOSE if name in strays]
    others = [name for name in strays if name not in CLOSE and name in OURS]
    parts = [f"{strays[names].max().max():.3f} for {titles(names)}" for names in (close, others) if names]
    where = "the median over the data sets, at the worst depth"
    return f"Differences to XGBoost are within {listed(parts)} of the paper's: {where}." if parts else ""


def _seconds(results: Results) -> str:
    table = compare_seconds(results)
    table = table[table["method"].isin(OURS)]
    if table.empty:
        return ""
    ours, paper = table["seconds"].median(), table["paper_seconds"].median()
    return (
        f"A totally corrective fit with stumps takes {ours:.2f} s here (median over data sets and methods, one thread) "
        f"and {paper:.0f} s in the paper with Gurobi, on another machine and without stopping early."
    )
