"""The names of a fitted model's features, categories and classes, and numbers as text."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..models.fitted import FittedModel

NEARLY_ZERO = 1e-30
"""Numbers below this are shown as 0, because LightGBM writes the threshold zero as 1e-35."""


@dataclass(frozen=True)
class Names:
    """The names of features, categories and classes, and which features had missing values in training."""

    features: list[str]
    categories: dict[int, Any]
    has_missing: NDArray[np.bool_]
    classes: list[str] = field(default_factory=list)

    def category(self, feature: int, code: int) -> str:
        known = self.categories.get(feature)
        return str(known[code]) if known is not None and code < len(known) else str(code)

    def category_set(self, feature: int, codes: set[int]) -> str:
        return "{" + ", ".join(self.category(feature, code) for code in sorted(codes)) + "}"


def names_of(model: FittedModel) -> Names:
    """The names in a model; features without a name are called x0, x1, ..., as in scikit-learn."""
    given = model.feature_names
    names = [f"x{k}" for k in range(model.n_features)] if given is None else [str(name) for name in given]
    classes = [str(label) for label in getattr(model.task, "classes", ())]
    return Names(names, model.encoder.categories, model.has_missing, classes)


def number(value: float) -> str:
    """A number with six digits, or with one digit after the decimal point if that needs more."""
    size = abs(value)
    if size < NEARLY_ZERO or not math.isfinite(value):
        return "0" if size < NEARLY_ZERO else str(value)
    digits = max(6, min(15, math.floor(math.log10(size)) + 2))
    return f"{value:.{digits}g}"
