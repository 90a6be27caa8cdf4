"""Time fits over workers, count what they send, and say what a larger cluster would take.

    python benchmarks/scale.py [--rows 250000 1000000 ...] [--workers 1 2] [--formulation logistic] [--trees 20]

Workers are processes of this machine, each with its own rows of ringnorm (20 features). One line a fit: seconds, the
largest memory of a worker, messages and bytes a tree. Then a model of the cost, fitted to these lines,

    seconds = a + rows_of_a_worker * trees * b + messages * (workers - 1) * hop + bytes * 2 / bandwidth

whose ``hop`` and ``bandwidth`` are measured by messages alone (XGBoost's collective sends round a ring, so that a
message passes by all workers), and what it says of more workers and rows, with that network and with a slower one.
Messages and bytes are ours, which are counted, and those of XGBoost, which are not: one of its histograms, 16 bytes a
bin, for every level of a tree, and of two nodes next to each other one is sent.
"""

from __future__ import annotations

import argparse
import resource
import time
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

BLOCK = 12_500
"""Rows come in blocks, which workers share, so that any number of workers fits the same rows."""
HOPS = 2000
LARGE = 2_000_000
FEATURES, BINS, BYTES_A_BIN = 20, 256, 16
SLOWER = {"this machine": (1.0, 1.0), "a hop of 50 us, 1 GB/s": (50e-6, 1e9)}


class Line(NamedTuple):
    """One fit."""

    rows: int
    workers: int
    seconds: float
    megabytes: float
    trees: int
    messages: int
    sent: int
    hop: float
    bandwidth: float
    objective: float


def work(arguments: dict[str, Any], number: int, rows: int, workers: int, options: dict[str, Any]) -> tuple[Any, ...]:
    """What one worker does: its rows, the fit, and messages alone."""
    from dualboost import DualBoostClassifier
    from dualboost.datasets import make_ringnorm
    from dualboost.workers.xgboost import connected

    blocks = [make_ringnorm(BLOCK, random_state=k) for k in range(number, rows // BLOCK, workers)]
    X, y = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    estimator = DualBoostClassifier(learner="xgboost", calibration="training", n_jobs=1, **options)
    with connected(**arguments, dmlc_task_id=f"{number:06d}", dmlc_timeout=3600) as communicator:
        communicator.sum(0.0)
        started = time.perf_counter()
        model = estimator.fit_part(X, y, None, communicator)
        seconds = time.perf_counter() - started
        traffic = communicator.traffic
        figures = (traffic.n_messages, traffic.n_bytes)
        hop, bandwidth = network(communicator) if workers > 1 else (np.nan, np.nan)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return seconds, peak, model.figures.n_generated, *figures, hop, bandwidth, model.figures.objective


def network(communicator: Any) -> tuple[float, float]:
    """Seconds from one worker to the next, and bytes a second."""
    started = time.perf_counter()
    for _ in range(HOPS):
        communicator.sum(1.0)
    hop = (time.perf_counter() - started) / HOPS / (communicator.size - 1)
    large = np.ones(LARGE)
    started = time.perf_counter()
    for _ in range(5):
        communicator.sum(large)
    return hop, 5 * 2 * large.nbytes / (time.perf_counter() - started)


def measured(rows: int, workers: int, options: dict[str, Any]) -> Line:
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=workers, host_ip="127.0.0.1", sortby="task")
    tracker.start()
    with get_context("spawn").Pool(workers) as pool:
        told = [(tracker.worker_args(), number, rows, workers, options) for number in range(workers)]
        found = pool.starmap(work, told)
    tracker.wait_for()
    seconds, peak = (max(one[k] for one in found) for k in (0, 1))
    return Line(rows, workers, seconds, peak, *found[0][2:])


def cost_model(lines: list[Line], depth: int) -> tuple[float, float, float, float]:
    """a and b by least squares, given hop and bandwidth."""
    spread = [line for line in lines if line.workers > 1]
    hop = float(np.median([line.hop for line in spread])) if spread else 0.0
    bandwidth = float(np.median([line.bandwidth for line in spread])) if spread else np.inf
    of_rows = np.array([line.rows / line.workers * line.trees for line in lines])
    left = [line.seconds - sent(*with_histograms(line, depth), line.workers, hop, bandwidth) for line in lines]
    a, b = np.linalg.lstsq(np.column_stack([np.ones(len(lines)), of_rows]), np.array(left), rcond=None)[0]
    return float(a), float(b), hop, bandwidth


def with_histograms(line: Line, depth: int) -> tuple[float, float]:
    """The messages and bytes of a fit, those of XGBoost's histograms included."""
    n_nodes = 1 + sum(2 ** (level - 1) for level in range(1, depth))
    n_bytes = line.trees * n_nodes * FEATURES * BINS * BYTES_A_BIN
    return line.messages + line.trees * depth, line.sent + n_bytes


def sent(messages: float, n_bytes: float, workers: int, hop: float, bandwidth: float) -> float:
    """Seconds for messages; one worker sends none."""
    return messages * (workers - 1) * hop + (2 * n_bytes / bandwidth if workers > 1 else 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[250_000, 1_000_000, 4_000_000, 8_000_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--formulation", default="logistic")
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--depth", type=int, default=3)
    given = parser.parse_args()
    options = {"formulation": given.formulation, "max_trees": given.trees, "max_depth": given.depth}
    lines = []
    print("rows workers seconds MB_a_worker trees messages_a_tree kB_a_tree objective")
    for rows in given.rows:
        for workers in given.workers:
            line = measured(rows, workers, options)
            lines.append(line)
            figures = f"{line.seconds:.1f} {line.megabytes:.0f} {line.trees} {line.messages / line.trees:.0f}"
            print(rows, workers, figures, f"{line.sent / line.trees / 1e3:.0f}", f"{line.objective:.9g}", flush=True)
    a, b, hop, bandwidth = cost_model(lines, given.depth)
    print(f"a = {a:.2f} s, b = {1e9 * b:.0f} ns, hop = {1e6 * hop:.0f} us, bandwidth = {bandwidth / 1e6:.0f} MB/s")
    last = lines[-1]
    for name, network_of in SLOWER.items():
        own_hop, own_bandwidth = (hop, bandwidth) if name == "this machine" else network_of
        for workers in (16, 256, 1024):
            of_rows = a + b * 1e9 / workers * last.trees
            of_messages = sent(*with_histograms(last, given.depth), workers, own_hop, own_bandwidth)
            print(f"10^9 rows, {workers} workers, {name}: rows {of_rows:.0f} s, messages {of_messages:.0f} s")


if __name__ == "__main__":
    main()
