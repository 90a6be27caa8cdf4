"""Chooses the rows that are held out for validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from .._typing import Integers, Vector
from ..errors import InvalidDataError


def hold_out(strata: NDArray[Any] | None, weights: Vector, fraction: float, rng: np.random.RandomState) -> Integers:
    """The positions of a random share of the rows with a positive weight, stratified if ``strata`` are given."""
    present = np.flatnonzero(weights > 0)
    try:
        kept = None if strata is None else strata[present]
        _, held = train_test_split(present, test_size=fraction, stratify=kept, random_state=rng)
    except ValueError as error:
        raise InvalidDataError(
            f"validation_fraction={fraction!r} cannot be held out of {len(present)} rows: {error}"
        ) from error
    return np.sort(held)
