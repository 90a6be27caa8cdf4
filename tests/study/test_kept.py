"""The results that are kept in the repository: small, and the source of the published tables."""

from collections import defaultdict
from pathlib import Path
from statistics import mean

import pandas as pd
import pytest

from dualboost_study import read_results
from dualboost_study.folder import SUMMARY
from dualboost_study.tables import accuracy_table

KEPT = Path(__file__).parents[2] / "docs" / "results"


def by_hand(experiment, depth):
    """The mean test accuracy and number of trees of each data set and method, from the file alone."""
    splits = defaultdict(list)
    for fit in pd.read_parquet(KEPT / "fits.parquet").to_dict("records"):
        if (fit["experiment"], fit["depth"]) == (experiment, depth):
            splits[fit["dataset"], fit["method"], fit["seed"]].append(fit)
    chosen = defaultdict(list)
    for (dataset, method, _), fits in splits.items():
        best = min(fits, key=lambda fit: (-fit["validation_accuracy"], fit["trees"], fit["value"]))
        chosen[dataset, method].append((best["test_accuracy"], best["trees"]))
    return {cell: tuple(map(mean, zip(*found, strict=True))) for cell, found in chosen.items()}


@pytest.mark.parametrize("depth", [1, 3, 5, 10])
def test_a_table_is_rebuilt_from_the_file_of_fits(depth):
    table, expected = accuracy_table(read_results(KEPT), "cart", depth), by_hand("cart", depth)
    for (dataset, method), (accuracy, trees) in expected.items():
        if dataset in table.accuracy.index:
            assert table.accuracy.loc[dataset, method] == pytest.approx(accuracy, abs=1e-9)
            assert table.trees.loc[dataset, method] == pytest.approx(trees)
    assert {method for _, method in expected} == set(table.accuracy)
    assert len(table.accuracy) >= 16


def test_kept_files_are_small_and_say_what_was_run():
    assert sum(path.stat().st_size for path in KEPT.iterdir()) < 2_000_000
    assert all(path.suffix == ".parquet" or path.name == SUMMARY for path in KEPT.iterdir())
    assert "error" not in read_results(KEPT).fits
