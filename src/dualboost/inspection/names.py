"""The names that a fitted model knows its features and categories by, and numbers as text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..models.fitted import FittedModel

NEARLY_ZERO = 1e-30
"""LightGBM writes the threshold zero as 1e-35."""


@dataclass(frozen=True)
class Names:
    """How features and categories are called, and which features had missing values in training."""

    features: list[str]
    categories: dict[int, Any]
    has_missing: NDArray[np.bool_]

    def category(self, feature: int, code: int) -> str:
        known = self.categories.get(feature)
        return str(known[code]) if known is not None and code < len(known) else str(code)

    def category_set(self, feature: int, codes: set[int]) -> str:
        return "{" + ", ".join(self.category(feature, code) for code in sorted(codes)) + "}"


def names_of(model: FittedModel) -> Names:
    """Columns without a name are x0, x1, ..., as everywhere in scikit-learn."""
    given = model.feature_names
    names = [f"x{k}" for k in range(model.n_features)] if given is None else [str(name) for name in given]
    return Names(names, model.encoder.categories, model.has_missing)


def number(value: float) -> str:
    """Six digits, or as many as stand before the decimal point and one more."""
    size = abs(value)
    if size < NEARLY_ZERO or not math.isfinite(value):
        return "0" if size < NEARLY_ZERO else str(value)
    digits = max(6, min(15, math.floor(math.log10(size)) + 2))
    return f"{value:.{digits}g}"
