"""The interface of tasks, which stand between the user's y and what the loop optimises.

A task reads y, computes the rows of A from the outputs of a learner (by its operator T), and turns scores into
predictions. No other part of the algorithm sees the targets: pricers see only T'u, columns and programmes only the rows
of A and the equations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Scores, Vector
from ..algebra.columns import Columns
from ..algebra.rows import Rows
from ..formulations.base import Formulation
from ..workers import Communicator
from ..workers.exchange import objects_of_all
from .endings import Ending
from .labels import plain_labels

MOST_LABELS = 10_000
"""How many labels a worker tells the others of; where it has more, they are no classes."""


class Operator(Protocol):
    """T: from the outputs of a learner, on rows with known targets, to rows of A."""

    def apply(self, outputs: Vector) -> Vector:
        """T h: the entries of the column of a learner with outputs h."""

    def adjoint(self, u: Vector) -> Vector:
        """T'u: the residual that a pricer sees, such that the edge of a column is the residual times its outputs."""

    def curvature(self, of_margins: Vector) -> Vector:
        """The second derivative of the loss with respect to the score of each row, given those of the margins."""

    def intercepts(self) -> Matrix:
        """T applied to a constant output of one: a row for each constant that an intercept may add to the scores."""

    def scores(self, margins: Vector) -> Vector:
        """The scores of the rows, given their margins A w."""

    def rows_of_A(self, rows: Rows) -> Rows:
        """The rows of A, given those of the data; their multiplicities have the same total."""

    def divided(self, u: Vector) -> Vector:
        """Duals for the rows of A, given one for each row of the data."""

    def duals_of_rows(self, u: Vector) -> Vector:
        """What is said of each row of the data, given the duals of the rows of A."""

    def programme(self, formulation: Formulation, columns: Columns, rows: Rows, n_columns: int) -> Any:
        """The programme over the rows of A, ``rows`` being those of the data, once ``n_columns`` columns are held."""


class Scored(NamedTuple):
    """Rows with scores, to fit probabilities to."""

    scores: Vector
    targets: Vector
    counts: Vector


class Units(NamedTuple):
    """What people are shown of a score is ``origin + unit * score``."""

    origin: float = 0.0
    unit: float = 1.0


class TaskReader(Protocol):
    """Makes a task of a y; every kind of task does."""

    def plain(self, y: Any) -> Any: ...

    def takes(self, y: NDArray[Any]) -> bool: ...

    def read(self, y: NDArray[Any], weights: Vector | None = None) -> tuple[Task, Vector]: ...

    def seen_by_all(self, y: NDArray[Any], workers: Communicator) -> NDArray[Any]: ...

    def read_part(
        self, y: NDArray[Any], weights: Vector | None, seen: NDArray[Any], workers: Communicator
    ) -> tuple[Task, Vector]: ...


class Task(ABC):
    """What y means; it is made from the y of a fit, and is a part of the fitted model."""

    name: ClassVar[str]

    @property
    def n_outputs(self) -> int:
        """How many scores a row has."""
        return 1

    @property
    def output_names(self) -> list[str]:
        """What scores are for: the classes, or the quantiles; empty where a score is the prediction itself."""
        return [str(label) for label in getattr(self, "classes", ())]

    @property
    def units(self) -> Units:
        """What people are shown of scores: those of classes as they are."""
        return Units()

    @classmethod
    @abstractmethod
    def takes(cls, y: NDArray[Any]) -> bool:
        """Whether the task can read this y."""

    @classmethod
    @abstractmethod
    def read(cls, y: NDArray[Any], weights: Vector | None = None) -> tuple[Task, Vector]:
        """The task for this y, and the target of each row as a number; raises ``InvalidDataError`` if it cannot.

        ``weights`` are the multiplicities of the rows, for tasks that measure y.
        """

    @classmethod
    def seen_by_all(cls, y: NDArray[Any], workers: Communicator) -> NDArray[Any]:
        """What tells the task that takes y: all of it, or its distinct labels where each worker has a part of it."""
        if workers.size == 1:
            return y
        return np.unique(np.concatenate(objects_of_all(workers, np.unique(y)[:MOST_LABELS])))

    @classmethod
    def read_part(
        cls, y: NDArray[Any], weights: Vector | None, seen: NDArray[Any], workers: Communicator
    ) -> tuple[Task, Vector]:
        """``read`` for the part of y that this worker has, given what all have seen."""
        task, _ = cls.read(seen)
        return task, task.encode(y, len(y))

    @abstractmethod
    def encode(self, y: Any, n_rows: int) -> Vector:
        """The targets of other rows; raises ``InvalidDataError`` for a value that was not in training."""

    @abstractmethod
    def require_trainable(self, targets: Vector) -> None:
        """Raise ``InvalidDataError`` if the rows with a positive ``sample_weight`` are not enough to train on."""

    def require_fold(self, targets: Vector) -> None:
        """The same for a part of the rows, such as the other folds of a cross-validation."""
        self.require_trainable(targets)

    has_classes: ClassVar[bool] = True
    quality_name: ClassVar[str] = "accuracy"
    """What ``quality`` is."""

    @classmethod
    def plain(cls, y: Any) -> Any:
        """y as an array of numpy's own types, or an error where entries are missing."""
        return plain_labels(y)

    def rows(self, targets: Vector, counts: Vector, n_jobs: int = 1, rows_each: float = 1.0) -> Rows:
        """The rows of a fit, with what formulations need to know of their targets."""
        return Rows(counts, self.groups(targets), n_jobs, rows_each=rows_each)

    @abstractmethod
    def groups(self, targets: Vector) -> Integers | None:
        """The class of each row, counted from 0, by which splits are stratified; None where y has no classes."""

    @abstractmethod
    def operator(self, targets: Vector) -> Operator:
        """T for rows with these targets."""

    @abstractmethod
    def baseline(self, targets: Vector, rows: Rows) -> Any:
        """The score, or scores, that an ensemble without a learner gives to every row."""

    @abstractmethod
    def quality(self, scores: Scores, targets: Vector, rows: Rows) -> float:
        """How good the scores are, as a mean over the rows weighted by multiplicity; larger is better."""

    @abstractmethod
    def calibrate(self, scores: Scores, targets: Vector, counts: Vector) -> Any:
        """What turns scores into probabilities, fitted to these rows.

        ``counts`` are numbers of rows (``Rows.rows_in_unit``), so that smoothing does not depend on a unit of weights.
        """

    def calibrate_by_twins(self, training: Scored, unseen: Scored) -> Any:
        """The same, fitted to rows with the scores of ensembles like this one that were not trained on these rows.

        ``training`` are the training rows as the ensemble itself scores them.
        """
        return self.calibrate(*unseen)

    @abstractmethod
    def identity_calibration(self) -> Any:
        """What turns scores into probabilities if the scores are log-odds already."""

    @abstractmethod
    def decode(self, scores: Scores) -> NDArray[Any]:
        """The predictions for these scores."""

    @abstractmethod
    def labels(self, targets: Vector) -> NDArray[Any]:
        """The values of y that these targets stand for."""

    @abstractmethod
    def probabilities(self, scores: Scores, calibration: Any) -> Matrix:
        """The probabilities for these scores, one column for each class."""

    @abstractmethod
    def ending(self, calibration: Any, is_normalised: bool) -> Ending:
        """What is made of scores, as data; those of numbers are in the units that people are shown."""

    def for_metrics(self) -> Task:
        """The task whose labels and predictions metrics are given: itself, unless double precision cannot hold them."""
        return self

    @abstractmethod
    def margins(self, scores: Scores, targets: Vector) -> Vector:
        """The margin of each row: positive if its score is on the side of its target."""
