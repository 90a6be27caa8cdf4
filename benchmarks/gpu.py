"""Time fits on a GPU beside XGBoost's own, and say where the time goes.

    python benchmarks/gpu.py [--rows 10000000] [--features 50] [--trees 100] [--depth 1] [--device cuda]
        [--formulations logistic,nm] [--jobs -1]

Rows are arrays on the device. One line a formulation: seconds of the whole fit, of which before the first tree
(reading and hashing, on the processor, and binning), finding trees, and the master; milliseconds of the master for one
of the last trees, which is one step of its interior-point method where it interleaves; how many times as long as
XGBoost's fit with as many trees from the same arrays; the gap. ``--device cpu`` runs the same without a GPU.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import xgboost

from dualboost import DualBoostClassifier
from dualboost.matrix.rows import DEVICES, device_named

LAST = 20
"""How many of the last trees the step of the master is a median of."""


def make_rows(xp: Any, n_rows: int, n_features: int) -> tuple[Any, Any]:
    """Normal numbers, of which five decide between two classes with noise."""
    xp.random.seed(0)
    X = xp.random.standard_normal((n_rows, n_features))
    score = X[:, 0] + X[:, 1] * X[:, 2] + abs(X[:, 3]) - 0.8 - 0.5 * X[:, 4]
    return X, (score + xp.random.standard_normal(n_rows) > 0).astype(np.int8)


def seconds_of_xgboost(X: Any, y: Any, device: str, n_trees: int, depth: int) -> float:
    started = time.perf_counter()
    rows = xgboost.QuantileDMatrix(X, y)
    options = {"objective": "binary:logistic", "device": device, "max_depth": depth, "tree_method": "hist"}
    xgboost.train(options, rows, n_trees)
    return time.perf_counter() - started


def line_of(model: DualBoostClassifier, seconds: float, rival: float) -> str:
    pricing, solver = (np.asarray(model.history_[name]) for name in ("pricing_seconds", "solver_seconds"))
    before = seconds - np.nansum(pricing) - np.nansum(solver)
    step = 1e3 * float(np.nanmedian(solver[-LAST:]))
    parts = f"{before:.1f} before, {np.nansum(pricing):.1f} trees, {np.nansum(solver):.1f} master, {step:.1f} ms a step"
    return f"{seconds:.1f} s ({parts}), {seconds / rival:.1f} times XGBoost's, gap {model.gap_:.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--device", choices=DEVICES, default="cuda")
    parser.add_argument("--formulations", default="logistic,nm")
    parser.add_argument("--jobs", type=int, default=-1, help="threads for what the processor does")
    given = parser.parse_args()
    X, y = make_rows(device_named(given.device).xp, given.rows, given.features)
    seconds_of_xgboost(X[:1000], y[:1000], given.device, 1, given.depth)  # what is loaded once is not timed
    rival = seconds_of_xgboost(X, y, given.device, given.trees, given.depth)
    print(f"{given.rows} rows x {given.features}, {given.trees} trees of depth {given.depth}, XGBoost: {rival:.2f} s")
    for formulation in given.formulations.split(","):
        options: dict[str, Any] = {
            "max_trees": given.trees,
            "max_depth": given.depth,
            "n_jobs": given.jobs,
            "calibration": "training",
        }
        model = DualBoostClassifier(formulation, learner="xgboost", device=given.device, **options)
        model.fit(X[:1000], y[:1000])
        started = time.perf_counter()
        model.fit(X, y)
        print(f"{formulation}: {line_of(model, time.perf_counter() - started, rival)}", flush=True)


if __name__ == "__main__":
    main()
