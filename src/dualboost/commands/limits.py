"""Options of ``dualboost fit`` that are written as text, as the values of the estimator's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.messages import few, suggestion
from ..errors import InvalidParameterError

SIGNS = {"+1": 1, "1": 1, "-1": -1, "0": 0}
INTERACTIONS = {"pairwise": "pairwise", "none": "no_interactions"}
"""What is said in a word, and what the estimator calls it."""
DRAWS = ("sqrt", "log2")
BALANCED = "balanced"


def number_or_share(option: str, text: str) -> int | float:
    """A whole number, or a fraction."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise InvalidParameterError(f"--{option} {text}: give a whole number, or a fraction such as 0.02.")


def max_features(text: str | None) -> int | float | str | None:
    return text if text is None or text in DRAWS else number_or_share("max-features", text)


def monotonic(entries: Sequence[str], columns: Sequence[str]) -> dict[str, int] | None:
    """The sign of each column that is named; None where none is."""
    signs = {}
    for entry in entries:
        name, sign = _halves("monotonic", entry, "age=+1 or age=-1")
        if sign not in SIGNS:
            raise InvalidParameterError(f"--monotonic {entry}: the sign must be +1 or -1.")
        signs[_known("monotonic", name, columns)] = SIGNS[sign]
    return signs or None


def interactions(entries: Sequence[str], columns: Sequence[str]) -> Any:
    """A word for all, or the sets of the columns that are named; None where nothing is said."""
    words = [entry for entry in entries if entry in INTERACTIONS]
    if words and len(entries) > 1:
        raise InvalidParameterError(f"--interactions {words[0]} says it for all columns: leave the others out.")
    if words:
        return INTERACTIONS[words[0]]
    names = [[_known("interactions", name, columns) for name in entry.split(",")] for entry in entries]
    return [{list(columns).index(name) for name in one} for one in names] or None


def class_weight(entries: Sequence[str], labels: NDArray[Any]) -> Any:
    """ "balanced", or a weight for each label that is named; None where nothing is said."""
    if BALANCED in entries and len(entries) > 1:
        raise InvalidParameterError(f"--class-weight {BALANCED} says it for all classes: leave the others out.")
    if BALANCED in entries:
        return BALANCED
    known = {str(label): label for label in np.unique(labels).tolist()}
    weights = {}
    for entry in entries:
        label, weight = _halves("class-weight", entry, f"{BALANCED}, or {next(iter(known))}=5")
        if label not in known:
            raise InvalidParameterError(f"--class-weight {entry}: the classes are {few(known)}.")
        weights[known[label]] = number_or_share("class-weight", weight)
    return weights or None


def _halves(option: str, entry: str, example: str) -> tuple[str, str]:
    """What stands before and after the last equals sign."""
    name, sign, value = entry.rpartition("=")
    if not sign:
        raise InvalidParameterError(f"--{option} {entry}: write {example}.")
    return name, value


def _known(option: str, name: str, columns: Sequence[str]) -> str:
    if name not in columns:
        raise InvalidParameterError(
            f"--{option} {name}: there is no such column to learn from; {suggestion(name, list(columns))}"
        )
    return name
