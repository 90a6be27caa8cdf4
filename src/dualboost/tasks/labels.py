"""Labels as numbers, for tasks with classes."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._typing import Integers
from ..data.columns import is_gap
from ..errors import DataWarning, InvalidDataError
from ..telling import warn_user

TEXT = (str,)
NUMBERS = (Real, np.bool_)
FEW_NUMBERS = 20
"""Where no task is given, more different whole numbers than this are learnt by regression."""
MANY_NUMBERS = 50
"""Where classes are asked for, more different numbers than this are learnt with a warning."""
MANY_ROWS = 50
"""Up to so many rows, y may have few rows a class and yet be what the user meant."""


def plain_labels(y: Any) -> Any:
    """One column of labels as an array of numbers, booleans or text, or an error where labels are missing or mixed.

    Arrays of objects and pandas' own types may hold any of these; scikit-learn takes numbers in them for something
    else. What is not one column is returned unchanged, for scikit-learn to refuse.
    """
    values = np.asarray(y)
    if values.ndim not in (1, 2) or values.shape[1:] not in ((), (1,)):
        return y
    if values.dtype.kind == "f":
        _require_no_gaps(np.isnan(values.ravel()))
    return _of_one_kind(values) if values.dtype.kind == "O" and values.size else values


def _of_one_kind(objects: NDArray[Any]) -> NDArray[Any]:
    """Text unchanged, and numbers and booleans as an array of these."""
    entries = objects.ravel().tolist()
    _require_no_gaps(np.array([is_gap(entry) for entry in entries]))
    kind = TEXT if isinstance(entries[0], TEXT) else NUMBERS
    odd = [entry for entry in entries if not isinstance(entry, kind)]
    if odd:
        raise InvalidDataError(
            f"Unknown label type: {type(odd[0]).__name__}. y holds {odd[0]!r}, but labels are all text, or all numbers "
            "or booleans; make them so, as y.astype(str) does."
        )
    return objects if kind is TEXT else np.array(entries).reshape(objects.shape)


def _require_no_gaps(missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise InvalidDataError(
            f"Input y contains NaN, NA or None: it is missing in {missing.sum()} of {len(missing)} rows, row "
            f"{np.argmax(missing)} first; leave rows without a y out."
        )


def look_measured(values: NDArray[Any], most: int = MANY_NUMBERS) -> bool:
    """Whether values are numbers that look measured: more than ``most`` different ones, or one that is not whole.

    Two different values, truth values and text are always classes. The number of rows has no influence.
    """
    if values.dtype.kind not in "iuf":
        return False
    kinds = np.unique(values)
    are_whole = np.isfinite(kinds) & (kinds == np.floor(kinds))
    return len(kinds) > most or (len(kinds) != 2 and not bool(are_whole.all()))


def are_identifiers(n_classes: int, n_rows: float) -> bool:
    """Whether there are more than two classes, and fewer than two rows for each on average."""
    return n_classes > 2 and n_classes > n_rows / 2


def warn_of_classes(classes: NDArray[Any], n_rows: float) -> None:
    """Warn if the labels look like measured numbers, or if hardly a class has two rows."""
    n_classes = len(classes)
    has_enough_rows = n_rows > MANY_ROWS or n_classes == n_rows
    if look_measured(classes) or (are_identifiers(n_classes, n_rows) and has_enough_rows):
        as_text = " If the numbers are names of classes, pass y.astype(str)." if classes.dtype.kind in "iuf" else ""
        warn_user(
            f"y has {n_classes} classes in {n_rows:.0f} rows, so that it looks like an identifier or a measured "
            "number. If it is one, pass the column of the classes as y, cut numbers into classes, or use a regressor "
            f"(--task regression).{as_text}",
            DataWarning,
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
    y = np.asarray(plain_labels(y))
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
