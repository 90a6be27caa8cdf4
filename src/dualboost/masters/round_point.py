"""One class of rounds of trees: its own trees, values and second derivatives, as if the classes were independent."""

from __future__ import annotations

from dataclasses import dataclass

from .._typing import Vector
from ..algebra.leaves import LeafColumns
from ..formulations.softmax import SoftmaxProgramme
from .softmax_point import SoftmaxPoint


@dataclass(frozen=True, eq=False)
class ClassPart:
    """The values of one class's leaves, its intercept, and the second derivative of each row's loss in its score."""

    programme: SoftmaxProgramme
    columns: LeafColumns
    values: Vector
    intercept: float
    shared_curvature: Vector

    @property
    def ridge(self) -> float:
        return self.programme.ridge


def class_parts(point: SoftmaxPoint) -> list[ClassPart]:
    """The point of rounds, class by class."""
    programme, p = point.programme, point.probabilities
    return [
        ClassPart(
            programme,
            columns,
            point.values[:, k],
            float(point.intercept[k]),
            programme.prices * p[:, k] * (1.0 - p[:, k]),
        )
        for k, columns in enumerate(point.columns.of_class)
    ]
