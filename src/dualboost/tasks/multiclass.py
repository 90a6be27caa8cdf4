"""Several classes: a target is the number of the class, a score is one number for each class.

The largest score decides; of equal scores, the first class. Under softmax the scores are logarithms of the
probabilities, up to a number that all classes of a row share; of other formulations a curve makes probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from .._typing import Integers, Matrix, Scores, Vector
from ..algebra.rows import Rows
from ..errors import InvalidDataError
from .base import Scored, Task
from .class_calibration import (
    ClassCalibration,
    calibrate_classes,
    calibrate_classes_by_twins,
    log_probabilities,
)
from .class_margins import ClassMargins
from .endings import SeveralClassEnding
from .labels import encoded, require_labels, require_some_classes

DIGITS = 12
"""Scores are compared to this many decimal places."""


@dataclass(frozen=True, eq=False)
class ManyClasses(Task):
    """Classification into three classes or more, of any type; scores are in the order of the sorted classes."""

    classes: NDArray[Any]

    name: ClassVar[str] = "several classes"

    @classmethod
    def takes(cls, y: NDArray[Any]) -> bool:
        return type_of_target(y, input_name="y") == "multiclass"

    @classmethod
    def read(cls, y: NDArray[Any], weights: Vector | None = None) -> tuple[ManyClasses, Vector]:
        require_labels(y)
        classes, codes = np.unique(y, return_inverse=True)
        require_some_classes(classes)
        return cls(classes), codes.astype(float)

    @property
    def n_outputs(self) -> int:
        return len(self.classes)

    def encode(self, y: Any, n_rows: int) -> Vector:
        return encoded(y, self.classes, n_rows).astype(float)

    def require_trainable(self, targets: Vector) -> None:
        present = np.unique(targets).astype(np.intp)
        if len(present) < len(self.classes):
            absent = sorted(set(range(len(self.classes))) - set(present.tolist()))
            raise InvalidDataError(
                f"No row of class {self.classes.tolist()[absent[0]]!r} has a positive sample_weight to train on; leave "
                "the rows of such classes out, or give them a weight."
            )

    def require_fold(self, targets: Vector) -> None:
        """A fold may lack rare classes, which then have probabilities of about zero."""
        if targets.min() == targets.max():
            raise InvalidDataError(
                f"Only class {self.classes.tolist()[int(targets[0])]!r} has rows to train on in a fold; use fewer."
            )

    def groups(self, targets: Vector) -> Integers:
        return targets.astype(np.intp)

    def operator(self, targets: Vector) -> ClassMargins:
        return ClassMargins(self.groups(targets), len(self.classes))

    def baseline(self, targets: Vector, rows: Rows) -> Vector:
        """The share of each class."""
        shares = np.bincount(targets.astype(np.intp), weights=rows.counts, minlength=len(self.classes))
        return np.asarray(rows.workers.sum(shares) / rows.n_samples)

    def quality(self, scores: Matrix, targets: Vector, rows: Rows) -> float:
        """The accuracy; scores that differ only by rounding are equal."""
        correct = np.round(scores, DIGITS).argmax(axis=1) == targets
        return rows.total(np.where(correct, rows.counts, 0.0)) / rows.n_samples

    def calibrate(self, scores: Matrix, targets: Vector, counts: Vector) -> ClassCalibration:
        return calibrate_classes(scores, targets, counts)

    def calibrate_by_twins(self, training: Scored, unseen: Scored) -> ClassCalibration:
        return calibrate_classes_by_twins(training, unseen)

    def identity_calibration(self) -> ClassCalibration:
        return log_probabilities(len(self.classes))

    def decode(self, scores: Matrix) -> NDArray[Any]:
        predicted: NDArray[Any] = self.classes[scores.argmax(axis=1)]
        return predicted

    def labels(self, targets: Vector) -> NDArray[Any]:
        known: NDArray[Any] = self.classes[targets.astype(np.intp)]
        return known

    def probabilities(self, scores: Matrix, calibration: ClassCalibration) -> Matrix:
        return calibration.probabilities(scores)

    def ending(self, calibration: ClassCalibration, is_normalised: bool) -> SeveralClassEnding:
        return SeveralClassEnding(self.classes.tolist(), calibration, is_normalised)

    def margins(self, scores: Scores, targets: Vector) -> Vector:
        """The score of the row's own class minus the largest score of another one."""
        codes = targets.astype(np.intp)[:, None]
        own = np.take_along_axis(scores, codes, axis=1)[:, 0]
        others = scores.copy()
        np.put_along_axis(others, codes, -np.inf, axis=1)
        return own - others.max(axis=1)
