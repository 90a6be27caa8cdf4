"""The curves of the report: over iterations, over margins, over weights and over values of the hyperparameter."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .fitting import QUANTILES
from .methods import METHODS
from .plain import curves
from .results import CELL, Results

MOST_WEIGHTS = 100
FEW_QUANTILES = QUANTILES[::5]
"""The quantiles for plots with a curve for each hyperparameter value, which need fewer points."""
OF = ["experiment", "dataset", "depth", "method"]
"""What a curve is of."""


def anytime(results: Results, chosen: pd.DataFrame) -> list[dict[str, Any]]:
    """Mean and standard deviation over the seeds of the fits chosen, after each iteration."""
    grouped = results.anytime(chosen).groupby([*OF, "iteration"])["accuracy"]
    table = pd.DataFrame({"mean": grouped.mean(), "std": grouped.std().fillna(0.0)}).reset_index()
    return curves(table, OF, ["iteration", "mean", "std"])


def margins(results: Results, chosen: pd.DataFrame) -> list[dict[str, Any]]:
    merged = results.margins.merge(chosen[CELL], on=CELL)
    table = merged.groupby([*OF, "quantile"])["margin"].mean().reset_index()
    return curves(table, OF, ["margin", "quantile"])


def value_margins(results: Results) -> list[dict[str, Any]]:
    """The margins of each totally corrective method at each value of its hyperparameter, with CART trees."""
    table, ours = results.margins, [name for name, method in METHODS.items() if method.is_totally_corrective]
    is_shown = (table["experiment"] == "cart") & table["method"].isin(ours)
    few = table[is_shown & table["quantile"].isin(FEW_QUANTILES)]
    merged = few.merge(results.fits[[*CELL, "hyperparameter"]], on=CELL)
    key = ["dataset", "depth", "method", "value", "quantile"]
    means = merged.groupby(key)[["margin", "hyperparameter"]].mean().reset_index()
    found = curves(means, key[:-1], ["margin", "quantile", "hyperparameter"])
    return [curve | {"hyperparameter": curve["hyperparameter"][0]} for curve in found]


def weights(results: Results, chosen: pd.DataFrame) -> list[dict[str, Any]]:
    """The sorted weights relative to the largest weight, as means over the seeds."""
    merged = results.weights.merge(chosen[CELL], on=CELL)
    merged = merged[merged["rank"] <= MOST_WEIGHTS]
    largest = merged.groupby(CELL)["weight"].transform("max")
    relative = merged.assign(weight=merged["weight"] / largest)
    table = relative.groupby([*OF, "rank"])["weight"].mean().reset_index()
    return curves(table, OF, ["rank", "weight"])
