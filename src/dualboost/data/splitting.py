"""Chooses the rows that are held out for validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from .._typing import Integers, Vector
from ..errors import InvalidDataError


def hold_out(strata: NDArray[Any] | None, weights: Vector, fraction: float, rng: np.random.RandomState) -> Integers:
    """The positions of a random share of the rows with a positive weight, stratified if ``strata`` are given.

    With more than two strata, some may have too few rows for a share; then they only keep their last row.
    """
    present = np.flatnonzero(weights > 0)
    kept = None if strata is None else strata[present]
    if kept is not None and len(np.unique(kept)) > 2:
        return np.sort(present[_from_many(kept, fraction, rng)])
    try:
        _, held = train_test_split(present, test_size=fraction, stratify=kept, random_state=rng)
    except ValueError as error:
        raise InvalidDataError(
            f"validation_fraction={fraction!r} cannot be held out of {len(present)} rows: {error}"
        ) from error
    return np.sort(held)


def _from_many(strata: NDArray[Any], fraction: float, rng: np.random.RandomState) -> Integers:
    """Every so manieth row, counted through one stratum after the other in a random order."""
    n = len(strata)
    order = np.lexsort((rng.permutation(n), strata))
    marks = np.floor(fraction * np.arange(n + 1) + rng.random_sample())
    is_held = np.zeros(n, dtype=bool)
    is_held[order[np.diff(marks) > 0]] = True
    last = order[np.append(np.diff(strata[order]) != 0, True)]
    is_held[last] = False
    if not is_held.any():
        raise InvalidDataError(
            f"validation_fraction={fraction!r} cannot be held out of {n} rows in {len(last)} classes: every row would "
            "be the last one of its class. Train on more rows, or hold none out."
        )
    return np.flatnonzero(is_held)
