"""Two classes and several classes, and the operator T."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from .._typing import Integers, Matrix, Scores, Vector
from ..errors import InvalidDataError
from ..formulations.base import Formulation
from ..formulations.classes import ClassProgramme
from ..formulations.programme import Programme
from ..matrix.columns import Columns
from ..matrix.pairs import OutputsThemselves, Pairs
from ..matrix.rows import Rows
from .base import BinaryTransform, MulticlassTransform, Target, encoded, require_labels
from .calibration import Calibration, ClassCalibration, MarginCalibration

TIE = 1e-12
"""A score below this fraction of the largest score is a tie: its sign may be a rounding error."""
DIGITS = 12
"""Scores of several classes are compared to this many decimal places."""


@dataclass(frozen=True, eq=False)
class ClassMargins:
    """A has a row for each pair of a row of the data and a class that is not its own, row by row.

    (T h)_ik = h_{y_i}(x_i) - h_k(x_i), so that (T'u)_ik = -u_ik for k != y_i, and the sum of these u for k = y_i.
    """

    codes: Integers
    n_classes: int

    @cached_property
    def others(self) -> Integers:
        """For each row of the data the other classes, in order."""
        others = np.arange(self.n_classes - 1)[None, :]
        return np.asarray(others + (others >= self.codes[:, None]))

    def apply(self, outputs: Matrix) -> Vector:
        own = np.take_along_axis(outputs, self.codes[:, None], axis=1)
        return np.asarray((own - np.take_along_axis(outputs, self.others, axis=1)).ravel())

    def adjoint(self, u: Vector) -> Matrix:
        u = u.reshape(self.others.shape)
        residual = np.empty((len(u), self.n_classes))
        np.put_along_axis(residual, self.others, -u, axis=1)
        np.put_along_axis(residual, self.codes[:, None], u.sum(axis=1, keepdims=True), axis=1)
        return residual

    def curvature(self, of_margins: Vector) -> Vector:
        raise NotImplementedError("leaves of several classes have a programme of their own")

    def intercepts(self) -> Matrix:
        return np.stack([self.apply(np.tile(row, (len(self.codes), 1))) for row in np.eye(self.n_classes)])

    def scores(self, margins: Vector) -> Matrix:
        """The scores up to one number for each row, which makes the score of its own class zero."""
        scores = np.zeros((len(self.codes), self.n_classes))
        np.put_along_axis(scores, self.others, -margins.reshape(self.others.shape), axis=1)
        return scores

    def rows_of_A(self, rows: Rows) -> Rows:
        n_others = self.n_classes - 1
        return rows.like(np.repeat(rows.counts / n_others, n_others))

    def divided(self, u: Vector) -> Vector:
        return np.asarray(np.repeat(u / (self.n_classes - 1), self.n_classes - 1))

    def duals_of_rows(self, u: Vector) -> Matrix:
        """The residuals, one for each class."""
        return self.adjoint(u)

    def programme(self, formulation: Formulation, columns: Columns, rows: Rows, n_columns: int) -> Any:
        """One loss a row, of its least margin; or, where losses grow with the margin too, one a pair."""
        if formulation.has_loss_a_class:
            return formulation.programme(columns.rows, n_columns)
        return ClassProgramme(formulation.programme(rows, n_columns), self._pairs)

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs.all_of(*self.others.shape)


@dataclass(frozen=True, eq=False)
class BinaryOperator(OutputsThemselves):
    """(T h)_i = y_i h(x_i), so that (T'u)_i = u_i y_i."""

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


Known = TypeVar("Known", bound="ClassTarget")


@dataclass(frozen=True, eq=False)
class ClassTarget(Target):
    """Classification; the classes, of any type, are sorted."""

    classes: NDArray[Any] = field()  # a dataclass would take the attribute of Target for a default

    type_of_y: ClassVar[str]
    """scikit-learn's name for the type of target."""
    calibration_type: ClassVar[type[Calibration]]

    @classmethod
    def takes(cls, y: NDArray[Any]) -> bool:
        return type_of_target(y, input_name="y") == cls.type_of_y

    @classmethod
    def read(cls: type[Known], y: NDArray[Any], weights: Vector | None = None) -> tuple[Known, Vector]:
        require_labels(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise InvalidDataError(
                f"y holds one class only ({classes.tolist()[0]!r}); training needs rows of two classes."
            )
        return cls(classes), cls._targets(codes)

    @staticmethod
    @abstractmethod
    def _targets(codes: Integers) -> Vector:
        """The targets of rows, given the positions of their classes."""

    @abstractmethod
    def groups(self, targets: Vector) -> Integers: ...

    def encode(self, y: Any, n_rows: int) -> Vector:
        return self._targets(encoded(y, self.classes, n_rows))

    def labels(self, targets: Vector) -> NDArray[Any]:
        known: NDArray[Any] = self.classes[self.groups(targets)]
        return known

    def probabilities(self, scores: Scores, calibration: Calibration) -> Matrix:
        return calibration.probabilities(scores)


@dataclass(frozen=True, eq=False)
class BinaryTarget(ClassTarget):
    """Two classes; the second one is the positive one. The sign of a score decides; a tie is the first class."""

    name: ClassVar[str] = "two classes"
    type_of_y: ClassVar[str] = "binary"
    calibration_type: ClassVar[type[Calibration]] = MarginCalibration

    @staticmethod
    def _targets(codes: Integers) -> Vector:
        return np.where(codes == 1, 1.0, -1.0)

    def require_trainable(self, targets: Vector) -> None:
        if targets.min() == targets.max():
            only = self.classes.tolist()[int(targets[0] > 0)]
            raise InvalidDataError(
                f"Only class {only!r} has rows with a positive sample_weight to train on; training needs two classes."
            )

    def groups(self, targets: Vector) -> Integers:
        return (targets > 0).astype(np.intp)

    def operator(self, targets: Vector) -> BinaryOperator:
        return BinaryOperator(targets)

    def baseline(self, targets: Vector, rows: Rows) -> float:
        """The weighted class balance in [-1, 1]; zero where it is a rounding error, as ties of scores are."""
        balance = rows.dot(targets, rows.counts) / rows.n_samples
        return balance if abs(balance) >= TIE else 0.0

    def quality(self, scores: Vector, targets: Vector, rows: Rows) -> float:
        """The accuracy."""
        return share_correct(scores, targets, rows)

    def decode(self, scores: Vector) -> NDArray[Any]:
        predicted: NDArray[Any] = self.classes[(scores > 0).astype(np.intp)]
        return predicted

    def output_transform(self, calibration: MarginCalibration, is_normalised: bool) -> BinaryTransform:
        return BinaryTransform(self.classes.tolist(), calibration, is_normalised)

    def margins(self, scores: Vector, targets: Vector) -> Vector:
        return targets * scores


def share_correct(scores: Vector, targets: Vector, rows: Rows) -> float:
    """The share of rows whose score has the sign of their target; a tie is the first class."""
    correct = (scores > TIE * rows.largest(np.abs(scores))) == (targets > 0)
    return rows.total(np.where(correct, rows.counts, 0.0)) / rows.n_samples


def accuracy(scores: Vector, targets: Vector, counts: Vector) -> float:
    """``share_correct`` of rows with these multiplicities."""
    return share_correct(scores, targets, Rows(counts))


@dataclass(frozen=True, eq=False)
class MulticlassTarget(ClassTarget):
    """Three classes or more, each with a score. The largest score decides; of equal scores, the first class."""

    name: ClassVar[str] = "several classes"
    type_of_y: ClassVar[str] = "multiclass"
    calibration_type: ClassVar[type[Calibration]] = ClassCalibration

    @property
    def n_outputs(self) -> int:
        return len(self.classes)

    @staticmethod
    def _targets(codes: Integers) -> Vector:
        return codes.astype(float)

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

    def decode(self, scores: Matrix) -> NDArray[Any]:
        predicted: NDArray[Any] = self.classes[scores.argmax(axis=1)]
        return predicted

    def output_transform(self, calibration: ClassCalibration, is_normalised: bool) -> MulticlassTransform:
        return MulticlassTransform(self.classes.tolist(), calibration, is_normalised)

    def margins(self, scores: Scores, targets: Vector) -> Vector:
        """The score of the row's own class minus the largest score of another one."""
        codes = targets.astype(np.intp)[:, None]
        own = np.take_along_axis(scores, codes, axis=1)[:, 0]
        others = scores.copy()
        np.put_along_axis(others, codes, -np.inf, axis=1)
        return own - others.max(axis=1)
