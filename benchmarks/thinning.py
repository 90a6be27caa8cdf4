"""How small models become by thinning, and how fast: ``python benchmarks/thinning.py --data FOLDER``.

Four tables. *equal*: 100 trees of XGBoost's of depth 3 on the ten largest data sets, at most 4,000 rows to train on and
to thin on; and at the size that ``thin`` chose, the first trees of that model, and XGBoost trained anew with so many
trees, its learning rate tuned by 3-fold cross-validation. *xgboost*: such models on every data set of at least 2,000
rows (at most 20,000 of them), 60/20/20 per cent to train, validate and test. ``--tolerance`` is the validation accuracy
that may be lost, ``--learning-rate`` that of the model. *adaboost*: 100 stumps on every data set, features cut into
four bins as in the paper, reweighted by one shot of a formulation. *speed*: LightGBM's 500 trees on 50,000 rows,
thinned with the default arguments. One thread each.
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
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.tree import DecisionTreeClassifier
from tqdm import tqdm
from xgboost import XGBClassifier

from dualboost import thin
from dualboost.errors import DualBoostWarning

LEAST_ROWS, MOST_ROWS = 2_000, 20_000
N_LARGEST, MOST_TRAINING_ROWS = 10, 4_000
LEARNING_RATES = [0.05, 0.1, 0.2, 0.3, 0.5, 0.8]
N_TREES = 100
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


def boosted(n_trees: int = N_TREES, learning_rate: float = 0.3) -> XGBClassifier:
    return XGBClassifier(
        n_estimators=n_trees, max_depth=3, learning_rate=learning_rate, n_jobs=1, enable_categorical=True
    )


def first_trees(model: XGBClassifier, X: pd.DataFrame, n_trees: int) -> np.ndarray:
    return model.predict(X, iteration_range=(0, n_trees))


def retrained(X: pd.DataFrame, y: np.ndarray, n_trees: int) -> GridSearchCV:
    return GridSearchCV(boosted(n_trees), {"learning_rate": LEARNING_RATES}, cv=3).fit(X, y)


def equal_sizes(folder: Path, seeds: int, tolerance: float, learning_rate: float) -> pd.DataFrame:
    """At the size that ``thin`` chose: its model, the first trees, and XGBoost trained with so many trees."""
    found = []
    largest = sorted(files(folder, LEAST_ROWS), key=lambda one: -len(one[2]))[:N_LARGEST]
    for name, X, y in tqdm(sorted(largest, key=lambda one: one[0]), unit="set", disable=None):
        for seed in range(seeds):
            X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=0.6, random_state=seed, stratify=y)
            X_train, y_train = X_train[:MOST_TRAINING_ROWS], y_train[:MOST_TRAINING_ROWS]
            model = boosted(learning_rate=learning_rate).fit(X_train, y_train)
            started = time.perf_counter()
            result = thin(model, X_train, y_train, tolerance=tolerance)
            seconds, n_trees = time.perf_counter() - started, len(result.kept)
            decisions = {
                "as it was": model.predict(X_test),
                "thinned": result.model.predict(X_test),
                "first trees": first_trees(model, X_test, n_trees),
                "retrained": retrained(X_train, y_train, n_trees).predict(X_test),
            }
            accuracies = {way: float(np.mean(decided == y_test)) for way, decided in decisions.items()}
            found.append({"dataset": name, "way": result.way, "trees": n_trees, **accuracies, "seconds": seconds})
    return pd.DataFrame(found)


def print_equal_sizes(found: pd.DataFrame) -> None:
    means = found.drop(columns="way").groupby("dataset", sort=False).mean()
    means.loc["mean"] = means.mean()
    means["over first trees"] = 100 * (means["thinned"] - means["first trees"])
    means["over retrained"] = 100 * (means["thinned"] - means["retrained"])
    means["over the better"] = means[["over first trees", "over retrained"]].min(axis=1)
    print(f"\nat equal size, differences in points\n{means.round(4).to_string()}")
    print("ways:", found["way"].value_counts().to_dict())


def xgboost_table(folder: Path, seeds: int, tolerance: float, learning_rate: float) -> list[Outcome]:
    outcomes = []
    for name, X, y in tqdm(list(files(folder, LEAST_ROWS)), unit="set", disable=None):
        for seed in range(seeds):
            train, validation, test = split(X, y, seed)
            model = boosted(learning_rate=learning_rate).fit(*train)
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
        "--tolerance", type=float, default=0.0025, help="validation accuracy that may be lost (equal, xgboost)"
    )
    parser.add_argument("--learning-rate", type=float, default=0.3)
    parser.add_argument("--only", choices=["equal", "xgboost", "adaboost", "speed"])
    parser.add_argument("--formulations", nargs="+", default=["nm"])
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=DualBoostWarning)
    asked = (arguments.data, arguments.seeds, arguments.tolerance, arguments.learning_rate)
    if arguments.only in (None, "equal"):
        print_equal_sizes(equal_sizes(*asked))
    if arguments.only in (None, "xgboost"):
        print_outcomes(xgboost_table(*asked))
    if arguments.only in (None, "adaboost"):
        print_outcomes(adaboost_table(arguments.data, arguments.seeds, arguments.formulations))
    if arguments.only in (None, "speed"):
        speed()


if __name__ == "__main__":
    main()
