"""Optimal trees against CART's: edges over the iterations of a fit, and what a time budget gives at depths 3, 5 and 10.

    python benchmarks/optimal_trees.py FOLDER

FOLDER holds ``<name>.csv.gz`` files with a ``target`` column of two classes, ringnorm's among them.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from bench_data import DataSet, folder_sets

from dualboost import CartLearner, DualBoostClassifier, OptimalLearner
from dualboost.learners import PricingContext, TrainingData

SECONDS_PER_TREE = 2.0
N_ITERATIONS = 30


def training_data(data: DataSet) -> TrainingData:
    return TrainingData(np.asfortranarray(data.X), [])


def signs(data: DataSet) -> np.ndarray:
    return np.where(data.y > 0, 1.0, -1.0)


def compare_edges(data: DataSet) -> None:
    """The edge of an optimal tree of depth 3 divided by CART's, under the sample weights of every iteration."""
    rows, labels, context = training_data(data), signs(data), PricingContext(max_depth=3)
    optimal, cart = OptimalLearner().pricer(rows, context), CartLearner().pricer(rows, context)
    ratios, seconds = [], []
    for t in range(N_ITERATIONS):
        u = np.ones(data.n_rows)
        if t:
            u = DualBoostClassifier("lp", learner="optimal", max_depth=3, max_trees=t).fit(data.X, data.y).duals_
        residual = u * labels
        started = time.perf_counter()
        best = optimal.price(residual, None)
        seconds.append(time.perf_counter() - started)
        ratios.append(float(residual @ best.votes) / float(residual @ cart.price(residual, None).votes))
    print(f"{data.name}, depth 3, {N_ITERATIONS} iterations: edge / CART's {min(ratios):.3f} to {max(ratios):.3f}, "
          f"mean {np.mean(ratios):.3f}; at most {max(seconds):.2f} s a tree")  # fmt: skip


def spend_budget(data: DataSet) -> None:
    """One tree of each depth within the budget."""
    rows = training_data(data)
    residual = np.random.default_rng(0).exponential(size=data.n_rows) * signs(data)
    for depth in (3, 5, 10):
        context = PricingContext(max_depth=depth)
        pricer = OptimalLearner(tree_time_limit=SECONDS_PER_TREE).pricer(rows, context)
        started = time.perf_counter()
        best = pricer.price(residual, None)
        seconds = time.perf_counter() - started
        greedy = CartLearner().pricer(rows, context).price(residual, None)
        edges = [float(residual @ column.votes) / np.abs(residual).sum() for column in (best, greedy)]
        proven = "proven" if best.is_proven else "not proven"
        print(f"{data.name:20}{data.n_rows:8,} rows  depth {depth:2}  {seconds:5.2f} s  {proven:10}  "
              f"edge {edges[0]:.4f}, CART's {edges[1]:.4f}", flush=True)  # fmt: skip


def main(folder: str) -> None:
    for data in folder_sets(Path(folder), quick=False):
        if data.name == "ringnorm":
            compare_edges(data)
        spend_budget(data)


if __name__ == "__main__":
    main(*sys.argv[1:])
