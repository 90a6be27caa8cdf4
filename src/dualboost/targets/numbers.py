"""Targets that are numbers: rows of A are the outputs of learners themselves.

Targets are standardised before the fit and scores are scaled back, so that a fit does not depend on the unit of y:
y -> a y + b makes the predictions a F + b. Under a logarithmic link targets are divided by their mean only. Robust
losses have a robust centre and scale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..arguments import warn_user
from ..errors import DataWarning, InvalidDataError
from ..formulations.base import Formulation
from ..formulations.programme import Programme
from ..matrix.columns import Columns
from ..matrix.pairs import OutputsThemselves
from ..matrix.rows import Rows
from ..workers import ALONE, Communicator
from .base import NumericTransform, OutputTransform, Target, TargetReader, Units
from .standardising import (
    GRID,
    ROUNDING,
    Standard,
    by_deviation,
    by_mean,
    by_quantiles,
    rounded,
    standardised,
    warn_of_outliers,
    with_all_digits,
    without_decimals,
)

LARGEST_DIGIT = 1e-3
"""The last digit of predictions, as a share of the scale of y, beyond which the user is warned."""
LARGEST_USUAL = 1e100
"""Numbers up to this, and down to its inverse, have squares that can be added up."""


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
    """T for losses that bend twice: a row of A for falling below y, and one of the opposite sign for rising above.

    ``first`` is +1 if the rows for falling below come first, else -1. The solution of a degenerate linear programme
    depends on the order of its rows, so ``first`` is such that y and -y give the same programme.
    """

    first: float = 1.0

    def apply(self, outputs: Vector) -> Vector:
        signed = self.first * outputs
        return np.concatenate([signed, -signed])

    def adjoint(self, u: Vector) -> Vector:
        residual: Vector = self.first * (u[: self.n_rows] - u[self.n_rows :])
        return residual

    def curvature(self, of_margins: Vector) -> Vector:
        curvature: Vector = of_margins[: self.n_rows] + of_margins[self.n_rows :]
        return curvature

    def intercepts(self) -> Matrix:
        return self.apply(np.ones(self.n_rows))[None, :]

    def scores(self, margins: Vector) -> Vector:
        scores: Vector = self.first * margins[: self.n_rows]
        return scores

    def rows_of_A(self, rows: Rows) -> Rows:
        return rows.like(np.tile(rows.counts, 2), self.apply(rows.values))

    def divided(self, u: Vector) -> Vector:
        signed = self.first * u
        return np.concatenate([np.maximum(signed, 0.0), np.maximum(-signed, 0.0)])

    def duals_of_rows(self, u: Vector) -> Vector:
        return self.adjoint(u)


@dataclass(frozen=True, eq=False)
class NumericTarget(Target):
    """Regression: a prediction is ``centre + scale * score``."""

    centre: float
    scale: float

    name: ClassVar[str] = "numbers"
    quality_name: ClassVar[str] = "R²"
    has_centre: ClassVar[bool] = True
    """Whether the centre may be other than zero."""
    reach: ClassVar[float] = np.inf
    """How far a target may be from the centre."""

    @classmethod
    def of_loss(cls, loss: Any) -> TargetReader:
        """The reader of y for this loss: the class itself, unless it has parameters."""
        return cls

    @property
    def units(self) -> Units:
        return Units(self.centre, self.scale)

    @classmethod
    def plain(cls, y: Any) -> Any:
        """y as an array of numpy's own types; raises ``InvalidDataError`` for missing and infinite entries."""
        values = super().plain(without_decimals(y))
        is_infinite = np.isinf(values).ravel() if getattr(values, "dtype", np.dtype(object)).kind == "f" else []
        if np.any(is_infinite):
            raise InvalidDataError(
                "Input y contains infinity or a value too large for dtype('float64'). Row "
                f"{int(np.argmax(is_infinite))} is the first: drop such rows, or give y in a larger unit."
            )
        return values

    @classmethod
    def takes(cls, y: NDArray[Any]) -> bool:
        return y.dtype.kind in "biuf"

    def rows(self, targets: Vector, counts: Vector, n_jobs: int = 1, rows_each: float = 1.0) -> Rows:
        return Rows(counts, None, n_jobs, values=targets, rows_each=rows_each)

    @classmethod
    def read(cls, y: NDArray[Any], weights: Vector | None = None) -> tuple[NumericTarget, Vector]:
        return cls._read(with_all_digits(y), weights, ALONE)

    @classmethod
    def seen_by_all(cls, y: NDArray[Any], workers: Communicator) -> NDArray[Any]:
        return y[:1]

    @classmethod
    def read_part(
        cls, y: NDArray[Any], weights: Vector | None, seen: NDArray[Any], workers: Communicator
    ) -> tuple[NumericTarget, Vector]:
        return cls._read(with_all_digits(y).astype(np.float64), weights, workers)

    @classmethod
    def _read(cls, y: NDArray[Any], weights: Vector | None, workers: Communicator) -> tuple[NumericTarget, Vector]:
        """The target for the y of all workers, and the numbers of the rows of this worker."""
        weights = np.ones(len(y)) if weights is None else weights
        counted = weights > 0
        cls.require_numbers(y, counted, workers)
        centre, scale = cls.standard(y[counted], weights[counted], workers)
        target, targets = cls(float(centre), scale), rounded(standardised(y, centre, scale))
        target._warn_of_lost_digits(y[counted], workers)
        warn_of_outliers(Standard(target.centre, scale), cls.reach, y[counted], targets[counted], workers)
        return target, np.clip(targets, -cls.reach, cls.reach)

    @classmethod
    def require_numbers(cls, y: NDArray[Any], counted: NDArray[np.bool_], workers: Communicator) -> None:
        """Refuse numbers outside the domain of the loss; ``counted`` are the rows with a weight."""

    @classmethod
    def standard(cls, y: NDArray[Any], weights: Vector, workers: Communicator) -> Standard:
        """The centre and the scale of y."""
        return by_deviation(y, weights, workers)

    def _loses_digits(self) -> bool:
        return bool(np.spacing(abs(self.centre)) > LARGEST_DIGIT * self.scale)

    def _lost_digits(self, y: NDArray[Any], workers: Communicator) -> Standard | None:
        """The centre and the scale of y if predictions have too few digits for them; else None."""
        return Standard(self.centre, self.scale) if self._loses_digits() else None

    def _warn_of_lost_digits(self, y: NDArray[Any], workers: Communicator) -> None:
        found = self._lost_digits(y, workers) if workers.max(float((y != y[:1]).any())) else None
        if found is not None:
            warn_user(
                f"y varies by {found.scale:.3g} around {found.centre:.17g}, where predictions, in double precision, "
                f"are multiples of {np.spacing(abs(found.centre)):.3g}. Subtract a constant from y, or take a smaller "
                "unit.",
                DataWarning,
            )

    def encode(self, y: Any, n_rows: int) -> Vector:
        numbers = with_all_digits(np.asarray(y))
        if len(numbers) != n_rows:
            raise InvalidDataError(f"y has {len(numbers)} entries and X has {n_rows} rows.")
        return standardised(numbers, self.centre, self.scale)

    def require_trainable(self, targets: Vector) -> None:
        if not len(targets):
            raise InvalidDataError("No row has a positive sample_weight to train on.")

    def groups(self, targets: Vector) -> Integers | None:
        return None

    def operator(self, targets: Vector) -> Identity:
        return Identity(len(targets))

    def baseline(self, targets: Vector, rows: Rows) -> Any:
        return 0.0

    def quality(self, scores: Vector, targets: Vector, rows: Rows) -> float:
        """R²."""
        mean = rows.dot(targets, rows.counts) / rows.n_samples
        spread = rows.dot((targets - mean) ** 2, rows.counts)
        with np.errstate(over="ignore"):  # exponentials of scores between two pricings
            squares = (targets - self.standard_predictions(scores)) ** 2
        missed = rows.dot(squares, rows.counts)
        return float(missed <= ROUNDING**2 * rows.n_samples) if spread <= 0 else 1.0 - missed / spread

    def standard_predictions(self, scores: Vector) -> Vector:
        """The predictions for standardised targets."""
        return scores

    def decode(self, scores: Vector) -> Vector:
        return np.asarray(self.centre + self.scale * self.standard_predictions(scores))

    def labels(self, targets: Vector) -> Vector:
        return np.asarray(self.centre + self.scale * targets)

    def probabilities(self, scores: Vector, calibration: Any) -> Matrix:
        raise NotImplementedError("numbers have no probabilities")

    def output_transform(self, calibration: Any, is_normalised: bool) -> OutputTransform:
        return NumericTransform(is_logarithm=False)

    def for_metrics(self) -> NumericTarget:
        """The target of the standardised y if squares of y overflow, or if its digits are lost."""
        is_of_usual_size = 1.0 / LARGEST_USUAL < self.scale < LARGEST_USUAL and abs(self.centre) < LARGEST_USUAL
        return self if is_of_usual_size and not self._loses_digits() else replace(self, centre=0.0, scale=1.0)

    def margins(self, scores: Vector, targets: Vector) -> Vector:
        """The prediction minus y."""
        return np.asarray(self.scale * (scores - targets))


@dataclass(frozen=True, eq=False)
class CountTarget(NumericTarget):
    """Numbers of at least zero, whose logarithm the scores are: a prediction is ``scale * exp(score)``."""

    name: ClassVar[str] = "counts"
    has_centre: ClassVar[bool] = False

    @classmethod
    def plain(cls, y: Any) -> Any:
        values = super().plain(y)
        if getattr(values, "dtype", np.dtype(object)).kind in "if" and values.ndim == 1:
            _require_counts(values)
        return values

    @classmethod
    def require_numbers(cls, y: NDArray[Any], counted: NDArray[np.bool_], workers: Communicator) -> None:
        _require_counts(y)
        if not workers.max(float((y[counted] > 0).any())):
            raise InvalidDataError("y is zero in all rows; loss='poisson' needs some that are not.")

    @classmethod
    def standard(cls, y: NDArray[Any], weights: Vector, workers: Communicator) -> Standard:
        return by_mean(y, weights, workers)

    def _lost_digits(self, y: NDArray[Any], workers: Communicator) -> Standard | None:
        """Targets are shares of the mean, on a grid that is coarser than double precision."""
        deviation = by_deviation(y, np.ones(len(y)), workers).scale
        return Standard(self.scale, deviation) if 2.0**-GRID * self.scale > LARGEST_DIGIT * deviation else None

    def encode(self, y: Any, n_rows: int) -> Vector:
        _require_counts(with_all_digits(np.asarray(y)))
        return super().encode(y, n_rows)

    @property
    def units(self) -> Units:
        """The logarithm of the mean."""
        return Units(float(np.log(self.scale)), 1.0)

    def standard_predictions(self, scores: Vector) -> Vector:
        return np.exp(scores)

    def output_transform(self, calibration: Any, is_normalised: bool) -> NumericTransform:
        return NumericTransform(is_logarithm=True)


@dataclass(frozen=True, eq=False)
class RobustTarget(NumericTarget):
    """Numbers with outliers, up to a tenth of the rows on either side, under a loss whose slope is bounded.

    The loss of an outlier is linear, so that clipping its target at ``reach`` does not change the optimum unless
    predictions are as far away. Without clipping, the relative gap would depend on outliers only.
    """

    reach: ClassVar[float] = 1e4

    @classmethod
    def standard(cls, y: NDArray[Any], weights: Vector, workers: Communicator) -> Standard:
        return by_quantiles(y, weights, workers)


@dataclass(frozen=True, eq=False)
class EpsilonInsensitiveTarget(RobustTarget):
    """Numbers under a loss that bends on both sides of y."""

    name: ClassVar[str] = "tube"

    def operator(self, targets: Vector) -> TwoSides:
        return TwoSides(len(targets), first=-1.0 if (targets**3).sum() < 0 else 1.0)


def _require_counts(numbers: NDArray[Any]) -> None:
    if (numbers < 0).any():
        row = int(np.flatnonzero(numbers < 0)[0])
        raise InvalidDataError(
            f"y has a negative number, {float(numbers[row]):g} in row {row}; loss='poisson' is for counts and rates of "
            "at least zero. Choose another loss, such as 'squared'."
        )
