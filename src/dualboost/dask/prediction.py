"""Predictions for Dask's DataFrames and Arrays, computed partition by partition when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidDataError
from .partitions import is_array, is_collection


def predicted(estimator: Any, X: Any) -> Any:
    """``estimator.predict`` of each partition, lazily: a Series, or an array with one entry for each row."""
    if is_array(X):
        empty = _empty(estimator)
        blocks = X.rechunk({1: -1})
        return blocks.map_blocks(_of_block, estimator, "predict", dtype=empty.dtype, drop_axis=1, meta=empty)
    _require_collection(X)
    import pandas as pd

    meta = pd.Series(_empty(estimator), name="prediction")
    return X.map_partitions(_as_series, estimator, meta=meta)


def probabilities(estimator: Any, X: Any) -> Any:
    """``estimator.predict_proba`` of each partition, lazily: a column for each class."""
    classes = estimator.classes_.tolist()
    if is_array(X):
        blocks = X.rechunk({1: -1})
        chunks = (blocks.chunks[0], (len(classes),))
        meta = np.empty((0, len(classes)))
        return blocks.map_blocks(_of_block, estimator, "predict_proba", dtype=float, chunks=chunks, meta=meta)
    _require_collection(X)
    import pandas as pd

    meta = pd.DataFrame({label: pd.Series(dtype=float) for label in classes})
    return X.map_partitions(_as_frame, estimator, meta=meta)


def _of_rows(rows: Any, estimator: Any, method: str, number: int) -> Any:
    """What is predicted for the rows of a partition; an error names its number."""
    if not rows.shape[0]:
        return _empty(estimator) if method == "predict" else np.empty((0, len(estimator.classes_)))
    try:
        return getattr(estimator, method)(rows)
    except ValueError as error:  # of ours, or of scikit-learn's where columns have other names
        raise InvalidDataError(f"Partition {number}: {error}") from error


def _of_block(rows: Any, estimator: Any, method: str, block_id: tuple[int, ...] = (0,)) -> Any:
    return _of_rows(rows, estimator, method, block_id[0])


def _as_series(rows: Any, estimator: Any, partition_info: Any = None) -> Any:
    import pandas as pd

    found = _of_rows(rows, estimator, "predict", _number(partition_info))
    return pd.Series(found, index=rows.index, name="prediction")


def _as_frame(rows: Any, estimator: Any, partition_info: Any = None) -> Any:
    import pandas as pd

    found = _of_rows(rows, estimator, "predict_proba", _number(partition_info))
    return pd.DataFrame(found, index=rows.index, columns=estimator.classes_.tolist())


def _number(partition_info: Any) -> int:
    return int((partition_info or {}).get("number", 0))


def _empty(estimator: Any) -> Any:
    """The predictions for no rows."""
    return np.empty(0, dtype=estimator.classes_.dtype if hasattr(estimator, "classes_") else float)


def _require_collection(X: Any) -> None:
    if not is_collection(X):
        raise InvalidDataError(
            f"X is of type {type(X).__name__}; pass a Dask DataFrame or Array, or ask to_local() for rows in memory."
        )
