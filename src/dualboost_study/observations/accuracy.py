"""Observations 1 to 7: accuracy and sparsity of the ensembles chosen."""

from __future__ import annotations

import pandas as pd

from ..results import Results
from ..tables import accuracy_table, listed, titles
from .base import EQUAL, HEURISTIC, NOT_ENOUGH, OURS, Verdict, has, means, observation

SHALLOW = [1, 3, 5]
"""The depths of shallow trees."""
DEEP = [10]
"""The depths of deep trees."""
SPARSER = 0.7
"""An ensemble is called sparser if it has at most this fraction of the other's trees."""


@observation(
    1,
    "With trees of depth 1 to 5, totally corrective methods match the heuristics with far fewer trees.",
    "The mean accuracy of the best totally corrective method is at most 0.005 below the best heuristic's, with "
    "at most 0.7 of its trees, at each depth from 1 to 5.",
)
def matched_with_fewer_trees(results: Results) -> Verdict:
    accuracy, trees = means(results, "test_accuracy"), means(results, "trees")
    depths = has(accuracy, [*OURS, *HEURISTIC], SHALLOW)
    if not depths:
        return NOT_ENOUGH
    figures: dict[str, float] = {}
    holds = True
    for depth in depths:
        ours, theirs = accuracy.loc[depth, OURS], accuracy.loc[depth, HEURISTIC]
        share = trees.loc[depth, ours.idxmax()] / trees.loc[depth, HEURISTIC].min()
        figures |= {f"depth {depth}: best of ours - best heuristic": ours.max() - theirs.max()}
        figures |= {f"depth {depth}: its trees / theirs": share}
        holds &= ours.max() >= theirs.max() - EQUAL and share <= SPARSER
    return Verdict(holds, f"The best of the six and the best heuristic, at depth {listed(depths)}.", figures)


@observation(
    2,
    "NM-Boost is the best totally corrective method with trees of depth 1 to 5.",
    "Its mean accuracy is the highest of the six at each depth from 1 to 5.",
)
def nm_is_best(results: Results) -> Verdict:
    accuracy = means(results, "test_accuracy")
    depths = has(accuracy, OURS, SHALLOW)
    if not depths:
        return NOT_ENOUGH
    behind = {f"depth {d}: nm - best other": _lead(accuracy.loc[d, OURS], "nm") for d in depths}
    return Verdict(min(behind.values()) >= 0, f"Its lead over the next one, at depth {listed(depths)}.", behind)


@observation(
    3,
    "With deeper trees, heuristics are more accurate and less sparse.",
    "At depth 10 the best heuristic's mean accuracy is higher, and the mean number of trees too.",
)
def heuristics_win_deep(results: Results) -> Verdict:
    accuracy, trees = means(results, "test_accuracy"), means(results, "trees")
    if not has(accuracy, [*OURS, *HEURISTIC], DEEP):
        return NOT_ENOUGH
    lead = accuracy.loc[10, HEURISTIC].max() - accuracy.loc[10, OURS].max()
    share = trees.loc[10, OURS].mean() / trees.loc[10, HEURISTIC].mean()
    figures = {"best heuristic - best of ours": lead, "our trees / theirs": share}
    return Verdict(bool(lead > 0 and share < 1), "At depth 10.", figures)


@observation(
    4,
    "With stumps, a totally corrective method matches or beats the heuristics on nearly every data set.",
    "The best totally corrective accuracy is at most 0.0005 below the best heuristic's on at least 90 % of the "
    "data sets.",
)
def stumps_by_dataset(results: Results) -> Verdict:
    table = accuracy_table(results, "cart", 1).accuracy
    table = table.dropna()
    if not set(OURS + HEURISTIC) <= set(table) or table.empty:
        return NOT_ENOUGH
    wins = int((table[OURS].max(axis=1) >= table[HEURISTIC].max(axis=1) - 0.0005).sum())
    share = wins / len(table)
    return Verdict(share >= 0.9, f"On {wins} of {len(table)} data sets (the paper: 19 of 20).", {"share": share})


@observation(
    5,
    "With stumps, NM-Boost and QRLP-Boost are the best totally corrective methods, NM-Boost the sparser.",
    "The two have the highest mean accuracies of the six at depth 1, and nm uses fewer trees than qrlp.",
)
def nm_and_qrlp_lead_with_stumps(results: Results) -> Verdict:
    accuracy, trees = means(results, "test_accuracy"), means(results, "trees")
    if not has(accuracy, OURS, [1]):
        return NOT_ENOUGH
    best = set(accuracy.loc[1, OURS].nlargest(2).index)
    figures = {f"accuracy {name}": accuracy.loc[1, name] for name in OURS}
    figures |= {f"trees {name}": trees.loc[1, name] for name in ("nm", "qrlp")}
    holds = best == {"nm", "qrlp"} and trees.loc[1, "nm"] < trees.loc[1, "qrlp"]
    return Verdict(holds, f"The two best are {titles(best)}.", figures)


@observation(
    6,
    "As trees get deeper, totally corrective methods fall behind the heuristics, but stay sparser.",
    "The lead of the best totally corrective method over the best heuristic is smaller at the greatest depth "
    "than at the least, and the mean number of trees is below the heuristics' at each.",
)
def decline_with_depth(results: Results) -> Verdict:
    accuracy, trees = means(results, "test_accuracy"), means(results, "trees")
    depths = has(accuracy, [*OURS, *HEURISTIC], [1, 3, 5, 10])
    if len(depths) < 2:
        return NOT_ENOUGH
    leads = {d: accuracy.loc[d, OURS].max() - accuracy.loc[d, HEURISTIC].max() for d in depths}
    sparser = all(trees.loc[d, OURS].mean() < trees.loc[d, HEURISTIC].mean() for d in depths)
    figures = {f"depth {d}: best of ours - best heuristic": lead for d, lead in leads.items()}
    return Verdict(bool(leads[depths[-1]] < leads[depths[0]] and sparser), f"From depth {depths[0]} on.", figures)


@observation(
    7,
    "NM-Boost is the most accurate totally corrective method at depths 3 and 5; at 10 CG and ERLP match it.",
    "Its mean accuracy is the highest of the six at depths 3 and 5; at depth 10, cg and erlp are at most 0.005 "
    "below it, with more trees.",
)
def nm_at_moderate_depths(results: Results) -> Verdict:
    accuracy, trees = means(results, "test_accuracy"), means(results, "trees")
    depths = has(accuracy, OURS, [3, 5, 10])
    if not set(depths) & {3, 5}:
        return NOT_ENOUGH
    figures = {f"depth {d}: nm - best other": _lead(accuracy.loc[d, OURS], "nm") for d in depths if d < 10}
    holds = min(figures.values()) >= 0
    if 10 in depths:
        for name in ("cg", "erlp"):
            figures[f"depth 10: {name} - nm"] = accuracy.loc[10, name] - accuracy.loc[10, "nm"]
            holds &= figures[f"depth 10: {name} - nm"] >= -EQUAL and trees.loc[10, name] > trees.loc[10, "nm"]
    return Verdict(holds, f"At depth {listed(depths)}.", figures)


def _lead(accuracies: pd.Series, name: str) -> float:
    """The accuracy of one method minus that of the best other method."""
    return float(accuracies[name] - accuracies.drop(name).max())
