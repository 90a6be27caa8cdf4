"""Fits to rows that are spread over workers: which estimators can be so fitted, and where their trees are kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.merging import TrainingRows
from ..errors import InvalidParameterError
from ..pricing import as_learners
from ..pricing.record import NO_RECORD, NoRecord, TreeRecord
from .reading import TrainingSet

NEEDS_ALL_ROWS = {
    "validation_fraction": None,
    "n_iter_no_change": None,
    "scoring": None,
    "callbacks": None,
    "warm_start": False,
    "calibrate": None,
    "device": "cpu",
}
"""The parameters that need rows in one place, or the user's own process, with the values that do not."""
WITHOUT_EFFECT = ("n_jobs", "verbose", "time_limit", "calibration")
"""The parameters that change no tree."""


def require_for_workers(estimator: Any) -> None:
    """Refuse what needs all rows in one place, and learners that do not grow trees over workers."""
    for name, without in NEEDS_ALL_ROWS.items():
        value = getattr(estimator, name, without)
        if value is not without and value != without:
            raise InvalidParameterError(
                f"{name}={value!r} is not for fits over workers: leave it at {without!r}, or fit on one machine."
            )
    for member in as_learners(estimator.learner):
        if not getattr(member, "grows_over_workers", False):
            raise InvalidParameterError(
                f"learner={estimator.learner!r} grows trees on the rows of one machine; over workers use 'xgboost'."
            )


def tree_record(estimator: Any, data: TrainingSet, rows: TrainingRows) -> NoRecord:
    """Where the trees of this fit are kept; a record tells fits apart by their rows and parameters."""
    if data.checkpoint is None:
        return NO_RECORD
    counted = rows.group[rows.group >= 0]
    own = np.array([rows.keys[counted].sum(dtype=np.uint64), len(counted)], dtype=np.uint64)
    keys, n_rows = data.workers.sum(own).tolist()
    parameters = {name: repr(value) for name, value in sorted(estimator.get_params().items())}
    kept = {name: value for name, value in parameters.items() if name not in WITHOUT_EFFECT}
    return TreeRecord(data.checkpoint, {"n_rows": n_rows, "keys": keys, "parameters": kept}, data.workers)
