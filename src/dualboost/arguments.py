"""Checks of arguments, optional packages, and warnings that are given once a call."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Collection, Iterator
from dataclasses import fields
from numbers import Integral, Real
from types import CodeType, FrameType
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from .errors import DualBoostWarning, InvalidParameterError
from .parameters import Choice, CountOrShare, Flag, Fraction, Integer, Parameter, Positive, Share

# Python shows a warning once for each place and text, but forgets all of them whenever filters change, and scikit-learn
# changes filters before every fit of a search. So warnings are kept here, without their figures, which differ from fold
# to fold, until users call from another place.

ONCE = ("default", "once", "module")
"""The actions of filters that show a warning once, in Python's own ways."""
SEARCHERS = ("sklearn", "joblib")
"""Packages that fit many models in one call."""
FIGURE = re.compile(r"\d[\d.,]*(e[+-]?\d+)?")

Place = tuple[CodeType, int]
_places: list[Place] = []
"""Where the user's call stands, outwards."""
_given: set[tuple[type[DualBoostWarning], str]] = set()
"""The warnings of this call."""


def warn_user(message: str, category: type[DualBoostWarning]) -> None:
    """Warn, and point to the call by which the user came into this package."""
    level, caller = 1, sys._getframe(0)
    while _package(caller) == "dualboost" and caller.f_back is not None:
        level, caller = level + 1, caller.f_back
    if _action(message, category, caller) not in ONCE or _is_news(message, category, caller):
        warnings.warn(message, category, stacklevel=level)


def _package(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0]


def _is_news(message: str, category: type[DualBoostWarning], caller: FrameType) -> bool:
    """Whether this call of the user has not had this warning yet, whatever the figures in it; from now on it has."""
    places, warning = list(_outwards(caller)), (category, FIGURE.sub("#", message))
    is_same_call = len(places) == len(_places) and all(
        code is other and line == other_line for (code, line), (other, other_line) in zip(places, _places, strict=True)
    )
    if not is_same_call:
        _places[:] = places
        _given.clear()
    is_news = warning not in _given
    _given.add(warning)
    return is_news


def _outwards(caller: FrameType) -> Iterator[Place]:
    """The places of the call, without the frames of packages that fit many models."""
    frame: FrameType | None = caller
    while frame is not None:
        if _package(frame) not in SEARCHERS:
            yield frame.f_code, frame.f_lineno
        frame = frame.f_back


def _action(message: str, category: type[DualBoostWarning], caller: FrameType) -> str:
    module = caller.f_globals.get("__name__", "")
    filters = getattr(warnings, "_get_filters", lambda: warnings.filters)()  # the former from Python 3.14 on
    for action, text, kind, place, line in filters:
        if (
            issubclass(category, kind)
            and (text is None or text.match(message))
            and (place is None or place.match(module))
            and line in (0, caller.f_lineno)
        ):
            return str(action)
    return str(getattr(warnings, "defaultaction", "default"))


REQUIREMENTS = {
    "clarabel": "clarabel>=0.9",
    "click": "click>=8.1",
    "cupy": "cupy-cuda12x[ctk]>=14.0",
    "dask": "dask[array,dataframe]>=2024.1",
    "distributed": "distributed>=2024.1",
    "folktables": "folktables>=0.0.12",
    "matplotlib": "matplotlib>=3.8",
    "onnx": "onnx>=1.17",
    "pandas": "pandas>=2.0",
    "pooch": "pooch>=1.6",
    "pyarrow": "pyarrow>=14.0",
    "pystreed": "pystreed>=1.3",
    "tomli": "tomli>=2.0",
    "tqdm": "tqdm>=4.66.6",
    "xgboost": "xgboost>=2.1",
}
"""As in ``pyproject.toml``."""


def how_to_install(*packages: str) -> str:
    """The command that installs packages, wherever dualboost itself was installed from."""
    return " ".join(["pip install", *(f"'{REQUIREMENTS[name]}'" for name in packages)])


Parameters = TypeVar("Parameters", bound="ParameterObject")


def require_integer(name: str, value: Any, least: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < least:
        raise InvalidParameterError(f"{name}={value!r} must be an integer of at least {least}.")
    return int(value)


def require_positive(name: str, value: Any) -> float:
    if not is_real(value) or not 0 < float(value) < np.inf:
        raise InvalidParameterError(f"{name}={value!r} must be a finite number above 0.")
    return float(value)


def require_choice(name: str, value: Any, choices: Collection[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise InvalidParameterError(f"{name}={value!r} is not known; choose one of {list(choices)}.")
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
    if not is_real(value) or not 0 < float(value) < 1:
        alternative = ", or None" if or_none else ""
        raise InvalidParameterError(
            f"{name}={value!r} must be a number between 0 and 1 (for example 0.1){alternative}."
        )
    return float(value)


def require_share(name: str, value: Any) -> None:
    if not is_real(value) or not 0 < float(value) <= 1:
        raise InvalidParameterError(f"{name}={value!r} must be a number above 0 and up to 1, or None.")


def require_count_or_share(name: str, value: Any, kind: CountOrShare) -> None:
    if kind.words and isinstance(value, str):
        require_choice(name, value, kind.words)
    elif not is_real(value) or value <= 0 or not (isinstance(value, Integral) or value < 1 or value == kind.takes_all):
        most = "up to 1" if kind.takes_all else "below 1"
        raise InvalidParameterError(
            f"{name}={value!r} must be an integer of at least 1, or a fraction above 0 and {most}, the share of the "
            f"{kind.whole}."
        )


def is_real(value: Any) -> bool:
    """Whether it is a number, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def require_parameter(parameter: Parameter, value: Any) -> None:
    """Refuse a value that the table of parameters does not allow; kinds of their own are checked elsewhere."""
    name = parameter.name
    if value is None and parameter.default is None:
        return
    match parameter.kind:
        case Integer(least):
            require_integer(name, value, least)
        case Positive():
            require_positive(name, value)
        case Fraction():
            require_fraction(name, value, or_none=parameter.default is None)
        case Share():
            require_share(name, value)
        case CountOrShare() as kind:
            require_count_or_share(name, value, kind)
        case Choice(names):
            require_choice(name, value, names)
        case Flag():
            require_flag(name, value)


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
