"""Writes and reads the parameters of an estimator in a model file."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ModelFileWarning
from ..formulations import FORMULATIONS
from ..formulations.number_losses import NUMBER_LOSSES
from .checks import choice, fail, fields, flag, inside, integer, items, shown, text
from .objects import (
    describe_formulation,
    describe_learner,
    describe_loss,
    describe_solver,
    fractions,
    optional,
    plain,
    read_formulation,
    read_learner,
    read_loss,
    read_solver,
    whole_or_fraction,
)

REPLACEABLE = {"callbacks": int, "cv": int, "random_state": int, "scoring": str}
"""Parameters that are written only if they have this type, and else as null; a fitted model does not need them."""

SAVED_BY_USER = 8
"""The ``stacklevel`` that makes a warning point to the user's call of ``save``."""

Check = Callable[[Any, str], Any]


def describe_parameters(estimator: Any) -> dict[str, Any]:
    described = {}
    for name, value in estimator.get_params(deep=False).items():
        described[name] = _describe(name, value)
    return described


def _describe(name: str, value: Any) -> Any:
    if name in REPLACEABLE and value is not None and type(plain(value)) is not REPLACEABLE[name]:
        warnings.warn(
            f"{name}={value!r} cannot be written to a model file and is None there: set it before you fit a model that "
            "was loaded.",
            ModelFileWarning,
            stacklevel=SAVED_BY_USER,
        )
        return None
    return DESCRIPTIONS.get(name, plain)(value)


def _describe_values(value: Any) -> Any:
    return plain(value) if np.ndim(value) == 0 else np.asarray(value, dtype=float).tolist()


def _describe_class_weight(value: Any) -> Any:
    """A dict as a list of classes with their weights, since the keys of JSON are strings."""
    if not isinstance(value, dict):
        return value
    return [{"class": plain(name), "weight": plain(weight)} for name, weight in value.items()]


def _describe_groups(value: Any) -> Any:
    """Sets of features as lists."""
    return value if value is None or isinstance(value, str) else [sorted(plain(list(group))) for group in value]


def _describe_signs(value: Any) -> Any:
    """A dict as a list of features with their signs."""
    if isinstance(value, dict):
        return [{"feature": plain(name), "sign": int(sign)} for name, sign in value.items()]
    return None if value is None else [int(sign) for sign in value]


DESCRIPTIONS: dict[str, Callable[[Any], Any]] = {
    "formulation": lambda value: value if isinstance(value, str) else describe_formulation(value),
    "loss": lambda value: value if isinstance(value, str) else describe_loss(value),
    "learner": describe_learner,
    "solver": describe_solver,
    "Cs": _describe_values,
    "class_weight": _describe_class_weight,
    "interaction_cst": _describe_groups,
    "monotonic_cst": _describe_signs,
}
"""How the parameters that are not plain numbers or strings are written."""


def read_parameters(value: Any, where: str, kind: str) -> dict[str, Any]:
    """The parameters of the estimator; parameters that are newer than the file have their defaults."""
    of_others = {name for names in ARGUMENTS_OF_SOME.values() for name in names} - set(ARGUMENTS_OF_SOME[kind])
    found = fields(value, where, (), [name for name in PARAMETERS if name not in of_others])
    return {name: PARAMETERS[name](entry, inside(where, name)) for name, entry in found.items()}


def _one_of(kind: type, check: Check, otherwise: Check) -> Check:
    return lambda value, where: check(value, where) if type(value) is kind else otherwise(value, where)


def _nothing(value: Any, where: str) -> None:
    if value is not None:
        fail(where, "must be null: a file holds no functions")


def _class_name(value: Any, where: str) -> Any:
    """A string, a boolean or a number."""
    return _one_of(str, text, _one_of(bool, flag, whole_or_fraction))(value, where)


def _class_weights(value: Any, where: str) -> dict[Any, Any]:
    """The weights by class."""
    found: dict[Any, Any] = {}
    for k, entry in enumerate(items(value, where)):
        place = inside(where, k)
        pair = fields(entry, place, ("class", "weight"))
        name = _class_name(pair["class"], inside(place, "class"))
        if name in found:
            fail(inside(place, "class"), f"is {shown(name)}, which has a weight already")
        found[name] = whole_or_fraction(pair["weight"], inside(place, "weight"))
    return found


def _columns(value: Any, where: str) -> list[Any]:
    """Names, positions or truth values."""
    check = _one_of(str, text, _one_of(bool, flag, integer))
    return [check(entry, inside(where, k)) for k, entry in enumerate(items(value, where))]


def _groups(value: Any, where: str) -> list[set[int]]:
    """Sets of features, written as lists."""
    found = []
    for k, group in enumerate(items(value, where)):
        place = inside(where, k)
        found.append({integer(one, inside(place, n)) for n, one in enumerate(items(group, place))})
    return found


def _signs(value: Any, where: str) -> Any:
    """A sign for each feature, or those of some features by name."""
    entries = items(value, where)
    if entries and type(entries[0]) is not dict:
        return [_sign(entry, inside(where, k)) for k, entry in enumerate(entries)]
    found: dict[str, int] = {}
    for k, entry in enumerate(entries):
        place = inside(where, k)
        pair = fields(entry, place, ("feature", "sign"))
        name = text(pair["feature"], inside(place, "feature"))
        if name in found:
            fail(inside(place, "feature"), f"is {shown(name)}, which has a sign already")
        found[name] = _sign(pair["sign"], inside(place, "sign"))
    return found


def _sign(value: Any, where: str) -> int:
    if integer(value, where) not in (-1, 0, 1):
        fail(where, f"is {shown(value)}; it must be -1, 0 or 1")
    return int(value)


PARAMETERS: dict[str, Check] = {
    "formulation": _one_of(str, lambda value, where: choice(value, where, FORMULATIONS), read_formulation),
    "loss": _one_of(str, lambda value, where: choice(value, where, NUMBER_LOSSES), read_loss),
    "C": optional(whole_or_fraction),
    "quantiles": optional(fractions),
    "calibrate": optional(text),
    "corrects": optional(text),
    "epsilon": optional(whole_or_fraction),
    "learner": read_learner,
    "max_depth": optional(integer),
    "max_trees": optional(integer),
    "max_leaf_nodes": optional(integer),
    "min_samples_leaf": whole_or_fraction,
    "max_features": optional(_one_of(str, text, whole_or_fraction)),
    "subsample": optional(whole_or_fraction),
    "monotonic_cst": optional(_signs),
    "interaction_cst": optional(_one_of(str, text, _groups)),
    "tol": whole_or_fraction,
    "solver": optional(read_solver),
    "categorical_features": optional(_one_of(str, text, _columns)),
    "class_weight": optional(_one_of(str, text, _class_weights)),
    "validation_fraction": optional(whole_or_fraction),
    "n_iter_no_change": optional(integer),
    "scoring": optional(text),
    "calibration": text,
    "warm_start": flag,
    "time_limit": optional(whole_or_fraction),
    "n_jobs": optional(integer),
    "device": text,
    "random_state": optional(integer),
    "verbose": _one_of(bool, flag, integer),
    "Cs": _one_of(int, integer, fractions),
    "cv": optional(integer),
    "callbacks": _nothing,
    "select": text,
}
"""The check for the type of each parameter; its range is checked by the estimator itself."""

OF_CLASSIFIERS = ("formulation", "epsilon", "class_weight", "calibration")
OF_REGRESSORS = ("loss", "quantiles", "calibrate")
WITHOUT_TUNING = ("C", "n_iter_no_change", "warm_start")
WITH_TUNING = ("Cs", "cv", "select")
ARGUMENTS_OF_SOME = {
    "DualBoostClassifier": (*OF_CLASSIFIERS, *WITHOUT_TUNING),
    "DualBoostClassifierCV": (*OF_CLASSIFIERS, *WITH_TUNING),
    "DualBoostRegressor": (*OF_REGRESSORS, *WITHOUT_TUNING),
    "DualBoostRegressorCV": (*OF_REGRESSORS, *WITH_TUNING),
}
"""For each kind of estimator, those of its parameters that some other kind does not have."""
