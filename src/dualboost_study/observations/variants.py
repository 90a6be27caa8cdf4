"""Observations 15 to 18: reweighting, confidence-rated votes and optimal trees."""

from __future__ import annotations

import pandas as pd
from scipy.stats import wilcoxon

from ..results import Results
from ..tables import LEAST_DATASETS, LEVEL, listed
from .base import EQUAL, NOT_ENOUGH, OURS, Verdict, chosen_fits, has, means, observation
from .behaviour import early_accuracy


@observation(
    15,
    "Reweighting an ensemble makes it sparser and keeps, or improves, its accuracy.",
    "The best reweighted mean accuracy is at most 0.005 below AdaBoost's at each depth, with less than 0.9 of "
    "the trees.",
    ("cart", "reweight"),
)
def reweighting(results: Results) -> Verdict:
    accuracy, trees = means(results, "test_accuracy", "reweight"), means(results, "trees", "reweight")
    before = means(results, "test_accuracy", like="reweight")
    depths = [d for d in has(accuracy, OURS, [1, 3, 5, 10]) if d in before.index and "adaboost" in before]
    if not depths:
        return NOT_ENOUGH
    figures = {
        f"depth {d}: best reweighted - AdaBoost": accuracy.loc[d, OURS].max() - before.loc[d, "adaboost"]
        for d in depths
    }
    kept = means(results, "trees", like="reweight").loc[depths, "adaboost"].mean()
    share = trees.loc[depths, OURS].mean().mean() / kept
    figures["trees left, share"] = share
    return Verdict(bool(min(figures.values()) >= -EQUAL and share < 0.9), f"At depth {listed(depths)}.", figures)


def _paired(results: Results, experiment: str) -> pd.Series:
    """Accuracy of a variant minus that of CART trees, for each data set, depth and totally corrective method."""
    cell = ["dataset", "depth", "method", "seed"]
    variant, cart = (
        chosen_fits(results, name).set_index(cell)["test_accuracy"].rename(name) for name in (experiment, "cart")
    )
    differences = (variant - cart).dropna()
    return differences[differences.index.isin(OURS, level="method")].groupby(cell[:-1]).mean()


def _no_difference(results: Results, experiment: str) -> Verdict:
    """Judge that a variant makes no difference, unless its mean difference is significant and large enough.

    Pairs are means over each data set, so that they are independent.
    """
    differences = _paired(results, experiment).groupby("dataset").mean()
    if differences.empty:
        return NOT_ENOUGH
    if len(differences) < LEAST_DATASETS:
        return Verdict(None, f"There are {len(differences)} data sets; {LEAST_DATASETS} are needed.")
    mean = float(differences.mean())
    p = float(wilcoxon(differences).pvalue) if differences.abs().max() > 0 else 1.0
    holds = p > LEVEL or abs(mean) < EQUAL
    return Verdict(holds, f"Signed-rank test over {len(differences)} data sets.", {"mean difference": mean, "p": p})


@observation(
    16,
    "Confidence-rated trees make no significant difference to CART trees.",
    "A signed-rank test over at least five data sets gives p > 0.05, or the mean difference is below 0.005.",
    ("cart", "confidence"),
)
def confidence(results: Results) -> Verdict:
    return _no_difference(results, "confidence")


@observation(
    17,
    "Ensembles of optimal trees behave over the iterations as those of CART trees do.",
    "Over the first ten iterations the mean accuracies differ by less than 0.02 at each depth.",
    ("cart", "optimal"),
)
def optimal_over_time(results: Results) -> Verdict:
    optimal, cart = early_accuracy(results, "optimal"), early_accuracy(results, like="optimal")
    depths = [depth for depth in has(optimal, OURS, [1, 3, 5, 10]) if depth in has(cart, OURS, [depth])]
    if not depths:
        return NOT_ENOUGH
    figures = {f"depth {d}: optimal - CART, early": (optimal - cart).loc[d, OURS].mean() for d in depths}
    return Verdict(max(map(abs, figures.values())) < 4 * EQUAL, f"At depth {listed(depths)}.", figures)


@observation(
    18,
    "In the end, optimal trees give a similar accuracy to CART trees.",
    "A signed-rank test over at least five data sets gives p > 0.05, or the mean difference is below 0.005.",
    ("cart", "optimal"),
)
def optimal_in_the_end(results: Results) -> Verdict:
    return _no_difference(results, "optimal")
