"""Two classes: targets are -1 and +1, a row of A is the target times the learner's vote.

Operator: (T h)_i = y_i h(x_i), so that (T'u)_i = u_i y_i. The sign of a score decides; a tie is the first class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from .._typing import Integers, Matrix, Vector
from ..algebra.columns import Columns
from ..algebra.outputs import OutputsThemselves
from ..algebra.rows import Rows
from ..errors import InvalidDataError
from ..formulations.base import Formulation
from ..formulations.programme import Programme
from .base import Scored, Task
from .calibration import MarginCalibration, calibrate, calibrate_by_twins
from .endings import TwoClassEnding
from .labels import encoded, require_labels, require_some_classes

TIE = 1e-12
"""A score below this fraction of the largest score is a tie: its sign may be a rounding error."""


@dataclass(frozen=True, eq=False)
class Signs(OutputsThemselves):
    """T for two classes: multiplication by the targets."""

    targets: Vector

    def apply(self, outputs: Vector) -> Vector:
        return self.targets * outputs

    def adjoint(self, u: Vector) -> Vector:
        return self.targets * u

    def intercepts(self) -> Matrix:
        return self.targets[None, :]

    def scores(self, margins: Vector) -> Vector:
        return self.targets * margins

    def programme(self, formulation: Formulation, columns: Columns, rows: Rows, n_columns: int) -> Programme:
        return formulation.programme_over(columns, n_columns)


@dataclass(frozen=True, eq=False)
class TwoClasses(Task):
    """Classification into two classes of any type; the second class in sorted order is the positive one."""

    classes: NDArray[Any]

    name: ClassVar[str] = "two classes"

    @classmethod
    def takes(cls, y: NDArray[Any]) -> bool:
        return type_of_target(y, input_name="y") == "binary"

    @classmethod
    def read(cls, y: NDArray[Any], weights: Vector | None = None) -> tuple[TwoClasses, Vector]:
        require_labels(y)
        classes, codes = np.unique(y, return_inverse=True)
        require_some_classes(classes)
        return cls(classes), np.where(codes == 1, 1.0, -1.0)

    def encode(self, y: Any, n_rows: int) -> Vector:
        return np.where(encoded(y, self.classes, n_rows) == 1, 1.0, -1.0)

    def require_trainable(self, targets: Vector) -> None:
        if targets.min() == targets.max():
            only = self.classes.tolist()[int(targets[0] > 0)]
            raise InvalidDataError(
                f"Only class {only!r} has rows with a positive sample_weight to train on; training needs two classes."
            )

    def groups(self, targets: Vector) -> Integers:
        return (targets > 0).astype(np.intp)

    def operator(self, targets: Vector) -> Signs:
        return Signs(targets)

    def baseline(self, targets: Vector, rows: Rows) -> float:
        """The weighted class balance in [-1, 1]; zero where it is a rounding error, as ties of scores are."""
        balance = rows.dot(targets, rows.counts) / rows.n_samples
        return balance if abs(balance) >= TIE else 0.0

    def quality(self, scores: Vector, targets: Vector, rows: Rows) -> float:
        """The accuracy."""
        return share_correct(scores, targets, rows)

    def calibrate(self, scores: Vector, targets: Vector, counts: Vector) -> MarginCalibration:
        return calibrate(scores, targets, counts)

    def calibrate_by_twins(self, training: Scored, unseen: Scored) -> MarginCalibration:
        return calibrate_by_twins(training, unseen)

    def identity_calibration(self) -> MarginCalibration:
        return MarginCalibration(1.0, 1.0)

    def decode(self, scores: Vector) -> NDArray[Any]:
        predicted: NDArray[Any] = self.classes[(scores > 0).astype(np.intp)]
        return predicted

    def labels(self, targets: Vector) -> NDArray[Any]:
        return self.decode(targets)

    def probabilities(self, scores: Vector, calibration: MarginCalibration) -> Matrix:
        positive = calibration.probability(scores)
        return np.column_stack([1.0 - positive, positive])

    def ending(self, calibration: MarginCalibration, is_normalised: bool) -> TwoClassEnding:
        return TwoClassEnding(self.classes.tolist(), calibration, is_normalised)

    def margins(self, scores: Vector, targets: Vector) -> Vector:
        return targets * scores


def share_correct(scores: Vector, targets: Vector, rows: Rows) -> float:
    """The share of rows whose score has the sign of their target; a tie is the first class."""
    correct = (scores > TIE * rows.largest(np.abs(scores))) == (targets > 0)
    return rows.total(np.where(correct, rows.counts, 0.0)) / rows.n_samples


def accuracy(scores: Vector, targets: Vector, counts: Vector) -> float:
    """``share_correct`` of rows with these multiplicities."""
    return share_correct(scores, targets, Rows(counts))
