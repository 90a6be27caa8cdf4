"""The interface of targets, labels as numbers, and the transforms of scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._typing import Integers, Matrix, Scores, Vector
from ..arguments import warn_user
from ..data.columns import is_gap
from ..errors import DataWarning, InvalidDataError
from ..formulations.base import Formulation
from ..matrix.columns import Columns
from ..matrix.rows import Rows
from ..workers import Communicator
from ..workers.base import objects_of_all

if TYPE_CHECKING:
    from .calibration import Calibration, ClassCalibration, MarginCalibration


TEXT = (str,)
NUMBERS = (Real, np.bool_)
FEW_NUMBERS = 20
"""If no target is given, more distinct whole numbers than this are learnt by regression."""
MANY_NUMBERS = 50
"""A classifier warns of more distinct numbers than this."""
MANY_ROWS = 50
"""A classifier accepts few rows a class without a warning up to this number of rows."""


def plain_labels(y: Any) -> Any:
    """One column of labels as an array of numbers, booleans or text; an error if labels are missing or mixed.

    scikit-learn does not recognise numbers in arrays of objects and in pandas' own types. Anything but one column is
    returned unchanged; scikit-learn refuses it.
    """
    values = np.asarray(y)
    if values.ndim not in (1, 2) or values.shape[1:] not in ((), (1,)):
        return y
    if values.dtype.kind == "f":
        _require_no_gaps(np.isnan(values.ravel()))
    return _of_one_kind(values) if values.dtype.kind == "O" and values.size else values


def _of_one_kind(objects: NDArray[Any]) -> NDArray[Any]:
    entries = objects.ravel().tolist()
    _require_no_gaps(np.array([is_gap(entry) for entry in entries]))
    kind = TEXT if isinstance(entries[0], TEXT) else NUMBERS
    odd = [entry for entry in entries if not isinstance(entry, kind)]
    if odd:
        raise InvalidDataError(
            f"Unknown label type: {type(odd[0]).__name__}. y holds {odd[0]!r}, but labels are all text, or all numbers "
            "or booleans; make them so, as y.astype(str) does."
        )
    return objects if kind is TEXT else np.array(entries).reshape(objects.shape)


def _require_no_gaps(missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise InvalidDataError(
            f"Input y contains NaN, NA or None: it is missing in {missing.sum()} of {len(missing)} rows, row "
            f"{np.argmax(missing)} first; leave rows without a y out."
        )


def look_measured(values: NDArray[Any], most: int = MANY_NUMBERS) -> bool:
    """Whether values look like measurements: more than ``most`` distinct numbers, or one that is not whole.

    Two different values, truth values and text are always classes. The number of rows has no influence.
    """
    if values.dtype.kind not in "iuf":
        return False
    distinct = np.unique(values)
    are_whole = np.isfinite(distinct) & (distinct == np.floor(distinct))
    return len(distinct) > most or (len(distinct) != 2 and not bool(are_whole.all()))


def are_identifiers(n_classes: int, n_rows: float) -> bool:
    """Whether there are more than two classes, and fewer than two rows for each on average."""
    return n_classes > 2 and n_classes > n_rows / 2


def warn_of_classes(classes: NDArray[Any], n_rows: float) -> None:
    """Warn if the labels look like measured numbers, or if hardly a class has two rows."""
    n_classes = len(classes)
    has_enough_rows = n_rows > MANY_ROWS or n_classes == n_rows
    if look_measured(classes) or (are_identifiers(n_classes, n_rows) and has_enough_rows):
        as_text = (
            " If the numbers are names of classes, write them as text, such as 'class 7'."
            if classes.dtype.kind in "iuf"
            else ""
        )
        warn_user(
            f"y has {n_classes} classes in {n_rows:.0f} rows, so that it looks like an identifier or a measured "
            "number. If it is one, pass the column of the classes as y, cut numbers into classes, or use a regressor: "
            f"DualBoostRegressor, or --task regression on the command line.{as_text}",
            DataWarning,
        )


def require_labels(y: NDArray[Any]) -> None:
    """Refuse numbers that are not whole, which are a target for a regressor."""
    if type_of_target(y, input_name="y") in ("binary", "multiclass"):
        return
    fraction = y[y != np.round(y)] if y.dtype.kind == "f" and y.ndim == 1 else y[:0]
    if len(fraction):
        raise InvalidDataError(
            f"Unknown label type: continuous. y holds numbers such as {fraction.tolist()[0]!r}, which are no classes; "
            "cut them into classes, or use a regressor."
        )
    check_classification_targets(y)


def encoded(y: Any, classes: NDArray[Any], n_rows: int) -> Integers:
    """The number of each label's class; raises ``InvalidDataError`` for a label that was not in training."""
    y = np.asarray(plain_labels(y))
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.shape != (n_rows,):
        raise InvalidDataError(f"y has shape {y.shape}; it must hold one class for each of the {n_rows} rows of X.")
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise InvalidDataError(
            f"y holds {y[unknown].tolist()[0]!r}, but the classes of the model are {classes.tolist()}; pass the "
            "labels that it was trained with."
        )
    return np.searchsorted(classes, y).astype(np.intp)


Written = TypeVar("Written")


class TransformWriter(ABC, Generic[Written]):
    """Writes each kind of transform in one language."""

    @abstractmethod
    def two_classes(self, output_transform: BinaryTransform) -> Written: ...

    @abstractmethod
    def several_classes(self, output_transform: MulticlassTransform) -> Written: ...

    @abstractmethod
    def numbers(self, output_transform: NumericTransform) -> Written: ...

    @abstractmethod
    def quantiles(self, output_transform: QuantileTransform) -> Written: ...


class OutputTransform(ABC):
    """From the scores of a row to a prediction."""

    @abstractmethod
    def written_by(self, writer: TransformWriter[Written]) -> Written: ...


@dataclass(frozen=True, eq=False)
class BinaryTransform(OutputTransform):
    """The second class if the score is positive; its probability is a curve of the score."""

    classes: Sequence[Any]
    calibration: MarginCalibration
    is_normalised: bool
    """Whether scores are limited to [-1, 1], and zero where they differ from zero by rounding only."""

    def written_by(self, writer: TransformWriter[Written]) -> Written:
        return writer.two_classes(self)

    @property
    def has_log_odds(self) -> bool:
        """Whether scores are log-odds already."""
        return not self.is_normalised and self.calibration.is_identity


@dataclass(frozen=True, eq=False)
class MulticlassTransform(OutputTransform):
    """The class with the largest score, of equal ones the first; probabilities are a softmax."""

    classes: Sequence[Any]
    calibration: ClassCalibration
    is_normalised: bool
    """Whether scores are rounded, and limited to [-1, 1]."""

    def written_by(self, writer: TransformWriter[Written]) -> Written:
        return writer.several_classes(self)

    @property
    def lifts(self) -> bool:
        """Whether another class may be more probable than the predicted one, which is then made the most probable."""
        return bool(np.ptp(self.calibration.intercepts) > 0)


@dataclass(frozen=True, eq=False)
class NumericTransform(OutputTransform):
    """The score itself, in the units of y; or its exponential."""

    is_logarithm: bool

    def written_by(self, writer: TransformWriter[Written]) -> Written:
        return writer.numbers(self)


@dataclass(frozen=True, eq=False)
class QuantileTransform(OutputTransform):
    """The scores in increasing order, in the units of y; a prediction is a weighted sum of these."""

    levels: Sequence[float]
    shares: Vector
    """The share of each level in the prediction."""
    widening: float
    """The shift of both ends of the outermost interval; crossed ends then meet in their middle."""
    outwards: float
    """The shift of both ends after that."""

    def written_by(self, writer: TransformWriter[Written]) -> Written:
        return writer.quantiles(self)


# A target reads y, computes the rows of A from the outputs of a learner (by its operator T), and turns scores into
# predictions. Pricers depend on y only through T'u; columns and programmes only through the rows of A.

MOST_LABELS = 10_000
"""The most labels that a worker sends to the others; more of them are no classes."""


class Operator(Protocol):
    """T: from the outputs of a learner, on rows with known targets, to rows of A."""

    def apply(self, outputs: Vector) -> Vector:
        """T h: the entries of the column of a learner with outputs h."""

    def adjoint(self, u: Vector) -> Vector:
        """T'u: the residual of a pricer; the edge of a column is the residual times its outputs."""

    def curvature(self, of_margins: Vector) -> Vector:
        """The second derivatives with respect to the scores, given the second derivatives for the margins."""

    def intercepts(self) -> Matrix:
        """T applied to a constant output of one: a row for each constant that an intercept may add to the scores."""

    def scores(self, margins: Vector) -> Vector:
        """The scores of the rows, given their margins A w."""

    def rows_of_A(self, rows: Rows) -> Rows:
        """The rows of A, given the rows of the data; their multiplicities have the same total."""

    def divided(self, u: Vector) -> Vector:
        """Duals for the rows of A, given one for each row of the data."""

    def duals_of_rows(self, u: Vector) -> Vector:
        """The duals of the rows of the data, given the duals of the rows of A."""

    def programme(self, formulation: Formulation, columns: Columns, rows: Rows, n_columns: int) -> Any:
        """The programme over the rows of A with ``n_columns`` columns; ``rows`` are the rows of the data."""


class Scored(NamedTuple):
    """Rows with scores, to which probabilities are fitted."""

    scores: Vector
    targets: Vector
    counts: Vector


class Units(NamedTuple):
    """A score is displayed as ``origin + unit * score``."""

    origin: float = 0.0
    unit: float = 1.0


class TargetReader(Protocol):
    """Makes a target from y; every class of targets does."""

    def plain(self, y: Any) -> Any: ...

    def takes(self, y: NDArray[Any]) -> bool: ...

    def read(self, y: NDArray[Any], weights: Vector | None = None) -> tuple[Target, Vector]: ...

    def seen_by_all(self, y: NDArray[Any], workers: Communicator) -> NDArray[Any]: ...

    def read_part(
        self, y: NDArray[Any], weights: Vector | None, seen: NDArray[Any], workers: Communicator
    ) -> tuple[Target, Vector]: ...


class Target(ABC):
    """The target of a fit: how y is read, and how scores are decoded."""

    name: ClassVar[str]
    quality_name: ClassVar[str] = "accuracy"
    """The name of the score ``quality``."""
    calibration_type: ClassVar[type[Calibration] | None] = None
    """From scores to probabilities; None for numbers."""
    classes: NDArray[Any] | None = None

    @property
    def has_classes(self) -> bool:
        return self.classes is not None

    @property
    def n_outputs(self) -> int:
        """The number of scores of a row."""
        return 1

    @property
    def output_names(self) -> list[str]:
        """The classes, or the quantiles; empty where a score is the prediction itself."""
        return [] if self.classes is None else [str(label) for label in self.classes]

    @property
    def units(self) -> Units:
        """The units in which scores are displayed."""
        return Units()

    @classmethod
    @abstractmethod
    def takes(cls, y: NDArray[Any]) -> bool:
        """Whether this class of targets can read y."""

    @classmethod
    @abstractmethod
    def read(cls, y: NDArray[Any], weights: Vector | None = None) -> tuple[Target, Vector]:
        """The target for this y, and the number of each row; raises ``InvalidDataError`` for a y of another type.

        ``weights`` are the multiplicities of the rows.
        """

    @classmethod
    def seen_by_all(cls, y: NDArray[Any], workers: Communicator) -> NDArray[Any]:
        """y; or its distinct labels on all workers, if each of them has a part of y."""
        if workers.size == 1:
            return y
        return np.unique(np.concatenate(objects_of_all(workers, np.unique(y)[:MOST_LABELS])))

    @classmethod
    def read_part(
        cls, y: NDArray[Any], weights: Vector | None, seen: NDArray[Any], workers: Communicator
    ) -> tuple[Target, Vector]:
        """``read`` for the part of y on this worker, given the result of ``seen_by_all``."""
        target, _ = cls.read(seen)
        return target, target.encode(y, len(y))

    @abstractmethod
    def encode(self, y: Any, n_rows: int) -> Vector:
        """The targets of other rows; raises ``InvalidDataError`` for a value that was not in training."""

    @abstractmethod
    def require_trainable(self, targets: Vector) -> None:
        """Raise ``InvalidDataError`` if the rows with a positive ``sample_weight`` are not enough to train on."""

    def require_fold(self, targets: Vector) -> None:
        """``require_trainable`` for a part of the rows, such as the other folds of a cross-validation."""
        self.require_trainable(targets)

    @classmethod
    def plain(cls, y: Any) -> Any:
        """y as an array of numpy's own types; raises ``InvalidDataError`` for missing entries."""
        return plain_labels(y)

    def rows(self, targets: Vector, counts: Vector, n_jobs: int = 1, rows_each: float = 1.0) -> Rows:
        """The rows of a fit, with the classes or the values that formulations need."""
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
        """The accuracy, or R² for numbers, of the rows weighted by multiplicity."""

    def calibrate(self, scores: Scores, targets: Vector, counts: Vector) -> Any:
        """The calibration of these rows, given as numbers of rows; None for numbers."""
        return None if self.calibration_type is None else self.calibration_type.fitted(scores, targets, counts)

    def calibrate_by_twins(self, training: Scored, unseen: Scored) -> Any:
        return None if self.calibration_type is None else self.calibration_type.fitted_by_twins(training, unseen)

    def identity_calibration(self) -> Any:
        return None if self.calibration_type is None else self.calibration_type.identity(self.n_outputs)

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
    def output_transform(self, calibration: Any, is_normalised: bool) -> OutputTransform:
        """The transform of scores as data; scores of numbers are in displayed units."""

    def for_metrics(self) -> Target:
        """The target whose labels and predictions are passed to metrics: itself, if double precision suffices."""
        return self

    @abstractmethod
    def margins(self, scores: Scores, targets: Vector) -> Vector:
        """The margin of each row: positive if its score is on the side of its target."""
