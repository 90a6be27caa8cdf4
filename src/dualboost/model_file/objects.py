"""Parameters that are objects with parameters of their own: formulations, learners and the solver's options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from ..errors import InvalidParameterError, UnsupportedModelError
from ..formulations import FORMULATIONS, Formulation
from ..formulations.number_losses import NUMBER_LOSSES
from ..masters import MASTERS, SolverOptions
from ..pricing import LEARNERS
from .checks import choice, fail, fields, flag, inside, integer, items, number, text

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
    "master": lambda value, where: choice(value, where, ("auto", *MASTERS)),
    "reoptimize": text,
    "columns_per_iteration": _entering,
    "schedule": text,
    "active_rows": optional(integer),
}
"""The check for each option of the solver."""
