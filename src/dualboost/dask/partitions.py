"""From Dask's DataFrames and Arrays to parts of the training rows, which stay on the workers that hold them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidDataError, MissingDependencyError
from ..extras import how_to_install


class Part(NamedTuple):
    """Some rows, as pandas' DataFrame and Series, or as arrays."""

    X: Any
    y: Any
    weights: Any = None

    @property
    def n_counted(self) -> int:
        """The number of rows with a weight."""
        return len(self.y) if self.weights is None else int(np.count_nonzero(np.asarray(self.weights) > 0))


def require_distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingDependencyError(f"dualboost.dask needs Dask: {how_to_install('dask', 'distributed')}.") from error
    return distributed


def delayed_parts(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """A ``Part`` for each partition, computed where its rows are."""
    from dask.delayed import delayed

    columns = [_delayed("X", X), _delayed("y", y)]
    if sample_weight is not None:
        columns.append(_delayed("sample_weight", sample_weight))
    sizes = [len(column) for column in columns]
    if len(set(sizes)) > 1:
        raise InvalidDataError(
            f"X, y and sample_weight have {', '.join(map(str, sizes))} partitions; they must be divided alike: take y "
            "from the same DataFrame as X, or rechunk the arrays."
        )
    return [delayed(Part)(*column) for column in zip(*columns, strict=True)]


def is_collection(X: Any) -> bool:
    """Whether it is one of Dask's DataFrames, Series or Arrays."""
    return hasattr(X, "dask") and hasattr(X, "to_delayed")


def is_array(X: Any) -> bool:
    return is_collection(X) and hasattr(X, "chunks")


def _delayed(name: str, values: Any) -> list[Any]:
    if not is_collection(values):
        raise InvalidDataError(
            f"{name} is of type {type(values).__name__}; pass a Dask DataFrame, Series or Array, or fit the ordinary "
            "estimator on one machine."
        )
    if is_array(values) and values.ndim > 1:
        values = values.rechunk({1: -1})  # a part has all features of its rows
    # An optimised graph may read small columns of several files as one partition, and large ones one by one.
    return list(np.ravel(values.to_delayed(optimize_graph=False)))


def joined_parts(parts: list[Part]) -> Part:
    """The rows of several partitions; empty ones, whose columns may have lost their types, are left out."""
    filled = [part for part in parts if len(part.y)]
    columns = [[values for values in column if values is not None] for column in zip(*filled, strict=True)]
    return Part(*(_joined(column) if column else None for column in columns))


def _joined(pieces: list[Any]) -> Any:
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    import pandas as pd

    if all(isinstance(getattr(piece, "dtype", None), pd.CategoricalDtype) for piece in pieces):
        return pd.concat([piece.astype(object) for piece in pieces])
    return pd.concat(pieces)
