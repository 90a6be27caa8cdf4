"""Parameters and objects in a model file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import Field
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from ..errors import InvalidParameterError, ModelFileWarning, UnsupportedModelError
from ..formulations import FORMULATIONS, NUMBER_LOSSES, Formulation
from ..learners import LEARNERS
from ..solvers import SOLVERS, SolverOptions
from .checks import choice, fail, fields, flag, inside, integer, items, number, shown, text

Check = Callable[[Any, str], Any]


def describe_formulation(formulation: Formulation) -> dict[str, Any]:
    return _describe_named(formulation, "formulation", FORMULATIONS)


def describe_loss(loss: Formulation) -> dict[str, Any]:
    """The loss of a regressor."""
    return _describe_named(loss, "loss", NUMBER_LOSSES)


def _describe_named(value: Formulation, argument: str, kinds: Mapping[str, type[Any]]) -> dict[str, Any]:
    if kinds.get(value.name) is not type(value):
        raise UnsupportedModelError(
            f"{argument}={value!r} is not one of dualboost's; use one of {sorted(kinds)}, or pickle the model."
        )
    return {"name": value.name} | _describe_arguments(value)


def describe_learner(learner: Any) -> Any:
    """A learner as JSON: a name unchanged, a learner object as an object, a list member by member."""
    if isinstance(learner, list):
        return [describe_learner(member) for member in learner]
    if isinstance(learner, str):
        return learner
    name = getattr(learner, "name", None)
    if not isinstance(name, str) or LEARNERS.get(name) is not type(learner):
        raise UnsupportedModelError(
            f"learner={learner!r} cannot be written to a model file, which holds trees of dualboost only; fit with "
            f"learner={' or '.join(map(repr, LEARNERS))}, or pickle the model."
        )
    return {"name": name} | _describe_arguments(learner)


def describe_solver(solver: SolverOptions | None) -> dict[str, Any] | None:
    return None if solver is None else _describe_arguments(solver)


def _describe_arguments(value: Any) -> dict[str, Any]:
    return {name: plain(argument) for name, argument in value.get_params(deep=False).items()}


def plain(value: Any) -> Any:
    """numpy's numbers and arrays, and tuples, as numbers and lists that JSON can write."""
    if isinstance(value, (tuple, list)):
        return [plain(entry) for entry in value]
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value


def read_formulation(value: Any, where: str) -> Any:
    return _read_named(value, where, FORMULATIONS)


def read_loss(value: Any, where: str) -> Any:
    return _read_named(value, where, NUMBER_LOSSES)


def read_learner(value: Any, where: str) -> Any:
    if type(value) is list:
        return [_read_one_learner(member, inside(where, k)) for k, member in enumerate(value)]
    return _read_one_learner(value, where)


def _read_one_learner(value: Any, where: str) -> Any:
    return choice(value, where, LEARNERS) if type(value) is str else _read_named(value, where, LEARNERS)


def read_solver(value: Any, where: str) -> SolverOptions:
    entry = fields(value, where, tuple(SOLVER))
    arguments = {name: check(entry[name], inside(where, name)) for name, check in SOLVER.items()}
    return made(SolverOptions, arguments, where)


def _read_named(value: Any, where: str, kinds: Mapping[str, type[Any]]) -> Any:
    """The object of the kind given by the key ``name``; all of its arguments must be there, but for newer ones."""
    name = choice(fields(value, where, ("name",), value)["name"], inside(where, "name"), kinds)
    arguments = dataclass_fields(kinds[name])
    newer = [one.name for one in arguments if one.metadata.get("may_lack")]
    fields(value, where, ("name", *(one.name for one in arguments if one.name not in newer)), newer)
    found = {
        one.name: _same_kind(one)(value[one.name], inside(where, one.name)) for one in arguments if one.name in value
    }
    return made(kinds[name], found, where)


def made(kind: Callable[..., Any], arguments: dict[str, Any], where: str) -> Any:
    try:
        return kind(**arguments)
    except InvalidParameterError as error:
        fail(where, f"is refused: {error}")


def _same_kind(field: Field[Any]) -> Check:
    """The check for an argument, inferred from its metadata or default; a default of None means a number or null."""
    if field.metadata.get("is_list"):
        return optional(_whole_numbers)
    if field.metadata.get("is_levels"):
        return _levels
    default = field.default
    if isinstance(default, bool):
        return flag
    if isinstance(default, str):
        return text
    if isinstance(default, tuple):
        return lambda value, where: tuple(fractions(value, where))
    return whole_or_fraction if isinstance(default, float) else optional(whole_or_fraction)


def whole_or_fraction(value: Any, where: str) -> Any:
    """A number, unchanged: a whole number is not turned into a float."""
    number(value, where)
    return value


def _levels(value: Any, where: str) -> Any:
    """A number, or a list of numbers as a tuple."""
    return tuple(fractions(value, where)) if type(value) is list else whole_or_fraction(value, where)


def fractions(value: Any, where: str) -> list[float]:
    """A list of numbers."""
    return [number(entry, inside(where, k)) for k, entry in enumerate(items(value, where))]


def optional(check: Check) -> Check:
    return lambda value, where: None if value is None else check(value, where)


def _whole_numbers(value: Any, where: str) -> Any:
    """A list of whole numbers, or of lists of whole numbers, as tuples."""
    found: list[Any] = []
    for k, entry in enumerate(items(value, where)):
        place = inside(where, k)
        if type(entry) is list:
            found.append(tuple(integer(one, inside(place, n)) for n, one in enumerate(entry)))
        else:
            found.append(integer(entry, place))
    return tuple(found)


def _entering(value: Any, where: str) -> Any:
    return text(value, where) if type(value) is str else integer(value, where)


SOLVER: dict[str, Check] = {
    "method": lambda value, where: choice(value, where, ("auto", *SOLVERS)),
    "reoptimize": text,
    "columns_per_iteration": _entering,
    "schedule": text,
    "active_rows": optional(integer),
}
"""The check for each option of the solver."""


REPLACEABLE = {"callbacks": int, "cv": int, "random_state": int, "scoring": str}
"""Parameters that are written only if they have this type, and else as null; a fitted model does not need them."""

SAVED_BY_USER = 8
"""The ``stacklevel`` that makes a warning point to the user's call of ``save``."""


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
    "optimize": optional(text),
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
