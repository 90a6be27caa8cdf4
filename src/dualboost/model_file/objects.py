"""Parameters and objects in a model file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import Field
from dataclasses import fields as dataclass_fields
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidParameterError, ModelFileWarning, UnsupportedModelError
from ..formulations import FORMULATIONS, NUMBER_LOSSES, Formulation, NumberLoss
from ..learners import LEARNERS
from ..parameters import Choice, CountOrShare, Flag, Integer, Kind, Other, Parameter, parameters_of
from ..solvers import SOLVERS, SolverOptions
from .checks import choice, fail, fields, flag, inside, integer, items, number, spelled, text

Check = Callable[[Any, str], Any]


def write_formulation(value: Any) -> Any:
    """A name, or a formulation object."""
    return value if isinstance(value, str) else describe_formulation(value)


def describe_formulation(value: Formulation) -> dict[str, Any]:
    """A formulation, or the loss of a regressor."""
    known = NUMBER_LOSSES if isinstance(value, NumberLoss) else FORMULATIONS
    if known.get(value.name) is not type(value):
        raise UnsupportedModelError(
            f"{'loss' if isinstance(value, NumberLoss) else 'formulation'}={value!r} is not one of dualboost's; use "
            f"one of {sorted(known)}, or pickle the model."
        )
    return {"name": value.name} | _arguments(value)


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
    return {"name": name} | _arguments(learner)


def _arguments(value: Any) -> dict[str, Any]:
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
    return made(SolverOptions, {name: check(entry[name], inside(where, name)) for name, check in SOLVER.items()}, where)


def _read_named(value: Any, where: str, types: Mapping[str, type[Any]]) -> Any:
    name = choice(fields(value, where, ("name",), value)["name"], inside(where, "name"), types)
    arguments = dataclass_fields(types[name])
    fields(value, where, ("name", *(one.name for one in arguments)))
    found = {one.name: _same_kind(one)(value[one.name], inside(where, one.name)) for one in arguments}
    return made(types[name], found, where)


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
        return lambda value, where: tuple(_fractions(value, where))
    return whole_or_fraction if isinstance(default, float) else optional(whole_or_fraction)


def whole_or_fraction(value: Any, where: str) -> Any:
    """A number, unchanged: a whole number is not turned into a float."""
    number(value, where)
    return value


def _levels(value: Any, where: str) -> Any:
    return tuple(_fractions(value, where)) if type(value) is list else whole_or_fraction(value, where)


def optional(check: Check) -> Check:
    return lambda value, where: None if value is None else check(value, where)


def _listed(check: Check) -> Check:
    return lambda value, where: [check(entry, inside(where, k)) for k, entry in enumerate(items(value, where))]


def _one_of(kind: type, check: Check, otherwise: Check) -> Check:
    return lambda value, where: check(value, where) if type(value) is kind else otherwise(value, where)


_fractions = _listed(number)


def _whole_numbers(value: Any, where: str) -> Any:
    entries = _listed(_one_of(list, _listed(integer), integer))(value, where)
    return tuple(tuple(entry) if isinstance(entry, list) else entry for entry in entries)


SOLVER: dict[str, Check] = {
    "method": lambda value, where: choice(value, where, ("auto", *SOLVERS)),
    "reoptimize": text,
    "columns_per_iteration": _one_of(str, text, integer),
    "schedule": text,
    "active_rows": optional(integer),
}
"""The check for each option of the solver."""


SAVED_BY_USER = 7
"""The ``stacklevel`` that makes a warning point to the user's call of ``save``."""


class Codec(NamedTuple):
    """How the values of a parameter are read and written."""

    read: Check
    write: Callable[[Any], Any] = plain
    only: type | None = None
    """Values of other types are written as null, with a warning: a fitted model does not need them."""


def describe_parameters(estimator: Any) -> dict[str, Any]:
    described = {}
    known = parameters_of(type(estimator).__name__)
    for name, value in estimator.get_params(deep=False).items():
        codec = codec_of(known[name])
        is_written = value is None or codec.only is None or type(plain(value)) is codec.only
        if not is_written:
            warnings.warn(
                f"{name}={value!r} cannot be written to a model file and is None there: set it before you fit a model "
                "that was loaded.",
                ModelFileWarning,
                stacklevel=SAVED_BY_USER,
            )
        described[name] = codec.write(value) if is_written else None
    return described


def read_parameters(value: Any, where: str, kind: str) -> dict[str, Any]:
    """The parameters of the estimator."""
    known = parameters_of(kind)
    fields(value, where, tuple(known))
    return {name: codec_of(one).read(value[name], inside(where, name)) for name, one in known.items()}


def codec_of(parameter: Parameter) -> Codec:
    """The codec of a parameter by its name or kind; the estimator checks ranges."""
    codec = CODECS[parameter.name] if isinstance(parameter.kind, Other) else Codec(_check_of(parameter.kind))
    return codec._replace(read=optional(codec.read)) if parameter.default is None else codec


def _check_of(kind: Kind) -> Check:
    match kind:
        case Integer():
            return integer
        case Choice():
            return text
        case Flag():
            return flag
        case CountOrShare(words=words) if words:
            return _one_of(str, text, whole_or_fraction)
    return whole_or_fraction


def _values(value: Any) -> Any:
    return plain(value) if np.ndim(value) == 0 else np.asarray(value, dtype=float).tolist()


def _weights_of_classes(value: Any) -> Any:
    """A dict as a list of classes with their weights, since the keys of JSON are strings."""
    if not isinstance(value, dict):
        return value
    return [{"class": plain(name), "weight": plain(weight)} for name, weight in value.items()]


def _sets_of_features(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else [sorted(plain(list(group))) for group in value]


def _signs_of_features(value: Any) -> Any:
    if isinstance(value, dict):
        return [{"feature": plain(name), "sign": int(sign)} for name, sign in value.items()]
    return None if value is None else [int(sign) for sign in value]


def _nothing(value: Any, where: str) -> None:
    fail(where, "must be null: a file holds no functions")


_class_name = _one_of(str, text, _one_of(bool, flag, whole_or_fraction))
_column = _one_of(str, text, _one_of(bool, flag, integer))


def _pairs(value: Any, where: str, keys: tuple[str, str], checks: tuple[Check, Check]) -> dict[Any, Any]:
    """A dict from a list of objects with two keys, the first of which has no value twice."""
    found: dict[Any, Any] = {}
    for k, entry in enumerate(items(value, where)):
        place = inside(where, k)
        pair = fields(entry, place, keys)
        name, value_of_name = (check(pair[key], inside(place, key)) for key, check in zip(keys, checks, strict=True))
        if name in found:
            fail(inside(place, keys[0]), f"is {spelled(name)}, which has a {keys[1]} already")
        found[name] = value_of_name
    return found


def _class_weights(value: Any, where: str) -> dict[Any, Any]:
    return _pairs(value, where, ("class", "weight"), (_class_name, whole_or_fraction))


def _signs(value: Any, where: str) -> Any:
    if items(value, where) and type(value[0]) is dict:
        return _pairs(value, where, ("feature", "sign"), (text, _sign))
    return _listed(_sign)(value, where)


def _sign(value: Any, where: str) -> int:
    if integer(value, where) not in (-1, 0, 1):
        fail(where, f"is {spelled(value)}; it must be -1, 0 or 1")
    return int(value)


CODECS = {
    "formulation": Codec(
        _one_of(str, lambda value, where: choice(value, where, FORMULATIONS), read_formulation), write_formulation
    ),
    "loss": Codec(_one_of(str, lambda value, where: choice(value, where, NUMBER_LOSSES), read_loss), write_formulation),
    "C": Codec(whole_or_fraction),
    "Cs": Codec(_one_of(int, integer, _fractions), _values),
    "quantiles": Codec(_fractions),
    "learner": Codec(read_learner, describe_learner),
    "solver": Codec(read_solver, lambda value: None if value is None else _arguments(value)),
    "monotonic_cst": Codec(_signs, _signs_of_features),
    "interaction_cst": Codec(
        _one_of(str, text, lambda value, where: [set(group) for group in _listed(_listed(integer))(value, where)]),
        _sets_of_features,
    ),
    "categorical_features": Codec(optional(_one_of(str, text, _listed(_column)))),
    "class_weight": Codec(_one_of(str, text, _class_weights), _weights_of_classes),
    "n_jobs": Codec(integer),
    "verbose": Codec(_one_of(bool, flag, integer)),
    "cv": Codec(integer, only=int),
    "random_state": Codec(integer, only=int),
    "scoring": Codec(text, only=str),
    "callbacks": Codec(_nothing, only=type(None)),
}
"""The codecs of parameters whose kind is their own."""
