"""Which columns hold categories, as the argument ``categorical_features`` says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from .messages import suggestion

FROM_DTYPE = "from_dtype"
TRUTH = (bool, np.bool_)


def require_categorical_features(value: Any) -> list[Any] | None:
    """The names, positions or truth values that are asked for; None where types decide."""
    if isinstance(value, str) and value == FROM_DTYPE:
        return None
    entries = [] if value is None else value
    if isinstance(entries, str) or not isinstance(entries, (Sequence, np.ndarray)) or np.ndim(entries) != 1:
        hint = f" (did you mean [{value!r}]?)" if isinstance(value, str) else ""
        raise _refused(value, hint)
    listed = list(entries)
    kinds = [
        all(isinstance(entry, TRUTH) for entry in listed),
        all(isinstance(entry, str) for entry in listed),
        all(_is_position(entry) for entry in listed),
    ]
    if not any(kinds):
        raise _refused(value)
    return listed


def _is_position(entry: Any) -> bool:
    return isinstance(entry, (int, np.integer)) and not isinstance(entry, bool) and bool(entry >= 0)


def _refused(value: Any, hint: str = "") -> InvalidParameterError:
    return InvalidParameterError(
        f"categorical_features={value!r} must be {FROM_DTYPE!r}, None, or a list of names, of positions, or of one "
        f"truth value for each column{hint}."
    )


def chosen_positions(value: Any, n_columns: int, names: Sequence[Any] | None) -> set[int] | None:
    """The positions of the columns with categories; None where types decide."""
    listed = require_categorical_features(value)
    if listed is None or not listed:
        return None if listed is None else set()
    if isinstance(listed[0], TRUTH):
        if len(listed) != n_columns:
            raise InvalidParameterError(
                f"categorical_features has {len(listed)} truth values; it must have one for each of {n_columns} "
                "columns."
            )
        return set(np.flatnonzero(listed).tolist())
    if isinstance(listed[0], str):
        return {_position(name, names) for name in listed}
    beyond = [entry for entry in listed if entry >= n_columns]
    if beyond:
        raise InvalidParameterError(
            f"categorical_features holds the position {beyond[0]}; X has the columns 0 to {n_columns - 1}."
        )
    return {int(entry) for entry in listed}


def _position(name: str, names: Sequence[Any] | None) -> int:
    if names is None:
        raise InvalidParameterError(f"categorical_features names {name!r}, but X has no column names: give positions.")
    if name not in names:
        known = [str(one) for one in names]
        raise InvalidParameterError(
            f"categorical_features names {name!r}, which X does not have; {suggestion(name, known)}"
        )
    return list(names).index(name)
