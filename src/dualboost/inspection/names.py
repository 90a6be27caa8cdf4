"""The names that a fitted estimator knows its features and categories by, and numbers as text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def names_of(clf: Any) -> Names:
    """Columns without a name are x0, x1, ..., as everywhere in scikit-learn."""
    n_features = clf.n_features_in_
    names = getattr(clf, "feature_names_in_", [f"x{k}" for k in range(n_features)])
    has_missing = getattr(clf, "_has_missing", np.ones(n_features, dtype=bool))
    return Names([str(name) for name in names], clf._encoder.categories, has_missing)


def number(value: float) -> str:
    """Six digits, or as many as stand before the decimal point and one more."""
    size = abs(value)
    if size < NEARLY_ZERO or not math.isfinite(value):
        return "0" if size < NEARLY_ZERO else str(value)
    digits = max(6, min(15, math.floor(math.log10(size)) + 2))
    return f"{value:.{digits}g}"
