"""Checks of the parameters of estimators, and the weights of classes."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from ..arguments import require_choice, require_flag, require_integer, require_jobs, require_positive, require_seed
from ..boosting.history import Iteration
from ..data.tables import require_categorical_features
from ..errors import InvalidDataError, InvalidParameterError, UnsupportedFormulationError
from ..learners import as_learners, makes_trees, require_learner
from ..matrix.remote_rows import on_device
from ..matrix.rows import DEVICES, Device, Rows, device_named
from ..solvers import SolverOptions
from ..targets import Target
from ..targets.scoring import make_scoring
from ..workers import ALONE, Communicator
from .limits import require_limits

BALANCED = "balanced"


def require_class_weight(value: Any) -> None:
    """Refuse what cannot be weights for any y."""
    if value is None or (isinstance(value, str) and value == BALANCED):
        return
    if not isinstance(value, dict):
        raise InvalidParameterError(
            f"class_weight={value!r} must be None, {BALANCED!r}, or a dict of weights by class, such as {{0: 1, 1: 5}}."
        )
    for name, weight in value.items():
        require_positive(f"class_weight[{name!r}]", weight)


def weights_by_class(
    class_weight: Any, target: Any, targets: Vector, weights: Vector, workers: Communicator = ALONE
) -> Vector | None:
    """What the weights of rows of each class, in sorted order, are multiplied by; None for nothing."""
    if class_weight is None:
        return None
    if isinstance(class_weight, dict):
        return _given(class_weight, target.classes)
    return _balanced(target.groups(targets), len(target.classes), weights, workers)


def _balanced(codes: Integers, n_classes: int, weights: Vector, workers: Communicator) -> Vector:
    """Weights under which all classes weigh the same, and all rows together as much as without.

    Rows are counted by their weights: a weight of two is the row twice.
    """
    totals = workers.sum(np.bincount(codes, weights=weights, minlength=n_classes))
    present = np.where(totals > 0, totals, 1.0)
    found: Vector = workers.sum(float(weights.sum())) / (np.count_nonzero(totals) * present)
    return found


def _given(by_class: dict[Any, Any], classes: NDArray[Any]) -> Vector:
    """The weight of each class, 1 where none is given.

    A key that is no class is a slip, unless every class has its weight: then y is a fold that lacks a class.
    """
    names = classes.tolist()
    unknown = [name for name in by_class if name not in names]
    if unknown and not all(name in by_class for name in names):
        raise InvalidParameterError(
            f"class_weight={by_class!r} has a weight for {unknown[0]!r}, which is no class of y; the classes are "
            f"{names}."
        )
    return np.array([float(by_class.get(name, 1.0)) for name in names])


def require_device(estimator: Any) -> None:
    """Refuse an unknown device, and learners that grow their trees in memory; whether it is there, ``fit`` asks."""
    if require_choice("device", estimator.device, DEVICES) == "cpu":
        return
    for member in as_learners(estimator.learner):
        if not getattr(member, "grows_on_devices", False):
            raise InvalidParameterError(
                f"learner={estimator.learner!r} grows trees in memory; with device={estimator.device!r} use 'xgboost'."
            )


def find_device(estimator: Any) -> Device:
    """The device that the estimator asks for; raises an error of ours where it is not to be had."""
    return device_named(estimator.device)


def rows_for(estimator: Any, target: Target, rows: Rows) -> Rows:
    """The rows, with their vectors where the estimator asks for them."""
    device = find_device(estimator)
    if not device.is_memory and target.n_outputs > 1:
        raise UnsupportedFormulationError(
            f"device={estimator.device!r} is for one score a row, and {target.n_outputs} classes or quantiles are "
            "asked "
            "for: use device='cpu'."
        )
    return on_device(rows, device)


LARGEST_WEIGHT = 1e90
"""Sums and products of larger ones would soon leave double precision, and a model file could not hold them."""

CALIBRATIONS = ["cross_fit", "training"]
"""What the curve of the probabilities is fitted to where no rows are held out."""


class EnsembleSize(NamedTuple):
    """The greatest depth of a tree, and the greatest number of trees."""

    depth: int
    trees: int


DEFAULT_SIZES = {"leaves": EnsembleSize(5, 50), "weights": EnsembleSize(1, 100)}
"""By what is corrected; ``benchmarks/defaults.py`` compares that of leaves with the defaults of other libraries."""


def as_callbacks(value: Any) -> list[Callable[[Iteration], Any]]:
    """The functions to call after each iteration: none, one, or several."""
    functions = [] if value is None else [value] if callable(value) else value
    if not isinstance(functions, (list, tuple)) or not all(map(callable, functions)):
        raise InvalidParameterError(
            f"callbacks={value!r} must be a function of one argument, a list of such functions, or None."
        )
    return list(functions)


def check_common(estimator: Any) -> None:
    """Check the parameters that all estimators have, except for C, which its formulation checks."""
    require_learner(estimator.learner)
    require_device(estimator)
    _require_optimize(estimator)
    _require_solver(estimator.solver)
    require_categorical_features(estimator.categorical_features)
    require_class_weight(estimator.class_weight)
    require_limits(estimator)
    require_flag("warm_start", estimator.warm_start)
    for name in ("max_depth", "max_trees"):
        if getattr(estimator, name) is not None:
            require_integer(name, getattr(estimator, name), least=1)
    verbose = estimator.verbose
    require_integer("verbose", int(verbose) if isinstance(verbose, bool) else verbose, least=0)
    require_jobs(estimator.n_jobs)
    require_seed(estimator.random_state)
    require_positive("tol", estimator.tol)
    if estimator.epsilon is not None:
        require_positive("epsilon", estimator.epsilon)
    require_choice("calibration", estimator.calibration, CALIBRATIONS)
    as_callbacks(estimator.callbacks)
    make_scoring(estimator.scoring)
    if estimator.time_limit is not None:
        require_positive("time_limit", estimator.time_limit)


def _require_optimize(estimator: Any) -> None:
    if estimator.optimize is None:
        return
    asked = require_choice("optimize", estimator.optimize, ["weights", "leaves"])
    if asked == "leaves" and not makes_trees(estimator.learner):
        raise InvalidParameterError(
            f"optimize='leaves' needs learners that are trees, 'cart', 'optimal' or 'xgboost', but learner is "
            f"{estimator.learner!r}; use optimize='weights'."
        )


def _require_solver(solver: Any) -> None:
    if solver is None:
        return
    if not isinstance(solver, SolverOptions):
        raise InvalidParameterError(f"solver={solver!r} must be a SolverOptions(...), or None.")
    solver.check()


def as_sample_weight(sample_weight: Any, n_rows: int) -> Vector:
    """``sample_weight`` as an array of floats; ones if it is None."""
    weights = as_part_of_weights(sample_weight, n_rows)
    if not weights.any():
        raise InvalidDataError("sample_weight is zero for every row; rows to train on need a positive weight.")
    return weights


def as_part_of_weights(sample_weight: Any, n_rows: int) -> Vector:
    """The same for a part of the rows, none of which need have a weight."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidDataError(
            f"sample_weight={reprlib.repr(sample_weight)} must be one number for each row, or None."
        ) from error
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise InvalidDataError(
            f"sample_weight has shape {weights.shape}; it must be one number for each of {n_rows} rows."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        worst = weights[~np.isfinite(weights) | (weights < 0)][0]
        raise InvalidDataError(f"sample_weight contains {worst}; every weight must be finite and non-negative.")
    if weights.max(initial=0.0) > LARGEST_WEIGHT:
        raise InvalidDataError(
            f"sample_weight contains {weights.max():g}; the largest weight may be {LARGEST_WEIGHT:g}: divide them by "
            "their mean."
        )
    return weights
