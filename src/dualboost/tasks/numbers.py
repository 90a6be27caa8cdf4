"""Targets that are numbers: rows of A are the outputs of learners themselves.

Targets are standardised before the fit and scores are scaled back, so that a fit does not depend on the unit of y:
y -> a y + b makes the predictions a F + b. Under a logarithmic link targets are divided by their mean only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..algebra.columns import Columns
from ..algebra.outputs import OutputsThemselves
from ..algebra.rows import Rows
from ..errors import InvalidDataError
from ..formulations.base import Formulation
from ..formulations.programme import Programme
from .base import Task, Units


@dataclass(frozen=True, eq=False)
class Identity(OutputsThemselves):
    """T for numbers."""

    n_rows: int

    def intercepts(self) -> Matrix:
        return np.ones((1, self.n_rows))

    def programme(self, formulation: Formulation, columns: Columns, rows: Rows, n_columns: int) -> Programme:
        return formulation.programme_over(columns, n_columns)


@dataclass(frozen=True, eq=False)
class TwoSides(Identity):
    """T for losses that bend twice: a row of A for falling below y, and one of the opposite sign for rising above."""

    def apply(self, outputs: Vector) -> Vector:
        return np.concatenate([outputs, -outputs])

    def adjoint(self, u: Vector) -> Vector:
        return np.asarray(u[: self.n_rows] - u[self.n_rows :])

    def curvature(self, of_margins: Vector) -> Vector:
        return np.asarray(of_margins[: self.n_rows] + of_margins[self.n_rows :])

    def intercepts(self) -> Matrix:
        return self.apply(np.ones(self.n_rows))[None, :]

    def scores(self, margins: Vector) -> Vector:
        return margins[: self.n_rows]

    def rows_of_A(self, rows: Rows) -> Rows:
        return Rows(np.tile(rows.counts, 2), None, rows.n_jobs, values=np.concatenate([rows.values, -rows.values]))

    def divided(self, u: Vector) -> Vector:
        return np.concatenate([np.maximum(u, 0.0), np.maximum(-u, 0.0)])

    def duals_of_rows(self, u: Vector) -> Vector:
        return self.adjoint(u)


@dataclass(frozen=True, eq=False)
class Numbers(Task):
    """Regression: a prediction is ``centre + scale * score``."""

    centre: float
    scale: float

    name: ClassVar[str] = "numbers"
    has_classes: ClassVar[bool] = False
    quality_name: ClassVar[str] = "R²"
    has_centre: ClassVar[bool] = True
    """Whether the centre may be other than zero."""

    @property
    def units(self) -> Units:
        """Those of y."""
        return Units(self.centre, self.scale)

    @classmethod
    def plain(cls, y: Any) -> Any:
        """pandas' own types of numbers as numpy's, with nan where an entry is missing."""
        is_nullable = hasattr(y, "to_numpy") and getattr(getattr(y, "dtype", None), "na_value", None) is not None
        return y.to_numpy(dtype=float, na_value=np.nan) if is_nullable else y

    @classmethod
    def takes(cls, y: NDArray[Any]) -> bool:
        return y.dtype.kind in "biuf"

    def rows(self, targets: Vector, counts: Vector, n_jobs: int = 1) -> Rows:
        return Rows(counts, None, n_jobs, values=targets)

    @classmethod
    def read(cls, y: NDArray[Any]) -> tuple[Numbers, Vector]:
        numbers = _as_numbers(y)
        centre = float(numbers.mean())
        largest = float(np.abs(numbers - centre).max())
        scale = largest * float(np.sqrt(np.mean(((numbers - centre) / largest) ** 2))) if largest > 0 else 1.0
        task = cls(centre, scale)
        return task, task._standardised(numbers)

    def _standardised(self, numbers: Vector) -> Vector:
        return np.asarray((numbers - self.centre) / self.scale)

    def encode(self, y: Any, n_rows: int) -> Vector:
        numbers = _as_numbers(np.asarray(y))
        if len(numbers) != n_rows:
            raise InvalidDataError(f"y has {len(numbers)} entries and X has {n_rows} rows.")
        return self._standardised(numbers)

    def require_trainable(self, targets: Vector) -> None:
        if not len(targets):
            raise InvalidDataError("No row has a positive sample_weight to train on.")

    def groups(self, targets: Vector) -> Integers | None:
        return None

    def operator(self, targets: Vector) -> Identity:
        return Identity(len(targets))

    def baseline(self, targets: Vector, rows: Rows) -> float:
        return 0.0

    def quality(self, scores: Vector, targets: Vector, rows: Rows) -> float:
        """The share of the variance of y that the predictions explain."""
        true, found = self.labels(targets), self.decode(scores)
        mean = rows.dot(true, rows.counts) / rows.n_samples
        spread = rows.dot((true - mean) ** 2, rows.counts)
        return 1.0 - rows.dot((true - found) ** 2, rows.counts) / spread if spread > 0 else 0.0

    def calibrate(self, scores: Vector, targets: Vector, counts: Vector) -> None:
        return None

    def identity_calibration(self) -> None:
        return None

    def decode(self, scores: Vector) -> Vector:
        return np.asarray(self.centre + self.scale * scores)

    def labels(self, targets: Vector) -> Vector:
        return np.asarray(self.centre + self.scale * targets)

    def probabilities(self, scores: Vector, calibration: Any) -> Matrix:
        raise NotImplementedError("numbers have no probabilities")

    def margins(self, scores: Vector, targets: Vector) -> Vector:
        """How far the prediction is above y."""
        return np.asarray(self.scale * (scores - targets))


@dataclass(frozen=True, eq=False)
class Counts(Numbers):
    """Numbers of at least zero, whose logarithm the scores are: a prediction is ``scale * exp(score)``."""

    name: ClassVar[str] = "counts"
    has_centre: ClassVar[bool] = False

    @classmethod
    def read(cls, y: NDArray[Any]) -> tuple[Numbers, Vector]:
        numbers = _as_numbers(y)
        if (numbers < 0).any():
            row = int(np.flatnonzero(numbers < 0)[0])
            raise InvalidDataError(
                f"y has a negative number, {numbers[row]:g} in row {row}; loss='poisson' is for counts and rates of at "
                "least zero. Choose another loss, such as 'squared'."
            )
        if not (numbers > 0).any():
            raise InvalidDataError("y is zero in all rows; loss='poisson' needs some that are not.")
        task = cls(0.0, float(numbers.mean()))
        return task, task._standardised(numbers)

    @property
    def units(self) -> Units:
        """The logarithm of the mean."""
        return Units(float(np.log(self.scale)), 1.0)

    def decode(self, scores: Vector) -> Vector:
        return np.asarray(self.scale * np.exp(scores))


@dataclass(frozen=True, eq=False)
class TubeNumbers(Numbers):
    """Numbers under a loss that bends on both sides of y."""

    name: ClassVar[str] = "tube"

    def operator(self, targets: Vector) -> TwoSides:
        return TwoSides(len(targets))


def _as_numbers(y: NDArray[Any]) -> Vector:
    """y in double precision; whole numbers beyond its precision lose no more than their last digits."""
    if y.ndim != 1:
        raise InvalidDataError(f"y has {y.ndim} dimensions; it must have one number for each row.")
    try:
        numbers = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidDataError(f"y holds {y.dtype}, not numbers, which a regressor learns.") from error
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise InvalidDataError(f"y is {numbers[row]} in row {row}; every row needs a finite number: drop such rows.")
    return numbers
