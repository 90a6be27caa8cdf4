"""The data sets of the benchmark: one numeric matrix each, the same for every method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from dualboost.datasets import make_waveform

FOLDER, BINARY, NUMERIC = "folder", "binary", "numeric"
N_BINARY_ROWS = 45_000
N_NUMERIC_FEATURES = 50
LARGEST = 1_000_000
NUMERIC_ROWS = (10_000, 30_000, 100_000, 300_000, LARGEST)
NUMERIC_ROWS_QUICK = NUMERIC_ROWS[:3]

TRAINING_SHARE = 0.6
MOST_CATEGORIES = 100
N_BINS = 4
MOST_FILE_ROWS_QUICK = 8_000
MOST_ROWS_QUICK = 3_000


@dataclass(frozen=True, eq=False)
class DataSet:
    """Features without missing values and labels in {0, 1}."""

    name: str
    group: str
    X: np.ndarray
    y: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.y)


def folder_sets(folder: Path, quick: bool) -> Iterator[DataSet]:
    """The training part of every ``<name>.csv.gz``; quick: of the smaller files, and of some of their rows."""
    for path in sorted(folder.glob("*.csv.gz")):
        frame = pd.read_csv(path)
        if quick and len(frame) > MOST_FILE_ROWS_QUICK:
            continue
        if quick:
            frame = frame.sample(min(len(frame), MOST_ROWS_QUICK), random_state=0)
        y, _ = pd.factorize(frame.pop("target"), sort=True)
        X, _, y, _ = train_test_split(with_categories(frame), y, train_size=TRAINING_SHARE, random_state=0, stratify=y)
        yield DataSet(path.name.removesuffix(".csv.gz"), FOLDER, one_hot(X), y)


def binary_set(n_rows: int = N_BINARY_ROWS, seed: int = 0) -> DataSet:
    """Waveform's 21 features cut into four bins each: 84 binary features."""
    X, y = make_waveform(n_rows, random_state=seed)
    X = one_hot(pd.DataFrame(X))
    return DataSet(f"{n_rows:,}x{X.shape[1]}", BINARY, X, (y > 0).astype(int))


def numeric_set(n_rows: int) -> DataSet:
    """Normal features, a fifth of which decide the label with noise, by the same rule for any number of rows."""
    rule = np.random.default_rng(0).standard_normal(N_NUMERIC_FEATURES // 5)
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n_rows, N_NUMERIC_FEATURES))
    y = X[:, : len(rule)] @ rule + 2.0 * rng.standard_normal(n_rows) > 0
    return DataSet(f"{n_rows:,}x{N_NUMERIC_FEATURES}", NUMERIC, X, y.astype(int))


def with_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Text columns as categories; those that look like names or free text are dropped."""
    text = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    names = [name for name in text if frame[name].nunique() > MOST_CATEGORIES]
    return frame.drop(columns=names).astype({name: "category" for name in text if name not in names})


def one_hot(frame: pd.DataFrame) -> np.ndarray:
    """Quantile bins of numbers and categories as indicators; missing values have their own."""
    return np.ascontiguousarray(np.column_stack([_indicators(frame[name]) for name in frame]), dtype=np.float64)


def _indicators(column: pd.Series) -> pd.DataFrame:
    missing = bool(column.isna().any())
    if isinstance(column.dtype, pd.CategoricalDtype):
        return pd.get_dummies(column, drop_first=True, dummy_na=missing)
    return pd.get_dummies(_bins(column), dummy_na=missing)


def _bins(column: pd.Series) -> pd.Series:
    if column.nunique() <= N_BINS:
        return column
    cuts = np.unique(column.quantile(np.arange(1, N_BINS) / N_BINS))
    return pd.Series(np.searchsorted(cuts, column), index=column.index).where(column.notna())
