"""Which features are neighbours: adjacent columns, the cells of a grid, or pairs that are given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._typing import Integers
from ..errors import InvalidParameterError

CHOICES = "choose None (adjacent columns), the shape of a grid such as (28, 28), or an array of pairs of columns"


def as_neighbours(given: Any) -> tuple[Any, ...] | None:
    """The argument ``neighbours``, checked, as tuples of numbers that can be compared and written to a file."""
    if given is None:
        return None
    try:
        numbers = np.asarray(given)
    except ValueError:
        numbers = np.zeros(0)
    is_shape, are_pairs = numbers.ndim == 1, numbers.ndim == 2 and numbers.shape[1] == 2
    if numbers.dtype.kind not in "iu" or not (is_shape or are_pairs) or not len(numbers):
        raise InvalidParameterError(f"neighbours={given!r} is not known: {CHOICES}.")
    if is_shape:
        if numbers.min() < 1:
            raise InvalidParameterError(f"neighbours={given!r}: a grid has at least one cell along each axis.")
        return tuple(numbers.tolist())
    if numbers.min() < 0 or (numbers[:, 0] == numbers[:, 1]).any():
        raise InvalidParameterError(f"neighbours={given!r}: a pair is two different columns, counted from 0.")
    return tuple(tuple(pair) for pair in numbers.tolist())


def neighbouring_pairs(neighbours: tuple[Any, ...] | None, n_features: int) -> Integers:
    """The pairs of neighbouring features, one row for each; no pair appears twice."""
    if neighbours is None or isinstance(neighbours[0], int):
        return _grid_pairs((n_features,) if neighbours is None else neighbours, n_features)
    pairs = np.sort(np.array(neighbours, dtype=np.intp), axis=1)
    if pairs.max() >= n_features:
        raise InvalidParameterError(
            f"neighbours names column {pairs.max()}, but X has {n_features} columns, counted from 0."
        )
    return np.unique(pairs, axis=0)


def most_neighbours(neighbours: tuple[Any, ...] | None) -> int:
    """The most neighbours that any feature has."""
    if neighbours is None or isinstance(neighbours[0], int):
        return 2 * len(neighbours or (1,))
    return int(np.bincount(np.unique(np.sort(neighbours, axis=1), axis=0).ravel()).max())


def _grid_pairs(shape: tuple[int, ...], n_features: int) -> Integers:
    if math.prod(shape) != n_features:
        raise InvalidParameterError(
            f"neighbours={shape!r} is a grid of {math.prod(shape)} cells, but X has {n_features} columns."
        )
    cells = np.arange(n_features, dtype=np.intp).reshape(shape)
    pairs = []
    for axis in range(cells.ndim):
        along = np.moveaxis(cells, axis, 0)
        pairs.append(np.column_stack([along[:-1].ravel(), along[1:].ravel()]))
    return np.concatenate(pairs)
