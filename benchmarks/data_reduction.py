"""Active rows beside all rows: the same programme, `lp`, on many rows.

    python benchmarks/data_reduction.py [--rows N] [--trees N] [--quick]

Twonorm and ringnorm (20 features), twonorm with a tenth of the labels flipped, and 50 normal features of which ten
decide the label with noise; stumps and trees of depth 3, the default C, one thread. Seconds are the processor's, of the
whole fit: it has parts that no choice of rows saves, such as binning the features and the votes of a tree on all rows.
Active rows are those with a sample weight in the end.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
from bench_data import numeric_set
from tqdm import tqdm

from dualboost import DualBoostClassifier, SolverOptions
from dualboost.datasets import make_ringnorm, make_twonorm

METHODS = {"all rows": None, "active rows": SolverOptions(active_rows=20_000)}
DEPTHS = (1, 3)
N_TEST = 100_000
FLIPPED = 0.1
QUICK_ROWS = 100_000


def data_sets(n_rows: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Training rows followed by ``N_TEST`` test rows, the labels of which are never flipped."""
    for make in (make_twonorm, make_ringnorm):
        yield make.__name__.removeprefix("make_"), *make(n_rows + N_TEST, random_state=0)
    X, y = make_twonorm(n_rows + N_TEST, random_state=0)
    flipped = np.random.default_rng(0).random(len(y)) < FLIPPED
    flipped[n_rows:] = False
    yield "twonorm, 10 % flipped", X, np.where(flipped, -y, y)
    numeric = numeric_set(n_rows + N_TEST)
    yield "numeric", numeric.X, numeric.y


def measured(method: str, depth: int, n_trees: int, X: np.ndarray, y: np.ndarray) -> dict[str, object]:
    n_rows = len(y) - N_TEST
    clf = DualBoostClassifier("lp", max_depth=depth, max_trees=n_trees, solver=METHODS[method])
    started = time.process_time()
    clf.fit(X[:n_rows], y[:n_rows])
    return {
        "seconds": time.process_time() - started,
        "objective": clf.objective_,
        "gap": clf.gap_,
        "trees": f"{clf.n_trees_} of {clf.n_generated_}",
        "stop": clf.stop_reason_,
        "test accuracy": clf.score(X[n_rows:], y[n_rows:]),
        "active rows": int(np.count_nonzero(clf.duals_)),
    }


def compare(n_rows: int, n_trees: int) -> pd.DataFrame:
    """One row a fit, as they end."""
    rows = []
    for name, X, y in data_sets(n_rows):
        for depth in tqdm(DEPTHS, desc=name, disable=None):
            for method in METHODS:
                rows.append({"data": name, "depth": depth, "method": method} | measured(method, depth, n_trees, X, y))
                print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="training rows (1,000,000)")
    parser.add_argument("--trees", type=int, default=100, help="the most trees that are generated (100)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS:,} rows and 30 trees")
    arguments = parser.parse_args()
    n_rows, n_trees = (QUICK_ROWS, 30) if arguments.quick else (arguments.rows, arguments.trees)
    table = compare(n_rows, n_trees).set_index(["data", "depth", "method"])
    formats = {"seconds": "{:.1f}", "objective": "{:.4f}", "gap": "{:.0e}", "test accuracy": "{:.4f}"}
    print(f"\n{n_rows:,} rows, at most {n_trees} trees")
    print(table.to_string(formatters={column: form.format for column, form in formats.items()}))
    seconds = table["seconds"].unstack()
    ratios = seconds["all rows"] / seconds["active rows"]
    print(f"\nseconds with all rows / with active rows:\n{ratios.to_string(float_format='{:.2f}'.format)}")


if __name__ == "__main__":
    main()
