"""The seam between what users call y and what the loop optimises.

A task reads y, says what rows of A the outputs of a learner make (its operator T), and turns scores into predictions.
Pricers see T'u and no target; columns and programmes hold rows of A and equations and no target.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..algebra.rows import Rows


class Operator(Protocol):
    """T: from the outputs of a learner, on rows with known targets, to rows of A."""

    def apply(self, outputs: Vector) -> Vector:
        """T h: the entries of a learner's column."""

    def adjoint(self, u: Vector) -> Vector:
        """T'u: the residual that a pricer sees, such that the edge of a column is the residual times its outputs."""

    def intercepts(self) -> Matrix:
        """T applied to a constant output of one: a row for each constant that an intercept may add to the scores."""

    def scores(self, margins: Vector) -> Vector:
        """The scores of the rows, given their margins A w."""


class Task(ABC):
    """What y means; made from the y of a fit, and a part of the fitted model."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def takes(cls, y: NDArray[Any]) -> bool:
        """Whether y is of this task."""

    @classmethod
    @abstractmethod
    def read(cls, y: NDArray[Any]) -> tuple[Task, Vector]:
        """The task of this y, and the target of each row as a number; an error of ours where y is of another kind."""

    @abstractmethod
    def encode(self, y: Any, n_rows: int) -> Vector:
        """The targets of other rows; an error of ours where a value was not in training."""

    @abstractmethod
    def require_trainable(self, targets: Vector) -> None:
        """An error of ours where the rows with a positive weight are not enough to train on."""

    @abstractmethod
    def groups(self, targets: Vector) -> Integers | None:
        """The class of each row, counted from 0: what a split keeps in proportion; None where y has no classes."""

    @abstractmethod
    def operator(self, targets: Vector) -> Operator:
        """T for rows with these targets."""

    @abstractmethod
    def baseline(self, targets: Vector, rows: Rows) -> float:
        """The score that an ensemble without a learner gives to every row."""

    @abstractmethod
    def quality(self, scores: Vector, targets: Vector, rows: Rows) -> float:
        """How good the scores are on average over the rows, by their multiplicities; the larger the better."""

    @abstractmethod
    def calibrate(self, scores: Vector, targets: Vector, counts: Vector) -> Any:
        """What turns scores into probabilities, fitted to these rows."""

    @abstractmethod
    def decode(self, scores: Vector) -> NDArray[Any]:
        """The predictions that scores stand for."""

    @abstractmethod
    def probabilities(self, scores: Vector, calibration: Any) -> Matrix:
        """One column a class."""

    @abstractmethod
    def margins(self, scores: Vector, targets: Vector) -> Vector:
        """How far the scores are on the side of each row's own target."""
