"""What a leaf with a value for each class says, and which classes to name where there are many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import Vector

MOST_NAMED = 3
"""The most classes of a leaf that are named in a line of text."""


def strongest(values: Vector, most: int) -> list[int]:
    """The class with the largest value, and those with the largest absolute values beside it; the largest value first.

    A strongly negative value says as much as a positive one: which class a row is not.
    """
    first = int(values.argmax())
    others = [k for k in np.argsort(-np.abs(values), kind="stable").tolist() if k != first]
    return sorted([first, *others[: most - 1]], key=lambda k: -values[k])


def class_text(values: Vector, classes: Sequence[object], most: int = MOST_NAMED) -> str:
    """The strongest classes of a leaf with their values, such as "+0.61 for virginica, -0.30 for setosa, …"."""
    named = [f"{values[k]:+.2f} for {classes[k]}" for k in strongest(values, most)]
    return ", ".join(named if len(named) == len(values) else [*named, "…"])


def quantile_text(values: Vector, quantiles: Sequence[object]) -> str:
    """All quantiles of a leaf with their values, such as "-3.1 for q0.05, +0.4 for q0.5"."""
    return ", ".join(f"{value:+.4g} for {name}" for value, name in zip(values, quantiles, strict=True))
