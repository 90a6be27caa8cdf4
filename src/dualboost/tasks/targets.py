"""From two classes of any kind to labels in {-1, +1}, and the rows that are held out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._typing import Integers, Vector
from ..errors import InvalidDataError


def two_classes(y: NDArray[Any]) -> tuple[NDArray[Any], Vector]:
    """The classes, and labels in {-1, +1}."""
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind != "binary":
        raise InvalidDataError(
            f"Only binary classification is supported. The type of the target is {kind}. "
            "Wrap the classifier in sklearn.multiclass.OneVsRestClassifier for more than two classes."
        )
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InvalidDataError(f"y holds one class only ({classes.tolist()[0]!r}); training needs rows of two classes.")
    return classes, np.where(codes == 1, 1.0, -1.0)


def require_both_classes(labels: Vector, classes: NDArray[Any]) -> None:
    if labels.min() == labels.max():
        only = classes.tolist()[int(labels[0] > 0)]
        raise InvalidDataError(
            f"Only class {only!r} has rows with a positive sample_weight to train on; training needs two classes."
        )


def hold_out(labels: Vector, weights: Vector, fraction: float, rng: np.random.RandomState) -> Integers:
    """A stratified share of the rows that have a weight."""
    present = np.flatnonzero(weights > 0)
    try:
        _, held = train_test_split(present, test_size=fraction, stratify=labels[present], random_state=rng)
    except ValueError as error:
        raise InvalidDataError(
            f"validation_fraction={fraction!r} cannot be held out of {len(present)} rows: {error}"
        ) from error
    return np.sort(held)
