"""Checks X, y and ``sample_weight``, and computes the outputs of a model's members on these rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Vector
from ..data.tables import as_table
from ..errors import DualBoostError, InvalidDataError, InvalidParameterError
from ..estimators.class_weights import weights_by_class
from ..estimators.parameters import as_sample_weight
from .base import Adapter
from .rows import AnyRows


def read_rows(adapter: Adapter, X: Any, y: Any, sample_weight: Any) -> Any:
    """The rows whose ``sample_weight`` is positive: ``MemberRows``, or ``ClassRows`` for several classes."""
    labels = adapter.task.encode(y, _require_same_columns(adapter, X))
    counts = _weighed(adapter, labels, as_sample_weight(sample_weight, len(labels)))
    try:
        rows: AnyRows = adapter.rows(X, labels, counts)
    except DualBoostError:
        raise
    except Exception as error:
        raise InvalidDataError(f"The model cannot predict on X: {error}") from error
    return rows if counts.all() else rows.part(counts > 0)


def _weighed(adapter: Adapter, labels: Vector, counts: Vector) -> Vector:
    """The multiplicities times the weights of classes that the model was trained with, so that it keeps its aim."""
    if not adapter.task.has_classes:
        return counts
    balanced, groups = counts if adapter.balances_weights else np.ones(len(counts)), adapter.task.groups(labels)
    weighed = counts
    for class_weight in adapter.class_weights.given:
        factors = weights_by_class(class_weight, adapter.task, labels, balanced)
        weighed = weighed if factors is None else weighed * factors[groups]
    return weighed


def read_validation(adapter: Adapter, validation_data: Any) -> Any:
    """The rows of ``validation_data``, if given."""
    if validation_data is None:
        return None
    if not isinstance(validation_data, (tuple, list)) or len(validation_data) not in (2, 3):
        raise InvalidParameterError(
            f"validation_data of type {type(validation_data).__name__} must be a tuple (X, y) or (X, y, sample_weight)."
        )
    X, y, *weights = validation_data
    try:
        return read_rows(adapter, X, y, weights[0] if weights else None)
    except InvalidDataError as error:
        raise InvalidDataError(f"In validation_data: {error}") from error


def _require_same_columns(adapter: Adapter, X: Any) -> int:
    """The number of rows of X, whose columns must be those of the model."""
    expected, names = adapter.n_features, adapter.feature_names
    shape = getattr(X, "shape", None) or np.shape(X)
    if len(shape) != 2:
        raise InvalidDataError(
            f"X of type {type(X).__name__} and shape {tuple(shape)} must be a table of rows and columns: an array or a "
            "data frame."
        )
    if not shape[0]:
        raise InvalidDataError("X has no rows.")
    if expected is not None and shape[1] != expected:
        raise InvalidDataError(
            f"X has {shape[1]} columns, but the model was trained on {expected}; pass the same ones in the same order."
        )
    table = as_table(X)
    if names is not None and table is not None and table.has_names:
        given = [str(name) for name in table.names]
        different = [(a, b) for a, b in zip(given, names, strict=True) if a != b]
        if different:
            raise InvalidDataError(
                f"X has a column {different[0][0]!r} where the model was trained on {different[0][1]!r}; pass the same "
                "columns in the same order."
            )
    return int(shape[0])
