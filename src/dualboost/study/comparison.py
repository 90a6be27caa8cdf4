"""Compares our results with the paper's, by the differences to XGBoost, because the data are not quite the same."""

from __future__ import annotations

from importlib import resources

import pandas as pd

from .methods import METHODS
from .results import Results
from .tables import AccuracyTable

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
