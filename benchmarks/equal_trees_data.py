"""The rows of the comparison at equal size: raw features, seeded splits and the folds every method is tuned on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, train_test_split

PAPER = (
    "adult", "banana", "breast_cancer", "compas", "diabetes", "german_credit", "heart", "image", "mushroom_secondary",
    "ringnorm", "solar_flare", "splice", "thyroid", "titanic", "twonorm", "waveform",
)  # fmt: skip
SMALL = ("breast_cancer", "heart", "solar_flare", "thyroid")
"""Those of them with fewer than 500 rows: 144 to 270."""
IDENTIFIERS = {"titanic": ["Name"]}
SUFFIX = ".csv.gz"
TEST_SHARE = 0.3
MOST_TEST_ROWS = 20_000
N_FOLDS = 3

Folds = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows with the folds to tune on, and the rows to score on; labels in {0, 1}."""

    seed: int
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    folds: Folds


def names_by_size(folder: Path, names: list[str] | None, most_rows: int) -> list[str]:
    """The data sets asked for, or the paper's that the folder holds; those with the fewest values to learn first."""
    names = names or [name for name in PAPER if (folder / f"{name}{SUFFIX}").exists()]
    return sorted(names, key=lambda name: _n_values(folder, name, most_rows))


def _n_values(folder: Path, name: str, most_rows: int) -> int:
    X, y = load(folder, name)
    return X.shape[1] * min(most_rows, round((1 - TEST_SHARE) * len(y)))


@lru_cache(maxsize=1)
def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as they are, missing ones too, and text columns as indicators."""
    frame = pd.read_csv(folder / f"{name}{SUFFIX}").drop(columns=IDENTIFIERS.get(name, []))
    y, _ = pd.factorize(frame.pop("target"), sort=True)
    return np.ascontiguousarray(pd.get_dummies(frame), dtype=np.float64), y


def make_split(folder: Path, name: str, seed: int, most_rows: int) -> Split:
    """70 % of the rows train and the rest test, both by class and up to a number of rows."""
    X, y = load(folder, name)
    rows, test = train_test_split(np.arange(len(y)), test_size=TEST_SHARE, random_state=seed, stratify=y)
    rows, test = _at_most(most_rows, rows, y, seed), _at_most(MOST_TEST_ROWS, test, y, seed)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X[rows], y[rows])
    return Split(seed, X[rows], y[rows], X[test], y[test], list(folds))


def _at_most(n_rows: int, rows: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    if len(rows) <= n_rows:
        return rows
    return train_test_split(rows, train_size=n_rows, random_state=seed, stratify=y[rows])[0]
