"""Compares our results with the paper's, by the differences to XGBoost, because the data are not quite the same."""

from __future__ import annotations

from importlib import resources

import pandas as pd

from .results import Results

REFERENCE = "xgboost"


def paper_results() -> pd.DataFrame:
    """The paper's tables: experiment, depth, dataset, method, accuracy_mean, accuracy_std, columns (trees used)."""
    file = resources.files(__package__) / "paper" / "accuracy_and_trees.csv"
    with file.open() as text:
        return pd.read_csv(text)


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
