"""Checks of the parameters of estimators and of ``sample_weight``."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._typing import Vector
from ..arguments import require_choice, require_flag, require_integer, require_jobs, require_positive, require_seed
from ..data.chosen import require_categorical_features
from ..errors import InvalidDataError, InvalidParameterError
from ..loop.history import Iteration
from ..masters import SolverOptions
from ..pricing import makes_trees, require_learner
from ..tasks.scoring import make_scoring
from .class_weights import require_class_weight
from .devices import require_device
from .limits import require_limits

LARGEST_WEIGHT = 1e90
"""Sums and products of larger ones would soon leave double precision, and a model file could not hold them."""

CALIBRATIONS = ["cross_fit", "training"]
"""What the curve of the probabilities is fitted to where no rows are held out."""


class EnsembleSize(NamedTuple):
    """The greatest depth of a tree, and the greatest number of trees."""

    depth: int
    trees: int


DEFAULT_SIZES = {"leaves": EnsembleSize(5, 50), "trees": EnsembleSize(1, 100)}
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
    _require_corrects(estimator)
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


def _require_corrects(estimator: Any) -> None:
    if estimator.corrects is None:
        return
    asked = require_choice("corrects", estimator.corrects, ["trees", "leaves"])
    if asked == "leaves" and not makes_trees(estimator.learner):
        raise InvalidParameterError(
            f"corrects='leaves' needs learners that are trees, 'cart', 'optimal' or 'xgboost', but learner is "
            f"{estimator.learner!r}; use corrects='trees'."
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
