"""What more threads cost or bring where other programs run: the time of a fit with n_jobs over that with one thread.

    python benchmarks/busy.py [--rows N ...] [--features N] [--trees N] [--threads N] [--repeats N]

Fits are timed on the machine as it is, and beside one process for each processor that spins. Both numbers of threads
take turns, and times are medians. A ratio above 1.25 is marked: threads must never cost more than a quarter. A last
column has how long fits with ``time_limit`` take as a share of the limit, beside the same processes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import numpy as np

from dualboost import DualBoostClassifier

MOST = 1.25


@contextmanager
def busy() -> Iterator[None]:
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def seconds_of(model: DualBoostClassifier, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Seconds on the clock, and seconds of processors."""
    began, computed = time.perf_counter(), time.process_time()
    model.fit(X, y)
    return time.perf_counter() - began, time.process_time() - computed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 50_000, 200_000])
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--trees", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    names = ("formulation", "rows", "machine", "one thread", f"{asked.threads} threads", "ratio", "processors' ratio")
    print(" | ".join(names), "| share of time_limit")
    for n_rows in asked.rows:
        X = rng.normal(size=(n_rows, asked.features))
        y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n_rows) > 0).astype(int)
        for formulation in ("logistic", "lp"):
            options = {"max_depth": 3, "max_trees": asked.trees, "calibration": "training"}
            models = [DualBoostClassifier(formulation, n_jobs=n, **options) for n in (1, asked.threads)]
            for machine, beside in (("as it is", nullcontext), ("busy", busy)):
                with beside():
                    found = [[seconds_of(model, X, y) for model in models] for _ in range(asked.repeats)]
                    alone, several = (
                        [statistics.median(one[k][what] for one in found) for what in (0, 1)] for k in (0, 1)
                    )
                    limit = alone[0] / 2
                    limited = seconds_of(models[0].set_params(time_limit=limit), X, y)[0] / limit
                    models[0].set_params(time_limit=None)
                ratio = several[0] / alone[0]
                figures = f"{alone[0]:.2f} s | {several[0]:.2f} s | {ratio:.2f}{' !' if ratio > MOST else ''}"
                of_processors = several[1] / alone[1]
                print(
                    f"{formulation} | {n_rows:,} | {machine} | {figures} | {of_processors:.2f} | {limited:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
