"""Rare classes: `lexi` against `lp`, `nm` and XGBoost, with and without weights that balance the classes.

    python benchmarks/imbalance.py [--data FOLDER]

The smaller class of the training rows is thinned to one row for 20 and for 100 of the other; test rows stay as is.
FOLDER (or the environment variable DUALBOOST_DATA) holds ``<name>.csv.gz`` files with a ``target`` column of two
classes, beside the artificial data sets. Stumps, at most 100 of them; C and learning rate at their defaults. That of
`lexi` was chosen on other data sets and on other draws of the artificial ones.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from bench_data import one_hot, with_categories
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_sample_weight
from tqdm import tqdm
from xgboost import XGBClassifier

from dualboost import DualBoostClassifier
from dualboost.datasets import make_ringnorm, make_twonorm, make_waveform
from dualboost.errors import DegenerateEnsembleWarning

FILES = ("banana", "compas", "image", "splice", "titanic")
ARTIFICIAL_ROWS = 8000
RATIOS = (20, 100)
SEEDS = (0, 1, 2, 3, 4)
N_TREES = 100
LEAST_RARE = 5
BALANCED = ", balanced"
METHODS = ("lexi", "lp", "nm", "lp" + BALANCED, "nm" + BALANCED, "xgboost" + BALANCED)


def data_sets(folder: Path | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Features and labels in {0, 1}, the smaller class being 1."""
    for make in (make_twonorm, make_ringnorm, make_waveform):
        X, y = make(ARTIFICIAL_ROWS, random_state=0)
        yield make.__name__.removeprefix("make_"), X, rare_is_one(y > 0)
    for name in FILES if folder else ():
        frame = pd.read_csv(folder / f"{name}.csv.gz")
        y, _ = pd.factorize(frame.pop("target"), sort=True)
        frame = with_categories(frame)
        is_numeric = all(pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes)
        yield name, frame.to_numpy(float) if is_numeric else one_hot(frame), rare_is_one(y > 0)


def rare_is_one(y: np.ndarray) -> np.ndarray:
    return (y if y.mean() <= 0.5 else ~y).astype(int)


def thinned(y: np.ndarray, ratio: int, seed: int) -> np.ndarray:
    """The training rows to keep: all of class 0, and one of class 1 for ``ratio`` of them."""
    common, rare = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    n_rare = max(round(len(common) / ratio), LEAST_RARE)
    return np.concatenate([common, np.random.default_rng(seed).permutation(rare)[:n_rare]])


def recalls(method: str, parts: tuple[np.ndarray, ...], seed: int) -> np.ndarray:
    """The recall of both classes on the test rows."""
    X, X_test, y, y_test = parts
    weights = compute_sample_weight("balanced", y) if method.endswith(BALANCED) else None
    if method.startswith("xgboost"):
        model = XGBClassifier(
            n_estimators=N_TREES, max_depth=1, scale_pos_weight=np.sum(y == 0) / np.sum(y == 1), n_jobs=1
        ).fit(X, y)
    else:
        model = DualBoostClassifier(method.split(",")[0], max_depth=1, max_trees=N_TREES, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateEnsembleWarning)
            model.fit(X, y, sample_weight=weights)
    return recall_score(y_test, model.predict(X_test), average=None, labels=[0, 1])


def compare(folder: Path | None) -> pd.DataFrame:
    """One row a fit."""
    rows = []
    cells = [(data, ratio, seed) for data in data_sets(folder) for ratio in RATIOS for seed in SEEDS]
    for (name, X, y), ratio, seed in tqdm(cells, disable=None):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=y)
        kept = thinned(y_train, ratio, seed)
        for method in METHODS:
            found = recalls(method, (X_train[kept], X_test, y_train[kept], y_test), seed)
            rows.append((name, ratio, seed, method, 100 * found.mean(), 100 * np.sqrt(found.prod())))
    return pd.DataFrame(rows, columns=["dataset", "ratio", "seed", "method", "balanced accuracy", "G-mean"])


def won(means: pd.DataFrame, method: str) -> str:
    """In how many cases (data set and ratio) a method's mean over the seeds is larger than each of the others'."""
    others = [other for other in METHODS if other != method]
    return ", ".join(f"{(means[method] > means[other]).sum()} against {other!r}" for other in others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("DUALBOOST_DATA"))
    arguments = parser.parse_args()
    table = compare(Path(arguments.data) if arguments.data else None)
    for measure in ("balanced accuracy", "G-mean"):
        means = table.groupby(["ratio", "dataset", "method"], sort=False)[measure].mean().unstack()[list(METHODS)]
        print(f"\n{measure} on the test rows, mean of {len(SEEDS)} splits (percent)")
        print(means.to_string(float_format="{:.1f}".format))
        print(means.groupby("ratio").mean().to_string(float_format="{:.1f}".format))
        print(f"'lexi' is ahead in so many of {len(means)} cases: {won(means, 'lexi')}")


if __name__ == "__main__":
    main()
