"""The rows of the comparison at equal size: raw features, seeded splits and the folds every method is tuned on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
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
GRADES = ("wine_quality",)
"""Data sets whose target is as few numbers as classes might be, but numbers that say more or less of one thing."""
MOST_CLASSES = 20
SUFFIX = ".csv.gz"
TEST_SHARE = 0.3
MOST_TEST_ROWS = 20_000
N_FOLDS = 3

Folds = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows with the folds to tune on, and the rows to score on; y is the numbers of the classes, or floats."""

    seed: int
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    folds: Folds

    @property
    def n_classes(self) -> int:
        """Every class has training rows, in every fold too; 0 for numbers."""
        return _count_classes(self.y)


def names_by_size(folder: Path, names: list[str] | None, most_rows: int) -> list[str]:
    """The data sets asked for; without, the paper's that the folder holds, or all. The least work comes first."""
    there = sorted(path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}"))
    names = names or [name for name in PAPER if name in there] or there
    return sorted(names, key=lambda name: _n_values(folder, name, most_rows))


def _n_values(folder: Path, name: str, most_rows: int) -> int:
    X, y = load(folder, name)
    return X.shape[1] * min(most_rows, round((1 - TEST_SHARE) * len(y))) * max(1, _count_classes(y))


def n_classes(folder: Path, name: str) -> int:
    return _count_classes(load(folder, name)[1])


def _count_classes(y: np.ndarray) -> int:
    return 0 if y.dtype.kind == "f" else int(y.max()) + 1


@lru_cache(maxsize=1)
def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as they are, missing ones too, and text columns as indicators; ``target`` or the last column is y."""
    frame = pd.read_csv(folder / f"{name}{SUFFIX}").drop(columns=IDENTIFIERS.get(name, []))
    target = frame.pop("target" if "target" in frame else frame.columns[-1])
    y = target.to_numpy(np.float64) if is_amount(name, target) else pd.factorize(target, sort=True)[0]
    return np.ascontiguousarray(pd.get_dummies(frame), dtype=np.float64), y


def is_amount(name: str, target: pd.Series) -> bool:
    """Whether a target is to be predicted as a number: numbers with more different values than classes, or grades."""
    return pd.api.types.is_numeric_dtype(target) and (target.nunique() > MOST_CLASSES or name in GRADES)


def make_split(folder: Path, name: str, seed: int, most_rows: int) -> Split:
    """70 % of the rows train and the rest test, both by class and up to a number of rows; numbers are all one class."""
    X, y = load(folder, name)
    groups = y if _count_classes(y) else np.zeros(len(y), dtype=np.int64)
    rows, test = _parted(np.arange(len(y)), groups, len(y) - ceil(TEST_SHARE * len(y)), seed)
    rows, test = _at_most(most_rows, rows, groups, seed), _at_most(MOST_TEST_ROWS, test, groups, seed)
    return Split(seed, X[rows], y[rows], X[test], y[test], _folds(groups[rows], seed))


def _at_most(n_rows: int, rows: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    return rows if len(rows) <= n_rows else _parted(rows, y, n_rows, seed)[0]


def _parted(rows: np.ndarray, y: np.ndarray, n_first: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A number of rows, by class, and the others.

    All rows of a class are among the first if fewer than one for each fold would be, so that no fold lacks a class: of
    70 % of the rows, those of classes of up to four.
    """
    rare = n_first / len(rows) * np.bincount(y[rows])[y[rows]] < N_FOLDS
    n_shared = n_first - int(rare.sum())
    first, others = train_test_split(rows[~rare], train_size=n_shared, random_state=seed, stratify=y[rows[~rare]])
    return np.concatenate([first, rows[rare]]), others


def _folds(y: np.ndarray, seed: int) -> Folds:
    """By class; the rows of classes with fewer rows than folds train in every fold and are held out in none."""
    rare = np.bincount(y)[y] < N_FOLDS
    shared, always = np.flatnonzero(~rare), np.flatnonzero(rare)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(shared, y[shared])
    return [(np.concatenate([shared[train], always]), shared[held_out]) for train, held_out in folds]
