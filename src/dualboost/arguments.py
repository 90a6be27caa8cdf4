"""Checks of arguments: every message names the argument, its value and what to do."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .errors import InvalidParameterError


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


def require_jobs(value: Any) -> None:
    if value is not None and (isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value == 0):
        raise InvalidParameterError(f"n_jobs={value!r} must be None (one thread), a number of threads, or -1 (all).")


def require_seed(value: Any) -> None:
    try:
        check_random_state(value)
    except ValueError as error:
        raise InvalidParameterError(f"random_state={value!r} cannot seed a generator: {error}") from error


def require_fraction(name: str, value: Any, or_none: bool = True) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not 0 < float(value) < 1:
        alternative = ", or None" if or_none else ""
        raise InvalidParameterError(
            f"{name}={value!r} must be a number between 0 and 1 (for example 0.1){alternative}."
        )
    return float(value)
