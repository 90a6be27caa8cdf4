"""Labels as numbers, for tasks with classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers
from ..errors import InvalidDataError


def require_some_classes(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        raise InvalidDataError(f"y holds one class only ({classes.tolist()[0]!r}); training needs rows of two classes.")


def encoded(y: Any, classes: NDArray[Any], n_rows: int) -> Integers:
    """The number of each label's class; raises ``InvalidDataError`` for a label that was not in training."""
    y = np.asarray(y)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.shape != (n_rows,):
        raise InvalidDataError(f"y has shape {y.shape}; it must hold one class for each of the {n_rows} rows of X.")
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise InvalidDataError(
            f"y holds {y[unknown].tolist()[0]!r}, but the model knows the classes {classes.tolist()} only; pass the "
            "labels that it was trained with."
        )
    return np.searchsorted(classes, y).astype(np.intp)
