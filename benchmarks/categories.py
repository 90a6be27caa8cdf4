"""Columns of many categories: what noise costs, and what columns that matter bring, for several ways to hold back.

    python benchmarks/categories.py --data FOLDER --data FOLDER [--splits 2] [--rows 1500]

The folders hold car, nursery, diamonds and bike_sharing_hour as ``<name>.csv.gz``, which the study does not have; each
is made a problem of two classes. A column is added that is noise, with so many training rows a value, or that is made
of columns that matter, which it replaces. The figures are log losses on held-out rows, as means over tables and splits.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from dualboost import DualBoostClassifier

POSITIVE = {"car": {"acc", "good", "vgood"}, "nursery": {"priority"}}
"""The labels of the positive class; of numbers, those above the median."""
TOGETHER = {
    "car": [["buying", "maint"], ["buying", "maint", "safety"]],
    "nursery": [["parents", "has_nurs"], ["parents", "has_nurs", "form", "children", "housing"]],
    "diamonds": [["color", "clarity"], ["cut", "color", "clarity"]],
    "bike_sharing_hour": [["hr"], ["hr", "weekday"]],
}
"""Columns that one column of categories takes the place of."""
NOISE = (1, 3, 6, 12, 25)
"""Training rows a value of columns that are noise."""
MOST_ROWS = 6000
WAYS: dict[str, dict[str, Any]] = {
    "nothing held back": {
        "dualboost.data.features.SMALLEST_CATEGORY": 1,
        "dualboost.learners.lightgbm.FEWEST_ROWS": 1.0,
        "dualboost.learners.lightgbm.EXTRA_RIDGE": 0.0,
        "dualboost.learners.lightgbm.MOST_TOGETHER": 32,
    },
    "32 together": {"dualboost.learners.lightgbm.MOST_TOGETHER": 32},
    "4 together": {"dualboost.learners.lightgbm.MOST_TOGETHER": 4},
    "20 rows": {"dualboost.learners.lightgbm.FEWEST_ROWS": 20.0},
    "5 rows": {"dualboost.learners.lightgbm.FEWEST_ROWS": 5.0},
    "default": {},
}
MODELS = {
    "logistic, as it comes": lambda: DualBoostClassifier(),
    "logistic, depth 2, 25 trees": lambda: DualBoostClassifier(max_depth=2, max_trees=25),
    "nm, depth 2, 40 trees": lambda: DualBoostClassifier("nm", max_depth=2, max_trees=40),
}


def read(folders: list[Path], name: str) -> tuple[pd.DataFrame, np.ndarray]:
    path = next(folder / f"{name}.csv.gz" for folder in folders if (folder / f"{name}.csv.gz").exists())
    frame = pd.read_csv(path)
    target = frame.pop("target")
    y = target.isin(POSITIVE[name]) if name in POSITIVE else target > target.median()
    taken = np.random.default_rng(7).permutation(len(frame))[:MOST_ROWS]
    if name == "diamonds":  # the other columns tell the carat, and so the price
        frame = frame[["cut", "color", "clarity", "depth", "table", "carat"]].assign(carat=frame["carat"].round(1))
    return frame.iloc[taken].reset_index(drop=True), y.to_numpy(dtype=int)[taken]


def tables(name: str, frame: pd.DataFrame, n_training: int) -> Iterator[tuple[str, pd.DataFrame]]:
    """The table without a column of many categories, and with each of them."""
    rng, n = np.random.default_rng(3), len(frame)
    yield "no column", frame
    for rows in NOISE:
        values = np.arange(n) if rows == 1 else rng.integers(0, n_training // rows, n)
        yield f"noise, {rows:2} rows", frame.assign(many=values.astype(str))
    for k, replaced in enumerate(TOGETHER[name]):
        values = frame[replaced].astype(str).agg("/".join, axis=1)
        yield ("few", "many")[k] + " that matter", frame.drop(columns=replaced).assign(many=values)


def measure(model: Any, way: dict[str, Any], X: pd.DataFrame, y: np.ndarray, seed: int, n_training: int) -> float:
    train, test = train_test_split(np.arange(len(y)), train_size=n_training, random_state=seed, stratify=y)
    patches = [patch(place, value) for place, value in way.items()]
    for one in patches:
        one.start()
    try:
        fitted = model.fit(X.iloc[train], y[train])
        return float(log_loss(y[test], fitted.predict_proba(X.iloc[test])[:, 1]))
    finally:
        for one in patches:
            one.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--rows", type=int, default=1500)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    found = []
    for name in tqdm(TOGETHER, disable=None):
        frame, y = read(options.data, name)
        n_training = min(options.rows, len(y) // 2)
        for column, X in tables(name, frame, n_training):
            typed = X.astype({one: "category" for one in X if X[one].dtype.kind not in "biuf"})
            for seed in range(options.splits):
                for model, make in MODELS.items():
                    for way, places in WAYS.items():
                        loss = measure(make(), places, typed, y, seed, n_training)
                        found.append({"model": model, "column": column, "way": way, "loss": loss})
                light = measure(LGBMClassifier(n_jobs=1, verbose=-1), {}, typed, y, seed, n_training)
                found.append({"model": "LightGBM, as it comes", "column": column, "way": "its own", "loss": light})
    table = pd.DataFrame(found).pivot_table(index=["model", "column"], columns="way", values="loss", sort=False)
    print(table.round(4).to_string(na_rep=""))


if __name__ == "__main__":
    main()
