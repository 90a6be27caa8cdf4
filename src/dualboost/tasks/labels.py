"""Labels as numbers, for tasks with classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._typing import Integers
from ..errors import InvalidDataError


def require_no_gaps(y: Any) -> None:
    """Refuse labels that are missing: None, or a number that is not one."""
    values = np.asarray(y)
    if values.ndim != 1 or values.dtype.kind not in "fO":
        return
    gaps = np.flatnonzero([value is None or value != value for value in values.tolist()])
    if len(gaps):
        raise InvalidDataError(
            f"Input y contains NaN or None in {len(gaps)} of {len(values)} rows, row {gaps[0]} first; leave rows "
            "without a label out."
        )


def require_labels(y: NDArray[Any]) -> None:
    """Refuse numbers that are measured rather than counted, as a target for a regressor would be."""
    if type_of_target(y, input_name="y") in ("binary", "multiclass"):
        return
    fraction = y[y != np.round(y)] if y.dtype.kind == "f" and y.ndim == 1 else y[:0]
    if len(fraction):
        raise InvalidDataError(
            f"Unknown label type: continuous. y holds numbers such as {fraction.tolist()[0]!r}, which are no classes; "
            "cut them into classes, or use a regressor."
        )
    check_classification_targets(y)


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
