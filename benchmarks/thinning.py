"""How small models become by thinning, and how fast: ``python benchmarks/thinning.py --data FOLDER``.

Three tables. *xgboost*: 100 trees of depth 3 with learning rate 0.3 on every data set of at least 2,000 rows (at most
20,000 of them), 60/20/20 per cent to train, validate and test; ``--tolerance`` is the validation accuracy that may be
lost. *adaboost*: 100 stumps on every data set, features cut into four bins as in the paper, reweighted by one shot of a
formulation. *speed*: LightGBM's 500 trees on 50,000 rows, thinned with the default arguments. One thread each.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from bench_data import numeric_set, one_hot, with_categories
from lightgbm import LGBMClassifier
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from tqdm import tqdm
from xgboost import XGBClassifier

from dualboost import thin
from dualboost.errors import DualBoostWarning

LEAST_ROWS, MOST_ROWS = 2_000, 20_000
WAYS = ("validation rows apart", "training rows only")


class Outcome(NamedTuple):
    dataset: str
    way: str
    trees: float
    before: float
    after: float
    log_loss_before: float
    log_loss_after: float
    seconds: float

    @property
    def change(self) -> float:
        return self.after - self.before


def files(folder: Path, least_rows: int) -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """Name, features and labels in {0, 1} of every data set with so many rows; the largest ones are sampled."""
    for path in sorted(folder.glob("*.csv.gz")):
        frame = pd.read_csv(path)
        if len(frame) < least_rows:
            continue
        if len(frame) > MOST_ROWS:
            frame = frame.sample(MOST_ROWS, random_state=0)
        y, _ = pd.factorize(frame.pop("target"), sort=True)
        yield path.name.removesuffix(".csv.gz"), with_categories(frame), y


def split(X, y, seed):
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=y)
    X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
    return (X_train, y_train), (X_val, y_val), (X_test, y_test)


def measured(name, way, model, call, test) -> Outcome:
    X, y = test
    started = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - started
    losses = (log_loss(y, m.predict_proba(X)) for m in (model, result.model))
    scores = (float(np.mean(m.predict(X) == y)) for m in (model, result.model))
    return Outcome(name, way, len(result.kept), *scores, *losses, seconds)


def xgboost_table(folder: Path, seeds: int, tolerance: float) -> list[Outcome]:
    outcomes = []
    for name, X, y in tqdm(list(files(folder, LEAST_ROWS)), unit="set", disable=None):
        for seed in range(seeds):
            train, validation, test = split(X, y, seed)
            model = XGBClassifier(n_estimators=100, max_depth=3, learning_rate=0.3, n_jobs=1, enable_categorical=True)
            model.fit(*train)
            for way in WAYS:
                extra = {"validation_data": validation} if way == WAYS[0] else {"random_state": seed}
                call = lambda extra=extra: thin(model, *train, tolerance=tolerance, **extra)  # noqa: B023, E731
                outcomes.append(measured(name, way, model, call, test))
    return outcomes


def adaboost_table(folder: Path, seeds: int, formulations: list[str]) -> list[Outcome]:
    outcomes = []
    for name, X, y in tqdm(list(files(folder, 0)), unit="set", disable=None):
        X = one_hot(X)
        for seed in range(seeds):
            train, validation, test = split(X, y, seed)
            model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=100, random_state=0).fit(
                *train
            )
            for formulation in formulations:
                extra = {"formulation": formulation, "method": "reweight", "validation_data": validation}
                call = lambda extra=extra: thin(model, *train, **extra)  # noqa: B023, E731
                outcomes.append(measured(name, formulation, model, call, test))
    return outcomes


def print_outcomes(outcomes: list[Outcome]) -> None:
    frame = pd.DataFrame(outcomes)
    frame["change, points"] = 100 * (frame["after"] - frame["before"])
    frame["log loss, change"] = frame["log_loss_after"] - frame["log_loss_before"]
    shown = ["trees", "before", "after", "change, points", "log loss, change", "seconds"]
    for way, part in frame.groupby("way", sort=False):
        means = part.groupby("dataset", sort=False)[shown].mean()
        means.loc["mean"] = means.mean()
        means.loc["median"] = means.iloc[:-1].median()
        print(f"\n{way}\n{means.round(4).to_string()}")


def speed() -> None:
    data = numeric_set(50_000)
    started = time.perf_counter()
    model = LGBMClassifier(n_estimators=500, n_jobs=1, verbose=-1, random_state=0).fit(data.X, data.y)
    trained = time.perf_counter() - started
    for tolerance in (0.0, 0.005):
        started = time.perf_counter()
        result = thin(model, data.X, data.y, tolerance=tolerance, random_state=0)
        seconds = time.perf_counter() - started
        print(
            f"speed, tolerance={tolerance}: trained in {trained:.1f} s, thinned to {len(result.kept)} of 500 trees in "
            f"{seconds:.1f} s, {seconds / trained:.1f} times as long (to be below 10)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of <name>.csv.gz files with a column target")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--tolerance", type=float, default=0.0025, help="validation accuracy that may be lost (xgboost)"
    )
    parser.add_argument("--only", choices=["xgboost", "adaboost", "speed"])
    parser.add_argument("--formulations", nargs="+", default=["nm"])
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=DualBoostWarning)
    if arguments.only in (None, "xgboost"):
        print_outcomes(xgboost_table(arguments.data, arguments.seeds, arguments.tolerance))
    if arguments.only in (None, "adaboost"):
        print_outcomes(adaboost_table(arguments.data, arguments.seeds, arguments.formulations))
    if arguments.only in (None, "speed"):
        speed()


if __name__ == "__main__":
    main()
