"""A rare class: the default's AUC against LightGBM's 25 trees of depth 3, and whether the class is ever predicted.

    python benchmarks/rare_classes.py FOLDER/mammography.csv.gz FOLDER/adult.csv.gz ...

Files have a column ``target`` of two classes. Ten splits, 30 percent of the rows to test on. Everyone has its defaults
but for the sizes named; nothing is tuned, and no class is weighted.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from bench_data import with_categories
from lightgbm import LGBMClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from dualboost import DualBoostClassifier
from dualboost.errors import DualBoostWarning

SEEDS = range(10)
TEST_SHARE = 0.3
OURS, OURS_SMALL, OTHERS = "ours", "ours, 25 trees of depth 3", "LightGBM, 25 trees of depth 3"


def methods(seed: int) -> dict[str, object]:
    small = {"max_depth": 3, "random_state": seed, "n_jobs": 1}
    return {
        OURS: DualBoostClassifier(random_state=seed),
        OURS_SMALL: DualBoostClassifier(max_trees=25, **small),
        OTHERS: LGBMClassifier(n_estimators=25, verbose=-1, **small),
    }


def read(path: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """Features, and whether a row is of the rarer class."""
    frame = pd.read_csv(path)
    y, _ = pd.factorize(frame.pop("target"), sort=True)
    return with_categories(frame), (y == 1) if np.mean(y == 1) <= 0.5 else (y == 0)


def compare(paths: list[Path]) -> pd.DataFrame:
    """One row a fit."""
    rows = []
    for path, seed in tqdm([(path, seed) for path in paths for seed in SEEDS], disable=None):
        X, y = read(path)
        split = train_test_split(X, y, test_size=TEST_SHARE, random_state=seed, stratify=y)
        for name, model in methods(seed).items():
            rows.append((path.name.split(".")[0], y.mean(), seed, name, *figures(model, *split)))
    return pd.DataFrame(rows, columns=["data", "share", "seed", "method", "AUC", "predicted", "warnings"])


def figures(model: object, X: pd.DataFrame, X_test: pd.DataFrame, y: np.ndarray, y_test: np.ndarray) -> tuple:
    """The AUC, the share of test rows that are predicted to be of the rare class, and how many warnings there were."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    told = sum(issubclass(one.category, DualBoostWarning) for one in caught)
    return roc_auc_score(y_test, model.predict_proba(X_test)[:, 1]), model.predict(X_test).mean(), told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    table = compare(parser.parse_args().files)
    by = table.groupby(["data", "method"], sort=False)
    shown = by.agg(
        share=("share", "first"), AUC=("AUC", "mean"), predicted=("predicted", "mean"), least=("predicted", "min")
    )
    print(shown.to_string(float_format="{:.4f}".format))
    auc = table.pivot(index=["data", "seed"], columns="method", values="AUC")
    for ours in (OURS, OURS_SMALL):
        ahead = auc[ours] - auc[OTHERS]
        error = ahead.groupby("data").std() / np.sqrt(len(SEEDS))
        print(f"\n{ours}, AUC minus LightGBM's: mean, standard error over the splits, splits ahead of {len(SEEDS)}")
        print(
            pd.DataFrame(
                {"mean": ahead.groupby("data").mean(), "error": error, "ahead": (ahead > 0).groupby("data").sum()}
            )
        )


if __name__ == "__main__":
    main()
