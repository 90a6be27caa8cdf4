"""Checks of arguments, whose messages name the argument, its value and what to do; and objects with parameters."""

from __future__ import annotations

from dataclasses import fields
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from .errors import InvalidParameterError

Parameters = TypeVar("Parameters", bound="ParameterObject")


def require_integer(name: str, value: Any, least: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < least:
        raise InvalidParameterError(f"{name}={value!r} must be an integer of at least {least}.")
    return int(value)


def require_positive(name: str, value: Any) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise InvalidParameterError(f"{name}={value!r} must be a finite number above 0.")
    return float(value)


def require_choice(name: str, value: Any, choices: list[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise InvalidParameterError(f"{name}={value!r} is not known; choose one of {choices}.")
    return value


def require_flag(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParameterError(f"{name}={value!r} must be True or False.")


def require_jobs(value: Any) -> None:
    if value is not None and (isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value == 0):
        raise InvalidParameterError(f"n_jobs={value!r} must be None (one thread), a number of threads, or -1 (all).")


def require_seed(value: Any) -> None:
    try:
        check_random_state(value)
    except ValueError as error:
        raise InvalidParameterError(f"random_state={value!r} cannot seed a generator: {error}") from error


def seed_of(random_state: Any) -> int:
    """A seed drawn from ``random_state``; always the same one for None, so that fits that draw rows can be repeated."""
    return 0 if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))


def require_fraction(name: str, value: Any, or_none: bool = True) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not 0 < float(value) < 1:
        alternative = ", or None" if or_none else ""
        raise InvalidParameterError(
            f"{name}={value!r} must be a number between 0 and 1 (for example 0.1){alternative}."
        )
    return float(value)


class ParameterObject:
    """scikit-learn's protocol of parameters for a dataclass, so that it can be cloned and searched over.

    The constructor stores its arguments unchanged; ``__post_init__`` refuses values that are out of range.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor by name; with ``deep`` also the parameters of these arguments."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        if deep:
            for name, value in list(found.items()):
                if hasattr(value, "get_params") and not isinstance(value, type):
                    found |= {f"{name}__{inner}": entry for inner, entry in value.get_params().items()}
        return found

    def set_params(self: Parameters, **parameters: Any) -> Parameters:
        """Set parameters; if one is refused, none is changed. ``a__b`` is the parameter b of the parameter a."""
        known = self.get_params(deep=False)
        nested: dict[str, dict[str, Any]] = {}
        for key, value in parameters.items():
            name, _, inner = key.partition("__")
            if name not in known:
                raise InvalidParameterError(
                    f"{key}={value!r}: {type(self).__name__} has no parameter {name!r}; choose one of {sorted(known)}."
                )
            if inner:
                nested.setdefault(name, {})[inner] = value
            else:
                known[name] = value
        type(self)(**known)
        for name, entries in nested.items():
            known[name].set_params(**entries)
        for name, value in known.items():
            setattr(self, name, value)
        return self

    def check(self) -> None:
        """Raise the errors of the constructor for the present values, which may have been changed since."""
        type(self)(**self.get_params(deep=False))
