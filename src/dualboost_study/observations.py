"""The paper's eighteen numbered observations, and a nineteenth question, each judged by a function of the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from .protocol import CELL, EQUAL_SIZE, HEURISTIC, OURS
from .results import Results
from .sizes import ANY_DEPTH, size_means
from .tables import LEAST_DATASETS, LEVEL, accuracy_table, listed, splits_in_words, titles

EQUAL = 0.005
"""Accuracies are called equal if they differ by less than this."""
SPARSER = 0.7
"""An ensemble is called sparser if it has at most this fraction of the other's trees."""
EARLY = 10
"""The number of early iterations."""
ALL = [*OURS, *HEURISTIC]
SHALLOW, DEEP, DEPTHS = [1, 3, 5], 10, [1, 3, 5, 10]
SIZES = {"trees": [5, 10, 20, 40], "leaves": [20, 40, 80, 160]}
"""The budgets at which ensembles of equal size are compared."""


@dataclass(frozen=True)
class Verdict:
    """``holds`` is None if the results do not suffice to judge."""

    holds: bool | None
    sentence: str
    figures: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.holds is not None:
            object.__setattr__(self, "holds", bool(self.holds))
        object.__setattr__(self, "figures", {name: float(value) for name, value in self.figures.items()})

    @property
    def word(self) -> str:
        return {True: "holds", False: "does not hold", None: "not enough data"}[self.holds]


NOT_ENOUGH = Verdict(None, "The results do not contain all that this observation is about.")
Judge = Callable[[Results], "Verdict | None"]
MeansJudge = Callable[[pd.DataFrame, pd.DataFrame, list[int]], "Verdict | None"]


@dataclass(frozen=True)
class Observation:
    """A statement of the paper, in our words."""

    number: int
    statement: str
    criterion: str
    """The condition on the figures under which the statement holds."""
    judged: Judge
    experiments: tuple[str, ...]
    """The experiments whose results are used."""

    def judge(self, results: Results) -> Verdict:
        return self.judged(results) or NOT_ENOUGH

    def data(self, results: Results) -> str:
        """The data behind the verdict, in words."""
        parts = []
        for experiment in self.experiments:
            fits = results.fits[results.fits["experiment"] == experiment]
            by_depth = {depth: " and ".join(splits_in_words(part)) for depth, part in fits.groupby("depth")}
            for counts in dict.fromkeys(by_depth.values()):
                depths = listed([depth for depth, words in by_depth.items() if words == counts])
                parts.append(f"{experiment} at depth {depths}, {counts}")
        return "; ".join(parts)


OBSERVATIONS: dict[int, Observation] = {}


def verdicts(results: Results) -> dict[int, Verdict]:
    return {number: one.judge(results) for number, one in OBSERVATIONS.items()}


def observation(
    number: int, statement: str, criterion: str, experiments: tuple[str, ...] = ("cart",)
) -> Callable[[Judge], Judge]:
    """Register a function that judges an observation, and returns None if the results do not suffice."""

    def register(judge: Judge) -> Judge:
        OBSERVATIONS[number] = Observation(number, statement, criterion, judge, experiments)
        return judge

    return register


def observation_of_means(
    number: int, statement: str, criterion: str, methods: list[str], depths: list[int]
) -> Callable[[MeansJudge], Judge]:
    """Register a function of mean accuracies, mean trees, and the depths at which all the methods have means."""

    def register(judge: MeansJudge) -> Judge:
        def judged(results: Results) -> Verdict | None:
            accuracy, trees = means(results, "test_accuracy"), means(results, "trees")
            complete = _complete_depths(accuracy, methods, depths)
            return judge(accuracy, trees, complete) if complete else None

        return observation(number, statement, criterion)(judged)

    return register


def _chosen(results: Results, experiment: str, like: str | None = None) -> pd.DataFrame:
    """The chosen fits of an experiment; with ``like``, only of splits and depths that this other experiment has."""
    chosen = results.chosen()
    part, split = chosen[chosen["experiment"] == experiment], ["dataset", "depth", "seed"]
    if like is None:
        return part
    return part.merge(chosen.loc[chosen["experiment"] == like, split].drop_duplicates(), on=split)


def means(results: Results, column: str, experiment: str = "cart", like: str | None = None) -> pd.DataFrame:
    """Means over seeds, then over the data sets that all methods have, by depth (rows) and method (columns)."""
    return _mean_over_datasets(_chosen(results, experiment, like), column)


def _mean_over_datasets(fits: pd.DataFrame, column: str) -> pd.DataFrame:
    by_dataset = fits.groupby(["depth", "dataset", "method"])[column].mean().unstack("method")
    return by_dataset.dropna().groupby("depth").mean()


def _complete_depths(table: pd.DataFrame, methods: list[str], depths: list[int]) -> list[int]:
    if any(name not in table for name in methods):
        return []
    return [depth for depth in depths if depth in table.index and table.loc[depth, methods].notna().all()]


def _lead(accuracies: pd.Series, name: str) -> float:
    return float(accuracies[name] - accuracies.drop(name).max())


@observation_of_means(
    1,
    "With trees of depth 1 to 5, totally corrective methods match the heuristics with far fewer trees.",
    "The mean accuracy of the best totally corrective method is at most 0.005 below the best heuristic's, with "
    "at most 0.7 of its trees, at each depth from 1 to 5.",
    ALL,
    SHALLOW,
)
def matched_with_fewer_trees(accuracy: pd.DataFrame, trees: pd.DataFrame, depths: list[int]) -> Verdict:
    figures: dict[str, float] = {}
    holds = True
    for depth in depths:
        ours, theirs = accuracy.loc[depth, OURS], accuracy.loc[depth, HEURISTIC]
        share = trees.loc[depth, ours.idxmax()] / trees.loc[depth, HEURISTIC].min()
        figures |= {f"depth {depth}: best of ours - best heuristic": ours.max() - theirs.max()}
        figures |= {f"depth {depth}: its trees / theirs": share}
        holds &= ours.max() >= theirs.max() - EQUAL and share <= SPARSER
    return Verdict(holds, f"The best of the six and the best heuristic, at depth {listed(depths)}.", figures)


@observation_of_means(
    2,
    "NM-Boost is the best totally corrective method with trees of depth 1 to 5.",
    "Its mean accuracy is the highest of the six at each depth from 1 to 5.",
    OURS,
    SHALLOW,
)
def nm_is_best(accuracy: pd.DataFrame, trees: pd.DataFrame, depths: list[int]) -> Verdict:
    leads = {f"depth {d}: nm - best other": _lead(accuracy.loc[d, OURS], "nm") for d in depths}
    return Verdict(min(leads.values()) >= 0, f"Its lead over the next one, at depth {listed(depths)}.", leads)


@observation_of_means(
    3,
    "With deeper trees, heuristics are more accurate and less sparse.",
    "At depth 10 the best heuristic's mean accuracy is higher, and the mean number of trees too.",
    ALL,
    [DEEP],
)
def heuristics_win_deep(accuracy: pd.DataFrame, trees: pd.DataFrame, depths: list[int]) -> Verdict:
    lead = accuracy.loc[DEEP, HEURISTIC].max() - accuracy.loc[DEEP, OURS].max()
    share = trees.loc[DEEP, OURS].mean() / trees.loc[DEEP, HEURISTIC].mean()
    figures = {"best heuristic - best of ours": lead, "our trees / theirs": share}
    return Verdict(bool(lead > 0 and share < 1), "At depth 10.", figures)


@observation(
    4,
    "With stumps, a totally corrective method matches or beats the heuristics on nearly every data set.",
    "The best totally corrective accuracy is at most 0.0005 below the best heuristic's on at least 90 % of the "
    "data sets.",
)
def stumps_by_dataset(results: Results) -> Verdict | None:
    table = accuracy_table(results, "cart", 1).accuracy.dropna()
    if not set(ALL) <= set(table) or table.empty:
        return None
    wins = int((table[OURS].max(axis=1) >= table[HEURISTIC].max(axis=1) - 0.0005).sum())
    share = wins / len(table)
    return Verdict(share >= 0.9, f"On {wins} of {len(table)} data sets (the paper: 19 of 20).", {"share": share})


@observation_of_means(
    5,
    "With stumps, NM-Boost and QRLP-Boost are the best totally corrective methods, NM-Boost the sparser.",
    "The two have the highest mean accuracies of the six at depth 1, and nm uses fewer trees than qrlp.",
    OURS,
    [1],
)
def nm_and_qrlp_lead_with_stumps(accuracy: pd.DataFrame, trees: pd.DataFrame, depths: list[int]) -> Verdict:
    best = set(accuracy.loc[1, OURS].nlargest(2).index)
    figures = {f"accuracy {name}": accuracy.loc[1, name] for name in OURS}
    figures |= {f"trees {name}": trees.loc[1, name] for name in ("nm", "qrlp")}
    holds = best == {"nm", "qrlp"} and trees.loc[1, "nm"] < trees.loc[1, "qrlp"]
    return Verdict(holds, f"The two best are {titles(best)}.", figures)


@observation_of_means(
    6,
    "As trees get deeper, totally corrective methods fall behind the heuristics, but stay sparser.",
    "The lead of the best totally corrective method over the best heuristic is smaller at the greatest depth "
    "than at the least, and the mean number of trees is below the heuristics' at each.",
    ALL,
    DEPTHS,
)
def decline_with_depth(accuracy: pd.DataFrame, trees: pd.DataFrame, depths: list[int]) -> Verdict | None:
    if len(depths) < 2:
        return None
    leads = {d: accuracy.loc[d, OURS].max() - accuracy.loc[d, HEURISTIC].max() for d in depths}
    sparser = all(trees.loc[d, OURS].mean() < trees.loc[d, HEURISTIC].mean() for d in depths)
    figures = {f"depth {d}: best of ours - best heuristic": lead for d, lead in leads.items()}
    return Verdict(bool(leads[depths[-1]] < leads[depths[0]] and sparser), f"From depth {depths[0]} on.", figures)


@observation_of_means(
    7,
    "NM-Boost is the most accurate totally corrective method at depths 3 and 5; at 10 CG and ERLP match it.",
    "Its mean accuracy is the highest of the six at depths 3 and 5; at depth 10, cg and erlp are at most 0.005 "
    "below it, with more trees.",
    OURS,
    [3, 5, DEEP],
)
def nm_at_moderate_depths(accuracy: pd.DataFrame, trees: pd.DataFrame, depths: list[int]) -> Verdict | None:
    figures = {f"depth {d}: nm - best other": _lead(accuracy.loc[d, OURS], "nm") for d in depths if d < DEEP}
    if not figures:
        return None
    holds = min(figures.values()) >= 0
    if DEEP in depths:
        for name in ("cg", "erlp"):
            lead = accuracy.loc[DEEP, name] - accuracy.loc[DEEP, "nm"]
            figures[f"depth 10: {name} - nm"] = lead
            holds &= lead >= -EQUAL and trees.loc[DEEP, name] > trees.loc[DEEP, "nm"]
    return Verdict(holds, f"At depth {listed(depths)}.", figures)


def _early_accuracy(results: Results, experiment: str = "cart", like: str | None = None) -> pd.DataFrame:
    """The mean test accuracy over the early iterations of the chosen fits, by depth (rows) and method (columns).

    Empty if only the last stages are optima, because the paper's iterations are optima.
    """
    if not results.stages_are_optimal:
        return pd.DataFrame()
    early = results.anytime(_chosen(results, experiment, like))
    return _mean_over_datasets(early[early["iteration"] <= EARLY], "accuracy")


@observation(
    8,
    "With stumps, totally corrective methods are ahead in the early iterations, of AdaBoost above all.",
    "The mean accuracy over the first ten iterations, averaged over the six, is above each heuristic's, and "
    "the lead over AdaBoost is the largest, or within 0.005 of it.",
)
def early_with_stumps(results: Results) -> Verdict | None:
    early = _early_accuracy(results)
    if not _complete_depths(early, ALL, [1]):
        return None
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
def early_with_deeper_trees(results: Results) -> Verdict | None:
    early, final = _early_accuracy(results), means(results, "test_accuracy")
    depths = _complete_depths(early, ALL, [3, 5, DEEP])
    if not depths:
        return None
    figures: dict[str, float] = {}
    for depth in depths:
        ahead = early.loc[depth, OURS].mean() - early.loc[depth, HEURISTIC].mean()
        behind = final.loc[depth, HEURISTIC].max() - final.loc[depth, OURS].max()
        figures |= {f"depth {depth}: ahead early": ahead, f"depth {depth}: behind at the end": behind}
    return Verdict(all(value > 0 for value in figures.values()), f"At depth {listed(depths)}.", figures)


@observation_of_means(
    10,
    "The sparsest ensembles of competitive accuracy come from NM-Boost, LP-Boost and ERLP-Boost.",
    "Of the methods within 0.02 of the best mean accuracy, these three use the fewest trees.",
    OURS,
    DEPTHS,
)
def sparsest(accuracy: pd.DataFrame, trees: pd.DataFrame, depths: list[int]) -> Verdict:
    used, gained = trees.loc[depths, OURS].mean(), accuracy.loc[depths, OURS].mean()
    competitive = gained[gained >= gained.max() - 4 * EQUAL].index
    three = set(used[competitive].nsmallest(3).index)
    figures = {f"trees {name}": used[name] for name in OURS} | {f"accuracy {name}": gained[name] for name in OURS}
    return Verdict(three == {"nm", "lp", "erlp"}, f"The sparsest competitive ones are {titles(three)}.", figures)


def _correlations_with_accuracy(results: Results) -> pd.Series:
    """Rank correlations over methods of the accuracy with properties of the test margins.

    The properties are the minimum, the variance and the 90 % quantile; a correlation is the mean over data sets and
    depths, or NaN if no data set has enough methods.
    """
    chosen = results.chosen()
    chosen = chosen[(chosen["experiment"] == "cart") & chosen["method"].isin([*OURS, "adaboost"])]
    merged = results.margins.merge(chosen[[*CELL, "test_accuracy"]], on=CELL)
    margins = merged.groupby([*CELL, "test_accuracy"])["margin"]
    fits = margins.agg(least="min", spread="var", tail=lambda margin: margin.quantile(0.9)).reset_index()
    properties = ["least", "spread", "tail"]
    table = fits.groupby(["depth", "dataset", "method"])[["test_accuracy", *properties]].mean().reset_index()
    found: dict[str, list[float]] = {name: [] for name in properties}
    for _, part in table.groupby(["depth", "dataset"]):
        for name in properties:
            if len(part) > 3 and part[name].nunique() > 1 and part["test_accuracy"].nunique() > 1:
                found[name].append(part[name].corr(part["test_accuracy"], method="spearman"))
    return pd.Series({name: float(np.nanmean(values)) if values else np.nan for name, values in found.items()})


@observation(
    11,
    "Margins do not fully explain accuracy: a heavy right tail does not mean the highest accuracy.",
    "The rank correlations of the accuracy with the smallest and the 90 % margin are below 0.5 in absolute value.",
)
def margins_do_not_explain(results: Results) -> Verdict | None:
    found = _correlations_with_accuracy(results)[["least", "tail"]]
    if found.isna().any():
        return None
    figures = {f"rank correlation with {name}": value for name, value in found.items()}
    return Verdict(found.abs().max() < 0.5, "Over methods, within data sets and depths.", figures)


@observation(
    12,
    "The variance of the margins is not necessarily correlated with accuracy.",
    "The rank correlation of the accuracy with the variance of the margins is below 0.5 in absolute value.",
)
def variance_does_not_explain(results: Results) -> Verdict | None:
    figures = {"rank correlation": _correlations_with_accuracy(results)["spread"]}
    if np.isnan(figures["rank correlation"]):
        return None
    holds = abs(figures["rank correlation"]) < 0.5
    return Verdict(holds, "Over methods, within data sets and depths.", figures)


def _our_fits(results: Results) -> pd.DataFrame | None:
    """Our fits with CART trees; None if a method is missing."""
    fits = results.fits[(results.fits["experiment"] == "cart") & results.fits["method"].isin(OURS)]
    return fits if fits["method"].nunique() == len(OURS) else None


def _are_on_front(points: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether no other point has at least the accuracy with at most the trees, and is better in one of both."""
    gained = np.subtract.outer(*2 * [points["test_accuracy"].to_numpy()])
    saved = -np.subtract.outer(*2 * [points["trees"].to_numpy()])
    beats = (gained >= 0) & (saved >= 0) & ((gained > 0) | (saved > 0))
    return ~beats.any(axis=0)


@observation(
    13,
    "Accuracy and sparsity are traded off, and most methods have ensembles on the Pareto front of both.",
    "On average more than half of the six have an ensemble on the front of a data set and depth.",
)
def pareto(results: Results) -> Verdict | None:
    fits = _our_fits(results)
    if fits is None:
        return None
    points = fits.groupby(["dataset", "depth", "method", "value"])[["test_accuracy", "trees"]].mean().reset_index()
    on_front = [part.loc[_are_on_front(part), "method"].nunique() for _, part in points.groupby(["dataset", "depth"])]
    mean = float(np.mean(on_front))
    return Verdict(mean > len(OURS) / 2, "Methods on the front, mean over data sets and depths.", {"methods": mean})


@observation(
    14,
    "Tuning matters most for MD-Boost and LP-Boost: unsuitable values give poor ensembles.",
    "The difference between the best and the worst value's mean accuracy is the largest for these two.",
)
def tuning(results: Results) -> Verdict | None:
    fits = _our_fits(results)
    if fits is None or fits["value"].nunique() < 3:
        return None
    by_value = fits.groupby(["method", "dataset", "depth", "value"])["test_accuracy"].mean()
    spans = by_value.groupby(["method", "dataset", "depth"]).agg(lambda values: values.max() - values.min())
    worst = spans.groupby("method").mean()
    figures = {f"best - worst value, {name}": float(worst[name]) for name in OURS}
    two = set(worst.nlargest(2).index)
    return Verdict(two == {"md", "lp"}, f"The two most sensitive ones are {titles(two)}.", figures)


@observation(
    15,
    "Reweighting an ensemble makes it sparser and keeps, or improves, its accuracy.",
    "The best reweighted mean accuracy is at most 0.005 below AdaBoost's at each depth, with less than 0.9 of "
    "the trees.",
    ("cart", "reweight"),
)
def reweighting(results: Results) -> Verdict | None:
    accuracy, trees = means(results, "test_accuracy", "reweight"), means(results, "trees", "reweight")
    before = means(results, "test_accuracy", like="reweight")
    depths = _complete_depths(accuracy, OURS, DEPTHS)
    depths = [d for d in depths if d in before.index and "adaboost" in before]
    if not depths:
        return None
    leads = {d: accuracy.loc[d, OURS].max() - before.loc[d, "adaboost"] for d in depths}
    kept = means(results, "trees", like="reweight").loc[depths, "adaboost"].mean()
    share = trees.loc[depths, OURS].mean().mean() / kept
    figures = {f"depth {d}: best reweighted - AdaBoost": lead for d, lead in leads.items()}
    holds = bool(min(leads.values()) >= -EQUAL and share < 0.9)
    return Verdict(holds, f"At depth {listed(depths)}.", figures | {"trees left, share": share})


def _no_difference(results: Results, experiment: str) -> Verdict | None:
    """Judge that a variant differs from CART trees neither significantly nor by ``EQUAL``.

    Pairs are means over each data set, so that they are independent.
    """
    cell = ["dataset", "depth", "method", "seed"]
    variant, cart = (_chosen(results, name).set_index(cell)["test_accuracy"] for name in (experiment, "cart"))
    paired = (variant - cart).dropna()
    paired = paired[paired.index.isin(OURS, level="method")].groupby(cell[:-1]).mean()
    differences = paired.groupby("dataset").mean()
    if differences.empty:
        return None
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
def confidence(results: Results) -> Verdict | None:
    return _no_difference(results, "confidence")


@observation(
    17,
    "Ensembles of optimal trees behave over the iterations as ensembles of CART trees do.",
    "Over the first ten iterations the mean accuracies differ by less than 0.02 at each depth.",
    ("cart", "optimal"),
)
def optimal_over_time(results: Results) -> Verdict | None:
    optimal, cart = _early_accuracy(results, "optimal"), _early_accuracy(results, like="optimal")
    depths = _complete_depths(cart, OURS, _complete_depths(optimal, OURS, DEPTHS))
    if not depths:
        return None
    figures = {f"depth {d}: optimal - CART, early": (optimal - cart).loc[d, OURS].mean() for d in depths}
    return Verdict(max(map(abs, figures.values())) < 4 * EQUAL, f"At depth {listed(depths)}.", figures)


@observation(
    18,
    "In the end, optimal trees give a similar accuracy to CART trees.",
    "A signed-rank test over at least five data sets gives p > 0.05, or the mean difference is below 0.005.",
    ("cart", "optimal"),
)
def optimal_in_the_end(results: Results) -> Verdict | None:
    return _no_difference(results, "optimal")


@observation(
    19,
    "At equal numbers of trees, and of leaves, totally corrective methods are more accurate than the heuristics.",
    "The best of the six has a higher mean accuracy than the best heuristic within 5, 10, 20 and 40 trees at each "
    "depth from 1 to 5, and within 20, 40, 80 and 160 leaves of any depth; C and learning rates are chosen from as "
    "many values, on validation rows.",
    (EQUAL_SIZE,),
)
def ahead_at_equal_size(results: Results) -> Verdict | None:
    by_trees, by_leaves = (size_means(results.sizes, unit) for unit in SIZES)
    rows = {f"depth {depth}, {n} trees": (by_trees, (depth, n)) for depth in SHALLOW for n in SIZES["trees"]}
    rows |= {f"{n} leaves": (by_leaves, (ANY_DEPTH, n)) for n in SIZES["leaves"]}
    accuracy = pd.DataFrame({name: table.loc[key] for name, (table, key) in rows.items() if key in table.index}).T
    if accuracy.empty or not set(ALL) <= set(accuracy):
        return None
    heuristic = accuracy[HEURISTIC].max(axis=1)
    leads = accuracy[OURS].max(axis=1) - heuristic
    figures = {f"{name}, the six": lead for name, lead in leads.items()}
    sentence = f"The best of the six is ahead in {int((leads > 0).sum())} of {len(leads)} comparisons."
    if "logistic" in accuracy:
        over_leaves = accuracy["logistic"] - heuristic
        figures |= {f"{name}, over leaves": lead for name, lead in over_leaves.items()}
        n_best = int((accuracy["logistic"] >= accuracy.max(axis=1)).sum())
        sentence += f" Logistic over leaves is ahead of the heuristics in {int((over_leaves > 0).sum())}, and best of "
        sentence += f"all in {n_best}."
    return Verdict((leads > 0).all(), f"{sentence} The figures are leads over the best heuristic.", figures)
