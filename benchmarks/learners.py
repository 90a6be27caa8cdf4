"""Which base learner when: accuracy, trees used and time of five learners at depths 1, 3 and 5, and a pool of depths.

    python benchmarks/learners.py [--data FOLDER] [--out out/learners]

FOLDER (or the environment variable DUALBOOST_DATA) holds ``<name>.csv.gz`` files with a ``target`` column of two
classes; without it the artificial data sets are used. 60 % of the rows train, the rest test; LP-Boost, default C.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from bench_data import one_hot, with_categories
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from dualboost import CartLearner, DualBoostClassifier, OptimalLearner
from dualboost.datasets import make_ringnorm, make_twonorm, make_waveform

DATA_SETS = ("compas", "german_credit", "image", "ringnorm", "waveform")
DEPTHS = (1, 3, 5)
LEARNERS = {
    "CART": CartLearner(),
    "CART by edge": CartLearner(criterion="edge"),
    "CART, confidence": CartLearner(voting="confidence"),
    "optimal": OptimalLearner(tree_time_limit=1.0),
    "optimal, confidence": OptimalLearner(voting="confidence", tree_time_limit=1.0),
}
SEEDS = (0, 1, 2)
N_TREES = 40


def data_sets(folder: Path | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Binary features: quantile bins and categories as indicators."""
    if folder is None:
        for make in (make_ringnorm, make_twonorm, make_waveform):
            X, y = make(random_state=0)
            yield make.__name__.removeprefix("make_"), one_hot(pd.DataFrame(X)), y
        return
    for name in DATA_SETS:
        frame = pd.read_csv(folder / f"{name}.csv.gz")
        y, _ = pd.factorize(frame.pop("target"), sort=True)
        yield name, one_hot(with_categories(frame)), y


def compare(folder: Path | None) -> pd.DataFrame:
    """One row a fit."""
    rows = []
    cells = [(data, depth, seed) for data in data_sets(folder) for depth in DEPTHS for seed in SEEDS]
    for (name, X, y), depth, seed in tqdm(cells, disable=None):
        parts = train_test_split(X, y, train_size=0.6, random_state=seed, stratify=y)
        for name_of_learner, learner in LEARNERS.items():
            model = DualBoostClassifier("lp", max_depth=depth, max_trees=N_TREES, learner=learner)
            started = time.perf_counter()
            model.fit(parts[0], parts[2])
            seconds = time.perf_counter() - started
            score = model.score(parts[1], parts[3])
            rows.append((name, depth, seed, name_of_learner, score, model.n_trees_, seconds, model.objective_))
    return pd.DataFrame(
        rows, columns=["dataset", "depth", "seed", "learner", "accuracy", "trees", "seconds", "objective"]
    )


def compare_pools(folder: Path | None) -> pd.DataFrame:
    """LP-Boost's objective (smaller is better) with the same number of columns, by depth and for a pool of both."""
    shallow, deep = CartLearner(max_depth=1), CartLearner(max_depth=3)
    learners = {"depth 1": shallow, "depth 3": deep, "pool": [shallow, deep]}
    rows = []
    for name, X, y in data_sets(folder):
        for title, learner in learners.items():
            model = DualBoostClassifier("lp", learner=learner, max_trees=N_TREES).fit(X, y)
            rows.append((name, title, model.objective_, model.n_generated_))
    table = pd.DataFrame(rows, columns=["dataset", "learner", "objective", "columns"])
    return table.pivot(index="dataset", columns="learner", values=["objective", "columns"])


def draw(table: pd.DataFrame, path: Path) -> None:
    """Three panels over depth, one line a learner: the mean over data sets and seeds."""
    figure, axes = plt.subplots(1, 3, figsize=(11.0, 3.6), layout="constrained")
    means = table.groupby(["learner", "depth"], sort=False)[["accuracy", "trees", "seconds"]].mean()
    titles = {"accuracy": "test accuracy", "trees": "trees used", "seconds": "seconds to fit"}
    for ax, (figure_of, title) in zip(axes, titles.items(), strict=True):
        for learner in LEARNERS:
            line = means.loc[learner]
            ax.plot(line.index, line[figure_of], marker="o", label=learner)
        ax.set(title=title, xlabel="depth", xticks=DEPTHS)
        ax.grid(alpha=0.3)
    axes[2].set_yscale("log")
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("DUALBOOST_DATA"))
    parser.add_argument("--out", type=Path, default=Path("out/learners"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    folder = Path(arguments.data) if arguments.data else None
    pools = compare_pools(folder)
    print("LP-Boost's objective by depth, and a pool of both, with at most", N_TREES, "columns:")
    print(pools.to_string(float_format="{:.5g}".format))
    objectives = pools["objective"]
    won = objectives["pool"] <= objectives[["depth 1", "depth 3"]].min(axis=1) * (1 + 1e-6)
    print(f"the pool is at least as good as either on {won.sum()} of {len(won)} data sets\n")
    table = compare(folder)
    table.to_csv(arguments.out / "learners.csv", index=False)
    means = table.groupby(["depth", "learner"], sort=False)[["accuracy", "trees", "seconds"]].mean()
    print(f"mean over {table.dataset.nunique()} data sets and {len(SEEDS)} splits, {N_TREES} trees at most:")
    print(means.to_string(float_format="{:.4g}".format))
    draw(table, arguments.out / "learners.png")
    print(f"\n{arguments.out / 'learners.csv'}, {arguments.out / 'learners.png'}")


if __name__ == "__main__":
    main()
