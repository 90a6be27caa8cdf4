"""Kill a worker of a Dask cluster at random moments of a fit, and fit again: what is raised, when, and where it ends.

    python benchmarks/faults.py [--trials 20] [--rows 20000]

Each trial starts two workers, kills one at a random moment after the fit began, and fits again with the same
checkpoint. One line a trial: the moment, what came of the first fit and after how many seconds, and the relative
difference of the second fit's objective from that of one machine.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import threading
import time
from importlib import import_module
from typing import Any

import numpy as np

OPTIONS = {"max_depth": 4, "max_trees": 15}


def trial(spread: Any, moment: float, expected: float) -> str:
    from distributed import Client, LocalCluster

    from dualboost.dask import DaskDualBoostClassifier
    from dualboost.errors import WorkerError

    local = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(**local) as cluster, Client(cluster) as client, tempfile.TemporaryDirectory() as folder:
        victim = max(client.run(os.getpid).values())
        client.run(import_module, "xgboost")
        client.run(import_module, "dualboost.dask")
        threading.Timer(moment, os.kill, (victim, signal.SIGKILL)).start()
        model, started = DaskDualBoostClassifier(**OPTIONS), time.perf_counter()
        try:
            model.fit(*spread, checkpoint=folder)
            came = "fitted"
        except WorkerError:
            came = "WorkerError"
        seconds = time.perf_counter() - started
        kept = os.path.exists(os.path.join(folder, "trees.json"))
        time.sleep(max(0.0, moment - seconds) + 1.0)
        client.wait_for_workers(2)
        model.fit(*spread, checkpoint=folder)
        error = abs(model.objective_ - expected) / expected
    return f"{moment:.2f} s: {came} after {seconds:.1f} s, trees kept: {kept}, second fit within {error:.0e}"


def main() -> None:
    import dask.array as da

    from dualboost import DualBoostClassifier
    from dualboost.datasets import make_ringnorm

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--longest", type=float, default=5.0, help="the latest moment, in seconds")
    given = parser.parse_args()
    X, y = make_ringnorm(given.rows, random_state=0)
    expected = DualBoostClassifier(learner="xgboost", **OPTIONS).fit(X, y).objective_
    spread = da.from_array(X, chunks=(given.rows // 8, 20)), da.from_array(y, chunks=given.rows // 8)
    for moment in np.random.default_rng(0).uniform(0.0, given.longest, given.trials):
        print(trial(spread, float(moment), expected), flush=True)


if __name__ == "__main__":
    main()
