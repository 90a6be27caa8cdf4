"""Checks of the parameters of estimators, and the weights of rows and classes."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from ..arguments import (
    require_choice,
    require_integer,
    require_jobs,
    require_parameter,
    require_positive,
    require_seed,
)
from ..boosting.history import Iteration
from ..data.tables import require_categorical_features
from ..errors import InvalidDataError, InvalidParameterError
from ..learners import require_learner
from ..parameters import Parameter, parameters_of
from ..solvers import SolverOptions
from ..targets.scoring import make_scoring
from ..workers import ALONE, Communicator
from .modes import require_mode, require_modes

BALANCED = "balanced"
LARGEST_WEIGHT = 1e90
"""Sums and products of larger ones would soon leave double precision, and a model file could not hold them."""


class EnsembleSize(NamedTuple):
    """The greatest depth of a tree, and the greatest number of trees."""

    depth: int
    trees: int


DEFAULT_SIZES = {"leaves": EnsembleSize(5, 50), "weights": EnsembleSize(1, 100)}
"""By the value of ``optimize``; ``benchmarks/defaults.py`` compares the sizes for leaves with other libraries."""


def check_common(estimator: Any) -> None:
    """Check every parameter by the table, and the parameters that depend on the learner.

    The formulation checks itself and C, and only the data decide about Cs, cv, monotonic_cst and sets of features.
    """
    for name, parameter in table_of(estimator).items():
        require_parameter(parameter, getattr(estimator, name))
        if name in CHECKS:
            CHECKS[name](getattr(estimator, name))
    if estimator.optimize == "leaves":
        require_mode("leaves", estimator)
    require_modes(estimator)


def table_of(estimator: Any) -> dict[str, Parameter]:
    """The parameters of the estimator, or of the class that it is derived from."""
    return next(found for kind in type(estimator).__mro__ if (found := parameters_of(kind.__name__)))


def as_callbacks(value: Any) -> list[Callable[[Iteration], Any]]:
    """The functions to call after each iteration: none, one, or several."""
    functions = [] if value is None else [value] if callable(value) else value
    if not isinstance(functions, (list, tuple)) or not all(map(callable, functions)):
        raise InvalidParameterError(
            f"callbacks={value!r} must be a function of one argument, a list of such functions, or None."
        )
    return list(functions)


def require_solver(solver: Any) -> None:
    if solver is None:
        return
    if not isinstance(solver, SolverOptions):
        raise InvalidParameterError(f"solver={solver!r} must be a SolverOptions(...), or None.")
    solver.check()


def require_interactions(value: Any) -> None:
    if isinstance(value, str):
        require_choice("interaction_cst", value, ["pairwise", "no_interactions"])


def require_class_weight(value: Any) -> None:
    """Refuse values that cannot be weights of classes, whatever y is."""
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
    """The factors of the weights of rows by class, in sorted order; None for no factors."""
    if class_weight is None:
        return None
    if isinstance(class_weight, dict):
        return _given(class_weight, target.classes)
    return _balanced(target.groups(targets), len(target.classes), weights, workers)


def _balanced(codes: Integers, n_classes: int, weights: Vector, workers: Communicator) -> Vector:
    """Factors under which all classes have equal weight, and all rows together their weight without factors."""
    totals = workers.sum(np.bincount(codes, weights=weights, minlength=n_classes))
    present = np.where(totals > 0, totals, 1.0)
    factors: Vector = workers.sum(float(weights.sum())) / (np.count_nonzero(totals) * present)
    return factors


def _given(by_class: dict[Any, Any], classes: NDArray[Any]) -> Vector:
    """The weight of each class, 1 where none is given.

    A key that is no class is an error, unless every class has its weight: then y is a fold that lacks a class.
    """
    names = classes.tolist()
    unknown = [name for name in by_class if name not in names]
    if unknown and not all(name in by_class for name in names):
        raise InvalidParameterError(
            f"class_weight={by_class!r} has a weight for {unknown[0]!r}, which is no class of y; the classes are "
            f"{names}."
        )
    return np.array([float(by_class.get(name, 1.0)) for name in names])


def as_sample_weight(sample_weight: Any, n_rows: int) -> Vector:
    """``sample_weight`` as an array of floats; ones if it is None."""
    weights = as_part_of_weights(sample_weight, n_rows)
    if not weights.any():
        raise InvalidDataError("sample_weight is zero for every row; rows to train on need a positive weight.")
    return weights


def as_part_of_weights(sample_weight: Any, n_rows: int) -> Vector:
    """``sample_weight`` as an array of floats, which may all be zero: the other rows are elsewhere."""
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


CHECKS: dict[str, Callable[[Any], Any]] = {
    "learner": require_learner,
    "solver": require_solver,
    "categorical_features": require_categorical_features,
    "class_weight": require_class_weight,
    "interaction_cst": require_interactions,
    "verbose": lambda value: require_integer("verbose", int(value) if isinstance(value, bool) else value, least=0),
    "n_jobs": require_jobs,
    "random_state": require_seed,
    "callbacks": as_callbacks,
    "scoring": make_scoring,
}
"""The checks of parameters whose kind is their own."""
