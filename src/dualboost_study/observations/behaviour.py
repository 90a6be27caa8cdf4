"""Observations 8 to 14: anytime curves, sparsity, margins and tuning."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..results import CELL, Results
from ..tables import listed, titles
from .base import EQUAL, HEURISTIC, NOT_ENOUGH, OURS, Verdict, chosen_fits, has, mean_over_datasets, means, observation

EARLY = 10
"""How many iterations count as early."""


def early_accuracy(results: Results, experiment: str = "cart", like: str | None = None) -> pd.DataFrame:
    """The mean test accuracy over the early iterations of the fits chosen, by depth (rows) and method (columns).

    Empty if only the last stages are optima, because the paper's iterations are optima.
    """
    if not results.stages_are_optimal:
        return pd.DataFrame()
    early = results.anytime(chosen_fits(results, experiment, like))
    return mean_over_datasets(early[early["iteration"] <= EARLY], "accuracy")


@observation(
    8,
    "With stumps, totally corrective methods are ahead in the early iterations, of AdaBoost above all.",
    "The mean accuracy over the first ten iterations, averaged over the six, is above each heuristic's, and "
    "the lead over AdaBoost is the largest, or within 0.005 of it.",
)
def early_with_stumps(results: Results) -> Verdict:
    early = early_accuracy(results)
    if not has(early, [*OURS, *HEURISTIC], [1]):
        return NOT_ENOUGH
    ours = early.loc[1, OURS].mean()
    figures = {f"ours - {name}": ours - early.loc[1, name] for name in HEURISTIC}
    holds = min(figures.values()) > 0 and figures["ours - adaboost"] >= max(figures.values()) - EQUAL
    return Verdict(holds, f"Means over the first {EARLY} iterations.", figures)


@observation(
    9,
    "With deeper trees, totally corrective methods are often ahead early, heuristics slightly at the end.",
    "Over the first ten iterations the mean of the six is above the heuristics' mean; in the end the best "
    "heuristic is above the best of the six.",
)
def early_with_deeper_trees(results: Results) -> Verdict:
    early, final = early_accuracy(results), means(results, "test_accuracy")
    depths = has(early, [*OURS, *HEURISTIC], [3, 5, 10])
    if not depths:
        return NOT_ENOUGH
    figures: dict[str, float] = {}
    holds = True
    for depth in depths:
        ahead = early.loc[depth, OURS].mean() - early.loc[depth, HEURISTIC].mean()
        behind = final.loc[depth, HEURISTIC].max() - final.loc[depth, OURS].max()
        figures |= {f"depth {depth}: ahead early": ahead, f"depth {depth}: behind at the end": behind}
        holds &= ahead > 0 and behind > 0
    return Verdict(holds, f"At depth {listed(depths)}.", figures)


@observation(
    10,
    "The sparsest ensembles of competitive accuracy are those of NM-Boost, LP-Boost and ERLP-Boost.",
    "Of the methods within 0.02 of the best mean accuracy, these three use the fewest trees.",
)
def sparsest(results: Results) -> Verdict:
    trees, accuracy = means(results, "trees"), means(results, "test_accuracy")
    depths = has(trees, OURS, [1, 3, 5, 10])
    if not depths:
        return NOT_ENOUGH
    used, gained = trees.loc[depths, OURS].mean(), accuracy.loc[depths, OURS].mean()
    competitive = gained[gained >= gained.max() - 4 * EQUAL].index
    three = set(used[competitive].nsmallest(3).index)
    figures = {f"trees {name}": used[name] for name in OURS} | {f"accuracy {name}": gained[name] for name in OURS}
    return Verdict(three == {"nm", "lp", "erlp"}, f"The sparsest competitive ones are {titles(three)}.", figures)


def _margins(results: Results) -> pd.DataFrame:
    """For each chosen fit its accuracy, and the minimum, the 90 % quantile and the spread of its test margins."""
    chosen = results.chosen()
    chosen = chosen[(chosen["experiment"] == "cart") & chosen["method"].isin([*OURS, "adaboost"])]
    merged = results.margins.merge(chosen[[*CELL, "test_accuracy"]], on=CELL)
    grouped = merged.groupby([*CELL, "test_accuracy"])["margin"]
    table = grouped.agg(least="min", spread="var", tail=lambda margins: margins.quantile(0.9)).reset_index()
    by_method = ["depth", "dataset", "method"]
    return table.groupby(by_method)[["test_accuracy", "least", "spread", "tail"]].mean().reset_index()


def _rank_correlation(table: pd.DataFrame, column: str) -> float:
    """The rank correlation of a property of the margins with the accuracy: the mean over data sets and depths."""
    found = [
        part[column].corr(part["test_accuracy"], method="spearman")
        for _, part in table.groupby(["depth", "dataset"])
        if len(part) > 3 and part[column].nunique() > 1 and part["test_accuracy"].nunique() > 1
    ]
    return float(np.nanmean(found)) if found else float("nan")


@observation(
    11,
    "Margins do not fully explain accuracy: a heavy right tail does not mean the highest accuracy.",
    "The rank correlations of the accuracy with the smallest and the 90 % margin are below 0.5 in absolute value.",
)
def margins_do_not_explain(results: Results) -> Verdict:
    table = _margins(results)
    figures = {f"rank correlation with {name}": _rank_correlation(table, name) for name in ("least", "tail")}
    if np.isnan(list(figures.values())).any():
        return NOT_ENOUGH
    return Verdict(max(map(abs, figures.values())) < 0.5, "Over methods, within data sets and depths.", figures)


@observation(
    12,
    "The variance of the margins is not necessarily correlated with accuracy.",
    "The rank correlation of the accuracy with the variance of the margins is below 0.5 in absolute value.",
)
def variance_does_not_explain(results: Results) -> Verdict:
    correlation = _rank_correlation(_margins(results), "spread")
    if np.isnan(correlation):
        return NOT_ENOUGH
    return Verdict(
        abs(correlation) < 0.5, "Over methods, within data sets and depths.", {"rank correlation": correlation}
    )


def _are_on_front(points: pd.DataFrame) -> NDArray[np.bool_]:
    """Which points no other one beats: at least as accurate with at most as many trees, and better in one of both."""
    gained = np.subtract.outer(*2 * [points["test_accuracy"].to_numpy()])
    saved = -np.subtract.outer(*2 * [points["trees"].to_numpy()])
    beats = (gained >= 0) & (saved >= 0) & ((gained > 0) | (saved > 0))
    return ~beats.any(axis=0)


@observation(
    13,
    "Accuracy and sparsity are traded off, and most methods have ensembles on the Pareto front of both.",
    "On average more than half of the six have an ensemble on the front of a data set and depth.",
)
def pareto(results: Results) -> Verdict:
    fits = results.fits[(results.fits["experiment"] == "cart") & results.fits["method"].isin(OURS)]
    if fits.empty or fits["method"].nunique() < len(OURS):
        return NOT_ENOUGH
    points = fits.groupby(["dataset", "depth", "method", "value"])[["test_accuracy", "trees"]].mean().reset_index()
    on_front = [part.loc[_are_on_front(part), "method"].nunique() for _, part in points.groupby(["dataset", "depth"])]
    mean = float(np.mean(on_front))
    return Verdict(mean > len(OURS) / 2, "Methods on the front, mean over data sets and depths.", {"methods": mean})


@observation(
    14,
    "Tuning matters most for MD-Boost and LP-Boost: unsuitable values give poor ensembles.",
    "The difference between the best and the worst value's mean accuracy is the largest for these two.",
)
def tuning(results: Results) -> Verdict:
    fits = results.fits[(results.fits["experiment"] == "cart") & results.fits["method"].isin(OURS)]
    if fits.empty or fits["method"].nunique() < len(OURS) or fits["value"].nunique() < 3:
        return NOT_ENOUGH
    by_value = fits.groupby(["method", "dataset", "depth", "value"])["test_accuracy"].mean()
    spans = by_value.groupby(["method", "dataset", "depth"]).agg(lambda values: values.max() - values.min())
    worst = spans.groupby("method").mean()
    figures = {f"best - worst value, {name}": float(worst[name]) for name in OURS}
    two = set(worst.nlargest(2).index)
    return Verdict(two == {"md", "lp"}, f"The two most sensitive ones are {titles(two)}.", figures)
