"""Warns of targets that are so far away that the others are hardly learnt, or that they count as nearer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Vector
from ..errors import DataWarning
from ..telling import warn_user
from ..workers import Communicator
from .standardising import Standard

ONE_NUMBER = 1e-6
"""One number is told of if the variance of all others is a smaller share of its square."""


def warn_of_outliers(standard: Standard, reach: float, y: NDArray[Any], targets: Vector, workers: Communicator) -> None:
    """``targets`` are y standardised, and ``reach`` says how far from zero one may be."""
    if np.isfinite(reach):
        _warn_of_those_beyond(standard, reach, targets, workers)
    elif _is_of_one_number(y, targets, workers):
        furthest = workers.max(float(np.abs(targets).max())) * standard.scale
        warn_user(
            f"One number of y is {furthest:.3g} from {standard.centre:.6g}, and the others vary so little beside it "
            "that hardly anything of them will be learnt. If it is an outlier, leave it out or take loss='huber'.",
            DataWarning,
        )


def _is_of_one_number(y: NDArray[Any], targets: Vector, workers: Communicator) -> bool:
    """Whether all others, which differ, are nearly the same beside one number."""
    sizes = np.abs(targets)
    largest = workers.max(float(sizes.max(initial=0.0)))
    is_other = sizes < largest
    others = targets[is_other]
    spread = float(workers.max(np.array([others.max(initial=-np.inf), (-others).max(initial=-np.inf)])).sum())
    differ = workers.max(float((y[is_other] != y[is_other][:1]).any()))
    n_others, n_all = workers.sum(np.array([len(others), len(y)], dtype=float))
    return bool(differ and n_others == n_all - 1 and n_others * spread**2 < ONE_NUMBER * largest**2)


def _warn_of_those_beyond(standard: Standard, reach: float, targets: Vector, workers: Communicator) -> None:
    own = np.array([np.count_nonzero(np.abs(targets) > reach), len(targets)], dtype=float)
    n_beyond, n_all = workers.sum(own)
    if n_beyond:
        warn_user(
            f"{n_beyond:.0f} of {n_all:.0f} numbers of y are further than {reach * standard.scale:.3g} from their "
            f"median, {standard.centre:.6g}, and count as being so far: no prediction goes beyond. If they are no "
            "outliers, take the logarithm of y or loss='squared'.",
            DataWarning,
        )
