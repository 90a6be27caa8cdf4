"""``class_weight``, named and meant as in scikit-learn: what the sample weights of each class are multiplied by."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from ..arguments import require_positive
from ..errors import InvalidParameterError
from ..workers import ALONE, Communicator

BALANCED = "balanced"


def require_class_weight(value: Any) -> None:
    """Refuse what cannot be weights for any y."""
    if value is None or (isinstance(value, str) and value == BALANCED):
        return
    if not isinstance(value, dict):
        raise InvalidParameterError(
            f"class_weight={value!r} must be None, {BALANCED!r}, or a dict of weights by class, such as {{0: 1, 1: 5}}."
        )
    for name, weight in value.items():
        require_positive(f"class_weight[{name!r}]", weight)


def weights_by_class(
    class_weight: Any, task: Any, targets: Vector, weights: Vector, workers: Communicator = ALONE
) -> Vector | None:
    """What the weights of rows of each class, in sorted order, are multiplied by; None for nothing."""
    if class_weight is None:
        return None
    if isinstance(class_weight, dict):
        return _given(class_weight, task.classes)
    return _balanced(task.groups(targets), len(task.classes), weights, workers)


def _balanced(codes: Integers, n_classes: int, weights: Vector, workers: Communicator) -> Vector:
    """Weights under which all classes weigh the same, and all rows together as much as without.

    Rows are counted by their weights: a weight of two is the row twice.
    """
    totals = workers.sum(np.bincount(codes, weights=weights, minlength=n_classes))
    present = np.where(totals > 0, totals, 1.0)
    found: Vector = workers.sum(float(weights.sum())) / (np.count_nonzero(totals) * present)
    return found


def _given(by_class: dict[Any, Any], classes: NDArray[Any]) -> Vector:
    """The weight of each class, 1 where none is given.

    A key that is no class is a slip, unless every class has its weight: then y is a fold that lacks a class.
    """
    names = classes.tolist()
    unknown = [name for name in by_class if name not in names]
    if unknown and not all(name in by_class for name in names):
        raise InvalidParameterError(
            f"class_weight={by_class!r} has a weight for {unknown[0]!r}, which is no class of y; the classes are "
            f"{names}."
        )
    return np.array([float(by_class.get(name, 1.0)) for name in names])
