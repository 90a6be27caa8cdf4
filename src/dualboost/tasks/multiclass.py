"""Several classes: a target is the number of the class, a score is one number for each class.

The largest score decides; of equal scores, the first class. Under softmax the scores are logarithms of the
probabilities, up to a number that all classes of a row share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils.multiclass import type_of_target

from .._typing import Integers, Matrix, Scores, Vector
from ..algebra.rows import Rows
from ..errors import InvalidDataError
from .base import Task
from .labels import encoded, require_labels, require_some_classes


class Softmax:
    """The calibration of scores that are log-probabilities already."""


@dataclass(frozen=True, eq=False)
class ClassMargins:
    """T for several classes: by how much the output for a row's own class exceeds that for each class.

    (T h)_ik = h_{y_i}(x_i) - h_k(x_i), so that (T'u)_ik = -u_ik for k != y_i, and the sum of these u for k = y_i.
    """

    codes: Integers
    n_classes: int

    def apply(self, outputs: Matrix) -> Matrix:
        return np.take_along_axis(outputs, self.codes[:, None], axis=1) - outputs

    def adjoint(self, u: Matrix) -> Matrix:
        residual = -u
        residual[np.arange(len(u)), self.codes] += u.sum(axis=1)
        return residual

    def intercepts(self) -> NDArray[np.float64]:
        outputs = np.eye(self.n_classes)[:, None, :].repeat(len(self.codes), axis=1)
        return np.stack([self.apply(one) for one in outputs])

    def scores(self, margins: Matrix) -> Matrix:
        """The scores up to a number for each row: those with zero for the row's own class."""
        return -margins


@dataclass(frozen=True, eq=False)
class ManyClasses(Task):
    """Classification into three classes or more, of any type; scores are in the order of the sorted classes."""

    classes: NDArray[Any]

    name: ClassVar[str] = "several classes"

    @classmethod
    def takes(cls, y: NDArray[Any]) -> bool:
        return type_of_target(y, input_name="y") == "multiclass"

    @classmethod
    def read(cls, y: NDArray[Any]) -> tuple[ManyClasses, Vector]:
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

    def baseline(self, targets: Vector, rows: Rows) -> float:
        return 0.0

    def quality(self, scores: Matrix, targets: Vector, rows: Rows) -> float:
        """The accuracy."""
        correct = scores.argmax(axis=1) == targets
        return rows.total(np.where(correct, rows.counts, 0.0)) / rows.n_samples

    def calibrate(self, scores: Matrix, targets: Vector, counts: Vector) -> Softmax:
        return Softmax()

    def identity_calibration(self) -> Softmax:
        return Softmax()

    def decode(self, scores: Matrix) -> NDArray[Any]:
        predicted: NDArray[Any] = self.classes[scores.argmax(axis=1)]
        return predicted

    def labels(self, targets: Vector) -> NDArray[Any]:
        known: NDArray[Any] = self.classes[targets.astype(np.intp)]
        return known

    def probabilities(self, scores: Matrix, calibration: Softmax) -> Matrix:
        found: Matrix = softmax(scores, axis=1)
        return found

    def margins(self, scores: Scores, targets: Vector) -> Vector:
        """The score of the row's own class minus the largest score of another one."""
        codes = targets.astype(np.intp)[:, None]
        own = np.take_along_axis(scores, codes, axis=1)[:, 0]
        others = scores.copy()
        np.put_along_axis(others, codes, -np.inf, axis=1)
        return own - others.max(axis=1)
