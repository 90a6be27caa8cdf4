"""The names of a fitted model's features, categories and classes as they are shown, and numbers as text."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..escaping import printable
from ..models.fitted import FittedModel
from ..trees.tiny_values import BELOW_ZEROS, READ_AS_ZERO


@dataclass(frozen=True)
class Names:
    """The names of features, categories and classes, and which features had missing values in training."""

    features: list[str]
    categories: dict[int, Any]
    has_missing: NDArray[np.bool_]
    classes: list[str] = field(default_factory=list)
    """The classes, or the quantiles of a regressor."""
    has_classes: bool = True
    truths: frozenset[int] = frozenset()
    """The features that were truth values in training."""

    def truth_between(self, feature: int, low: float, high: float) -> str:
        """The only truth value above one number and up to another; empty for other features, and where both are."""
        between = [str(value) for value in (False, True) if low < value <= high]
        return between[0] if feature in self.truths and len(between) == 1 else ""

    def category(self, feature: int, code: int) -> str:
        if feature in self.truths:
            return str(bool(code))
        known = self.categories.get(feature)
        return printable(str(known[code])) if known is not None and code < len(known) else str(code)

    def category_set(self, feature: int, codes: set[int]) -> str:
        return "{" + ", ".join(self.category(feature, code) for code in sorted(codes)) + "}"


def names_of(model: FittedModel) -> Names:
    """The names in a model, each in one line; features without a name are called x0, x1, ..., as in scikit-learn."""
    return Names(
        list(map(printable, model.inputs.names)),
        model.encoder.categories,
        model.has_missing,
        list(map(printable, model.task.output_names)),
        model.task.has_classes,
        model.encoder.truths,
    )


def number(value: float) -> str:
    """A number with six digits, or with one digit after the decimal point if that needs more.

    LightGBM writes a threshold of zero as 1e-35, which is shown as 0.
    """
    size = abs(value)
    if size in (0.0, READ_AS_ZERO, -BELOW_ZEROS):
        return "0"
    if not math.isfinite(value):
        return str(value)
    digits = max(6, min(15, math.floor(math.log10(size)) + 2))
    return f"{value:.{digits}g}"
