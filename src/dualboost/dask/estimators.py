"""The estimators that are fitted over a cluster, and their lazy predictions."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import clone

from ..arguments import warn_user
from ..errors import InvalidDataError, UnfittedModelError
from ..estimators.classifier import DualBoostClassifier
from ..estimators.modes import require_mode
from ..estimators.regressor import DualBoostRegressor
from ..workers import Traffic
from .cluster import fit_on_cluster, is_array, is_collection


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
    """The predictions for the rows of a partition; an error names its number."""
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
    return np.empty(0, dtype=estimator.classes_.dtype if hasattr(estimator, "classes_") else float)


def _require_collection(X: Any) -> None:
    if not is_collection(X):
        raise InvalidDataError(
            f"X is of type {type(X).__name__}; pass a Dask DataFrame or Array, or use to_local() for rows in memory."
        )


Estimator = TypeVar("Estimator", bound="DaskDualBoost")


class DaskDualBoost:
    """An ordinary estimator, fitted on the workers that hold the rows."""

    kind: ClassVar[type[Any]]
    """The ordinary estimator."""

    def __init__(self, *arguments: Any, client: Any = None, **parameters: Any) -> None:
        self._unfitted = self.kind(*arguments, **{"learner": "xgboost"} | parameters)
        self.client = client
        self._local: Any = None

    def __repr__(self) -> str:
        return f"Dask{self._unfitted!r}"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the ordinary estimator, and ``client``."""
        return {**self._unfitted.get_params(deep), "client": self.client}

    def set_params(self: Estimator, **parameters: Any) -> Estimator:
        self.client = parameters.pop("client", self.client)
        self._unfitted.set_params(**parameters)
        return self

    def fit(
        self: Estimator, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: str | PathLike[str] | None = None
    ) -> Estimator:
        """Train on Dask's DataFrames or Arrays; their partitions stay on the workers that hold them.

        X, y and ``sample_weight`` are divided into the same partitions, some of which may be empty. A fit that fails,
        or loses a worker, raises an error and leaves what was fitted before. With ``checkpoint``, a folder that all
        workers reach, the trees are saved there, and the next fit of the same rows and parameters goes on from
        them; the folder is empty again after a fit that is complete.
        """
        options = {} if checkpoint is None else {"checkpoint": str(Path(checkpoint).absolute())}
        local = clone(self._unfitted)
        local._check_parameters()
        require_mode("workers", local)
        first, *others = fit_on_cluster(clone(local), X, y, sample_weight, self.client, options)
        local._fitted = first.model
        self._local, self.traffic_, self.n_rows_ = local, first.traffic, [one.n_rows for one in (first, *others)]
        for message, category in first.warnings:
            warn_user(message, category)
        return self

    traffic_: Traffic
    """The messages that one worker has sent during the fit, and their bytes, without the messages of XGBoost."""
    n_rows_: list[int]
    """How many rows each worker has trained on."""

    def to_local(self) -> Any:
        """The fitted model as an ordinary estimator, for rows in memory, model files and all else."""
        if self._local is None:
            raise UnfittedModelError(f"This {type(self).__name__} is not fitted yet: call fit first.")
        return self._local

    def predict(self, X: Any) -> Any:
        """The predictions for a Dask DataFrame or Array, computed lazily."""
        return predicted(self.to_local(), X)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not name.endswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.to_local(), name)


class DaskDualBoostClassifier(DaskDualBoost):
    """``DualBoostClassifier`` over a Dask cluster.

    It has the parameters of ``DualBoostClassifier``, with ``learner="xgboost"`` by default, and ``client``, the
    ``distributed.Client``; None takes the one that is open. It has the attributes of ``to_local()``, ``traffic_``
    and ``n_rows_``.
    """

    kind: ClassVar[type[Any]] = DualBoostClassifier

    def predict_proba(self, X: Any) -> Any:
        """The probabilities for a Dask DataFrame or Array, a column for each class, computed lazily."""
        return probabilities(self.to_local(), X)


class DaskDualBoostRegressor(DaskDualBoost):
    """``DualBoostRegressor`` over a Dask cluster; see ``DaskDualBoostClassifier``."""

    kind: ClassVar[type[Any]] = DualBoostRegressor
