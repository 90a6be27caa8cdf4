"""Which estimators are fitted to rows that stay on disk."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.chosen import require_categorical_features
from ..data.on_disk import RowsOnDisk
from ..errors import InvalidParameterError
from ..pricing import as_learners


def on_disk(estimator: Any, X: Any) -> Any:
    """Rows on disk, if the estimator can be fitted to them; a memory-mapped array is one of them where it can."""
    takes_them = all(getattr(one, "takes_rows_on_disk", False) for one in as_learners(estimator.learner))
    is_mapped = isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind == "f"
    has_categories = bool(require_categorical_features(estimator.categorical_features))
    if is_mapped and takes_them and not (has_categories or estimator.warm_start):
        return RowsOnDisk.of_array(X)
    if not isinstance(X, RowsOnDisk):
        return X
    if not takes_them:
        raise InvalidParameterError(
            f"learner={estimator.learner!r} needs all of X in memory; for rows on disk use learner='xgboost'."
        )
    if estimator.warm_start:
        raise InvalidParameterError("warm_start=True is for rows in memory; fit rows on disk from the start.")
    return X
