"""Fits on disk, over workers, and from earlier trees: which estimators support them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..boosting.leaf_context import LeafFitContext
from ..boosting.paths import EarlierFit
from ..data.merging import TrainingRows
from ..data.on_disk import RowsOnDisk
from ..data.tables import require_categorical_features
from ..errors import InvalidDataError, InvalidParameterError
from ..learners import as_learners
from ..learners.base import NO_RECORD, NoRecord, TreeRecord
from ..models.fitted import FittedModel
from ..trees.ordering import leaf_order
from ..trees.tree import Learner, Tree
from .limits import limits_of
from .reading import Problem, TrainingSet


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


def earlier_fit(estimator: Any, problem: Problem, max_trees: int) -> EarlierFit | None:
    """The learners that the estimator has, if it is to go on from them."""
    if not estimator.warm_start or not estimator.__sklearn_is_fitted__():
        return None
    fitted: FittedModel = estimator.fitted_
    _require_same_data(fitted, problem)
    learners = list(fitted.ensemble.learners)
    if len(learners) > max_trees:
        raise InvalidParameterError(
            f"max_trees={max_trees} is less than the {len(learners)} trees that warm_start=True goes on from: give as "
            "many or more, or set warm_start=False."
        )
    _require_order(estimator, learners, problem)
    return EarlierFit(learners, problem.rows.X)


def _require_order(estimator: Any, learners: list[Learner], problem: Problem) -> None:
    """Refuse trees whose votes stay what they are where these are not in the order asked for."""
    signs = limits_of(estimator, problem.training_set, problem.rows, 0).signs
    if signs is None or isinstance(problem.fit_context, LeafFitContext):
        return
    for tree in (learner for learner in learners if isinstance(learner, Tree)):
        order = leaf_order(tree, signs)
        if order is not None and not np.array_equal(order.nearest(tree.votes), tree.votes):
            raise InvalidParameterError(
                f"monotonic_cst={estimator.monotonic_cst!r}, but warm_start=True goes on from trees that are not "
                "monotone: set warm_start=False."
            )


def _require_same_data(fitted: FittedModel, problem: Problem) -> None:
    """Refuse data that the trees of before cannot read."""
    data = problem.training_set
    before, now = fitted.ensemble.n_features, data.features.shape[1]
    if before != now:
        raise InvalidDataError(
            f"X has {now} features, but the trees that warm_start=True goes on from have {before}: pass the same "
            "features, or set warm_start=False."
        )
    codes = [{k: list(known) for k, known in one.categories.items()} for one in (fitted.encoder, data.encoder)]
    if codes[0] != codes[1]:
        raise InvalidDataError(
            "X has other categories than the trees that warm_start=True goes on from: pass the same rows, or set "
            "warm_start=False."
        )
    if fitted.target.name != data.target.name or fitted.target.output_names != data.target.output_names:
        raise InvalidDataError(
            f"y has {data.target.output_names or data.target.name}, but the trees that warm_start=True goes on "
            "from have "
            f"{fitted.target.output_names or fitted.target.name}: pass the same y, or set warm_start=False."
        )
