"""The constructor's arguments in a model file."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import Field
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from ..errors import InvalidParameterError, ModelFileWarning, UnsupportedModelError
from ..formulations import FORMULATIONS, Formulation
from ..masters import MASTERS
from ..pricing import PRICERS
from .checks import choice, fail, fields, flag, inside, integer, items, number, text

REPLACEABLE = ("callbacks", "cv", "random_state")
"""Arguments of which at most numbers can be written; a fitted model does without them."""

SAVED_BY_USER = 7
"""How far up the call of ``save`` is from a warning about an argument."""

Check = Callable[[Any, str], Any]


def describe_parameters(estimator: Any) -> dict[str, Any]:
    described = {}
    for name, value in estimator.get_params(deep=False).items():
        described[name] = _describe(name, value)
    return described


def _describe(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if name == "formulation" and not isinstance(value, str):
        return describe_formulation(value)
    if name == "learner":
        return _describe_learner(value)
    if name == "Cs" and not isinstance(value, int):
        return np.asarray(value, dtype=float).tolist()
    if name in REPLACEABLE and value is not None and type(value) is not int:
        warnings.warn(
            f"{name}={value!r} cannot be written to a model file and is None there: set it before you fit a model that "
            "was loaded.",
            ModelFileWarning,
            stacklevel=SAVED_BY_USER,
        )
        return None
    return value


def describe_formulation(formulation: Formulation) -> dict[str, Any]:
    if FORMULATIONS.get(formulation.name) is not type(formulation):
        raise UnsupportedModelError(
            f"formulation={formulation!r} is not one of dualboost's; use one of {sorted(FORMULATIONS)}, or pickle the "
            "model."
        )
    values = {field.name: getattr(formulation, field.name) for field in dataclass_fields(formulation)}
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
    return {"name": formulation.name} | plain


def _describe_learner(learner: Any) -> Any:
    if isinstance(learner, list):
        return [_describe_learner(member) for member in learner]
    if isinstance(learner, tuple):
        return {"name": learner[0], "max_depth": int(learner[1])}
    if isinstance(learner, str):
        return learner
    raise UnsupportedModelError(
        f"learner={learner!r} cannot be written to a model file, which holds trees of dualboost only; fit with "
        f"learner={' or '.join(map(repr, PRICERS))}, or pickle the model."
    )


def read_parameters(value: Any, where: str, kind: str) -> dict[str, Any]:
    """Arguments of the constructor; those that came after the file was written keep their defaults."""
    of_others = {name for other, names in ARGUMENTS_OF_ONE.items() if other != kind for name in names}
    found = fields(value, where, (), [name for name in PARAMETERS if name not in of_others])
    return {name: PARAMETERS[name](entry, inside(where, name)) for name, entry in found.items()}


def read_formulation(value: Any, where: str) -> Formulation:
    name = choice(fields(value, where, ("name",), value)["name"], inside(where, "name"), FORMULATIONS)
    kind = FORMULATIONS[name]
    checks = {field.name: _same_kind(field) for field in dataclass_fields(kind)}
    fields(value, where, ("name", *checks))
    try:
        return kind(**{name: check(value[name], inside(where, name)) for name, check in checks.items()})
    except InvalidParameterError as error:
        fail(where, f"is refused: {error}")


def _same_kind(field: Field[Any]) -> Check:
    """What a formulation's argument must be, judging by its default, unless it says more; that of C is None."""
    if field.metadata.get("is_list"):
        return _optional(_whole_numbers)
    default = field.default
    return text if isinstance(default, str) else _number if isinstance(default, float) else _optional(_number)


def _learner(value: Any, where: str) -> Any:
    if type(value) is list:
        return [_learner_of_pool(member, inside(where, k)) for k, member in enumerate(value)]
    return _learner_of_pool(value, where)


def _learner_of_pool(value: Any, where: str) -> Any:
    if type(value) is str:
        return choice(value, where, PRICERS)
    entry = fields(value, where, ("name", "max_depth"))
    depth = integer(entry["max_depth"], inside(where, "max_depth"), 1)
    return choice(entry["name"], inside(where, "name"), PRICERS), depth


def _number(value: Any, where: str) -> Any:
    """A number as it is: a whole one stays whole."""
    number(value, where)
    return value


def _optional(check: Check) -> Check:
    return lambda value, where: None if value is None else check(value, where)


def _one_of(kind: type, check: Check, otherwise: Check) -> Check:
    return lambda value, where: check(value, where) if type(value) is kind else otherwise(value, where)


def _nothing(value: Any, where: str) -> None:
    if value is not None:
        fail(where, "must be null: a file holds no functions")


def _whole_numbers(value: Any, where: str) -> Any:
    """A list of whole numbers, or of lists of them."""
    found: list[Any] = []
    for k, entry in enumerate(items(value, where)):
        place = inside(where, k)
        if type(entry) is list:
            found.append([integer(one, inside(place, n)) for n, one in enumerate(entry)])
        else:
            found.append(integer(entry, place))
    return found


def _numbers(value: Any, where: str) -> Any:
    return [number(entry, inside(where, k)) for k, entry in enumerate(items(value, where))]


PARAMETERS: dict[str, Check] = {
    "formulation": _one_of(str, lambda value, where: choice(value, where, FORMULATIONS), read_formulation),
    "C": _optional(_number),
    "epsilon": _number,
    "learner": _learner,
    "max_depth": integer,
    "voting": text,
    "max_trees": integer,
    "tol": _number,
    "master": lambda value, where: choice(value, where, ("auto", *MASTERS)),
    "validation_fraction": _optional(_number),
    "n_iter_no_change": _optional(integer),
    "time_limit": _optional(_number),
    "n_jobs": _optional(integer),
    "random_state": _optional(integer),
    "verbose": _one_of(bool, flag, integer),
    "reoptimize": text,
    "criterion": text,
    "pool": text,
    "columns_per_iteration": _one_of(str, text, integer),
    "n_thresholds": _optional(integer),
    "tree_time_limit": _number,
    "Cs": _one_of(int, integer, _numbers),
    "cv": _optional(integer),
    "callbacks": _nothing,
    "select": text,
}
"""What each argument may be; its range is checked by the estimator itself."""

ARGUMENTS_OF_ONE = {
    "DualBoostClassifier": ("C", "n_iter_no_change"),
    "DualBoostClassifierCV": ("Cs", "cv", "select"),
}
"""Arguments that the other kind of estimator does not have."""
