"""Time to fit numbers, against LightGBM: a part of ``bench.py``, which runs it alone with ``--numbers``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from bench_data import LARGEST, DataSet
from bench_fits import LIGHTGBM, Target
from lightgbm import LGBMRegressor

from dualboost import DualBoostRegressor

NUMBERS, SQUARED = "numbers", "squared"
SHAPES, QUICK_SHAPES = ((10_000, 10), (100_000, 20), (LARGEST, 50)), ((10_000, 10),)
N_TREES, DEPTH = 40, 3
MOST_TIMES = 8
"""The bar for the largest set, in LightGBM's time."""


def number_set(n_rows: int, n_features: int) -> DataSet:
    """Normal features, six of which decide a number with noise: by a product, a wave, a kink and a step."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    a, b, c, d, e, f = X[:, :6].T
    y = a * b + np.sin(2.0 * c) + np.abs(d) + 0.5 * (e > 0.3) * f + rng.standard_normal(n_rows)
    return DataSet(f"{n_rows:,}x{n_features}", NUMBERS, X, y)


def number_tasks(quick: bool, threads: tuple[int, ...]) -> list[Target]:
    """Ours with the default C beside as many trees of LightGBM's, of the same depth."""
    sets = [number_set(*shape) for shape in (QUICK_SHAPES if quick else SHAPES)]
    return [Target(data, DEPTH, _models(n_jobs), NUMBERS, n_jobs) for data in sets for n_jobs in threads]


def _models(n_jobs: int) -> dict[str, object]:
    lightgbm = LGBMRegressor(n_estimators=N_TREES, max_depth=DEPTH, num_leaves=2**DEPTH, n_jobs=n_jobs, verbose=-1)
    ours = DualBoostRegressor(SQUARED, max_trees=N_TREES, max_depth=DEPTH, n_jobs=n_jobs)
    return {LIGHTGBM: lightgbm, SQUARED: ours}


def number_lines(table: pd.DataFrame) -> Iterator[str]:
    """A line for each data set and number of threads: the ratio, and the seconds it comes from."""
    yield f"\nnumbers, {N_TREES} trees of depth {DEPTH}: fit time / LightGBM's (bar: {MOST_TIMES} at {LARGEST:,} rows)"
    cells = table[table.kind == NUMBERS]
    keys = ["dataset", "threads"]
    lightgbm = cells[cells.method == LIGHTGBM].set_index(keys).seconds
    for cell in cells[cells.method == SQUARED].itertuples():
        theirs = lightgbm[cell.dataset, cell.threads]
        seconds = f"{cell.seconds:9.2f} s / {theirs:.2f} s"
        yield f"{cell.dataset:22}threads: {cell.threads}{cell.ratio:8.2f}{seconds}   gap {cell.gap:.1e}"
