"""Fit rows that stay on disk, and print the memory that it takes.

    python benchmarks/on_disk.py [--rows 10000000] [--features 50] [--trees 10] [--depth 3] [--formulation logistic]

Writes the rows in single precision to a temporary folder (--folder), 4 bytes a number, fits a memory-mapped array of
them, and removes them. One line: seconds to read and to fit, the largest memory of the process that is its own, and
with the pages of the file that the system happened to hold; bytes a row; the objective and its gap.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from dualboost import DualBoostClassifier

AT_ONCE = 250_000


def write_rows(path: Path, n_rows: int, n_features: int) -> np.ndarray:
    """Normal numbers, of which five decide between two classes with noise; returns the classes."""
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_rows, n_features))
    y = np.empty(n_rows, dtype=np.int8)
    for start in range(0, n_rows, AT_ONCE):
        rng = np.random.default_rng(start)
        size = min(AT_ONCE, n_rows - start)
        part = X[start : start + size]
        part[:] = rng.standard_normal((size, n_features), dtype=np.float32)
        score = part[:, 0] + part[:, 1] * part[:, 2] + np.abs(part[:, 3]) - 0.8 - 0.5 * part[:, 4]
        y[start : start + size] = score + rng.standard_normal(size, dtype=np.float32) > 0
    X.flush()
    return y


class MemoryWatch:
    """The largest memory of this process while it runs, looked at ten times a second."""

    def __init__(self) -> None:
        self.own = self.whole = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
            self.own = max(self.own, int(lines["RssAnon"].split()[0]))
            self.whole = max(self.whole, int(lines["VmRSS"].split()[0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--formulation", default="logistic")
    parser.add_argument("--folder", type=Path, default=None)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "X.npy"
        y = write_rows(path, given.rows, given.features)
        X = np.load(path, mmap_mode="r")
        options = {"max_trees": given.trees, "max_depth": given.depth, "calibration": "training"}
        model = DualBoostClassifier(given.formulation, learner="xgboost", **options)
        started = time.perf_counter()
        with MemoryWatch() as memory:
            model.fit(X, y)
        seconds = time.perf_counter() - started
    figures = f"{seconds:.0f} s, {memory.own / 1e6:.2f} GB, {memory.whole / 1e6:.2f} GB with the file's pages"
    print(f"{given.rows} rows x {given.features}, {model.n_generated_} trees grown, {model.n_trees_} kept: {figures}")
    a_row = 1024 * memory.own / given.rows
    print(f"{a_row:.0f} bytes a row, objective {model.objective_:.9g}, gap {model.gap_:.1e}")


if __name__ == "__main__":
    main()
