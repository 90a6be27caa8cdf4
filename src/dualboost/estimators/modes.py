"""Modes of fits, such as rows on disk, and which learners and parameters support them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..boosting.leaf_context import LeafFitContext
from ..boosting.paths import EarlierFit
from ..data.merging import TrainingRows
from ..data.on_disk import RowsOnDisk
from ..data.tables import require_categorical_features
from ..errors import InvalidDataError, InvalidParameterError
from ..learners import as_learners
from ..learners.base import NO_RECORD, NoRecord, TreeRecord
from ..matrix.remote_rows import on_device
from ..matrix.rows import Device, Rows, device_named
from ..models.fitted import FittedModel
from ..targets import Target
from ..trees.ordering import leaf_order
from ..trees.tree import Learner, Tree
from .limits import DEFAULTS, LIMITS, has_effect, limits_of

if TYPE_CHECKING:
    from .reading import Problem, TrainingSet


class Mode(NamedTuple):
    """What a mode needs: a capability of every learner, and parameters that have no effect."""

    parameters: tuple[str, ...]
    """The parameters that must be at their defaults."""
    refusal: str
    """The message for another value of these."""
    capability: str | None = None
    """The attribute that every learner must have."""
    lack: str = ""
    """The message for a learner without it."""


ONE_PROCESS = ("validation_fraction", "n_iter_no_change", "scoring", "callbacks", "warm_start", "interval_calibration")
"""The parameters that need all rows in one place, or the process of the user."""

MODES = {
    "leaves": Mode(
        (),
        "",
        "grower",
        "optimize='leaves' needs learners that are trees, 'cart', 'optimal' or 'xgboost', but learner is {learner!r}; "
        "use optimize='weights'.",
    ),
    "weights": Mode(
        ("subsample", "max_features"),
        "{name}={value!r} draws at random, which is for optimize='leaves': the weights of trees are optimal only if "
        "every tree is looked for on all rows and features. Leave {name} at {default!r}.",
    ),
    "learners without limits": Mode(
        LIMITS,
        "{name}={value!r} is kept by learner='cart' and 'xgboost' only, but learner is {learner!r}: leave {name} at "
        "{default!r}, or use 'cart'.",
    ),
    "several scores": Mode(
        ("device", "monotonic_cst"),
        "{name}={value!r} is for one score a row, two classes or numbers, but y has {n_scores} scores ({scores}): "
        "leave it at {default!r}, or fit each alone.",
    ),
    "device": Mode(
        (),
        "",
        "grows_on_devices",
        "learner={learner!r} grows trees in memory; with device={device!r} use 'xgboost'.",
    ),
    "rows on disk": Mode(
        ("warm_start",),
        "{name}={value!r} is for rows in memory; fit rows on disk from the start.",
        "takes_rows_on_disk",
        "learner={learner!r} needs all of X in memory; for rows on disk use learner='xgboost'.",
    ),
    "workers": Mode(
        (*ONE_PROCESS, "device"),
        "{name}={value!r} is not for fits over workers: leave it at {default!r}, or fit on one machine.",
        "grows_over_workers",
        "learner={learner!r} grows trees on the rows of one machine; over workers use 'xgboost'.",
    ),
}
"""The modes by name. The other modes are properties of formulations: how many classes, leaves or weights."""


def require_mode(name: str, estimator: Any, **facts: Any) -> None:
    """Refuse the first parameter or learner that does not support a mode; ``facts`` go into the message."""
    mode, given = MODES[name], {"learner": estimator.learner, "device": estimator.device} | facts
    for parameter in mode.parameters:
        value = getattr(estimator, parameter, DEFAULTS[parameter])
        if has_effect(parameter, value):
            given |= {"name": parameter, "value": value, "default": DEFAULTS[parameter]}
            raise InvalidParameterError(mode.refusal.format(**given))
    if not has_capability(estimator.learner, mode.capability):
        raise InvalidParameterError(mode.lack.format(**given))


def has_capability(learner: Any, capability: str | None) -> bool:
    """Whether all learners have it."""
    return capability is None or all(getattr(member, capability, False) for member in as_learners(learner))


def require_modes(estimator: Any) -> None:
    """Refuse learners that lack the capabilities that other parameters need."""
    if not has_capability(estimator.learner, "takes_limits"):
        require_mode("learners without limits", estimator)
    if estimator.device != DEFAULTS["device"]:
        require_mode("device", estimator)


def find_device(estimator: Any) -> Device:
    """The device of the estimator; a device that is missing raises an error."""
    return device_named(estimator.device)


def rows_for(estimator: Any, target: Target, rows: Rows) -> Rows:
    """The rows, with their vectors on the device of the estimator."""
    if target.n_outputs > 1:
        require_mode("several scores", estimator, n_scores=target.n_outputs, scores=", ".join(target.output_names))
    return on_device(rows, find_device(estimator))


def on_disk(estimator: Any, X: Any) -> Any:
    """X, with a memory-mapped array as rows on disk where the estimator supports these."""
    is_mapped = isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind == "f"
    has_categories = bool(require_categorical_features(estimator.categorical_features))
    takes_them = has_capability(estimator.learner, MODES["rows on disk"].capability)
    if is_mapped and takes_them and not (has_categories or estimator.warm_start):
        return RowsOnDisk.of_array(X)
    if isinstance(X, RowsOnDisk):
        require_mode("rows on disk", estimator)
    return X


WITHOUT_EFFECT = ("n_jobs", "verbose", "time_limit", "calibration")
"""The parameters that change no tree."""


def tree_record(estimator: Any, data: TrainingSet, rows: TrainingRows) -> NoRecord:
    """Where the trees of this fit are kept; a record names the rows and the parameters of its fit."""
    if data.checkpoint is None:
        return NO_RECORD
    counted = rows.group[rows.group >= 0]
    own = np.array([rows.keys[counted].sum(dtype=np.uint64), len(counted)], dtype=np.uint64)
    keys, n_rows = data.workers.sum(own).tolist()
    parameters = {name: repr(value) for name, value in sorted(estimator.get_params().items())}
    kept = {name: value for name, value in parameters.items() if name not in WITHOUT_EFFECT}
    return TreeRecord(data.checkpoint, {"n_rows": n_rows, "keys": keys, "parameters": kept}, data.workers)


def earlier_fit(estimator: Any, problem: Problem, max_trees: int) -> EarlierFit | None:
    """The learners of the fit before, under ``warm_start=True``."""
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
    """Refuse trees that are not monotone where their votes are not optimised again."""
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
