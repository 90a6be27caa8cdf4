"""Reads and encodes the data of a fit: X, y, weights, and rows to score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

from .._typing import Features, Integers, Matrix, Vector
from ..boosting.context import FitContext
from ..boosting.history import HeldOut
from ..boosting.leaf_context import LeafFitContext
from ..data.columns import Source
from ..data.features import FeatureEncoder, as_features, require_finite, require_same_columns
from ..data.merging import TrainingRows, in_rows, numbers_of_rows
from ..data.on_disk import LazyFeatures, RowsOnDisk, in_batches
from ..data.tables import Table, as_table, categorical_positions, require_categorical_features, truths_of_array
from ..errors import InvalidDataError, InvalidParameterError
from ..matrix.rows import in_memory
from ..targets import Target, TargetReader, read_target
from ..targets.base import MOST_LABELS, warn_of_classes
from ..targets.scoring import Scoring, make_scoring, require_for_task
from ..trees.growing import to_code
from ..workers import ALONE, Communicator
from ..workers.base import joined, objects_of_all
from .parameters import as_sample_weight, weights_by_class

CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False}
"""Arguments of scikit-learn's validation of features; infinite features are refused here."""


class Aside(NamedTuple):
    """Rows that the fit does not use (their weight is zero), and the number of rows that each represents."""

    rows: Integers
    counts: Vector


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The arguments of ``fit``, checked and encoded."""

    target: Target
    encoder: FeatureEncoder
    features: Features
    targets: Vector
    weights: Vector
    """The multiplicity of each row, times the weight of its class."""
    numbers: Vector
    """The number of rows that each row represents, without the weight of its class."""
    feature_names: NDArray[Any] | None
    aside: Aside | None = None
    class_weights: Vector | None = None
    """A factor of the multiplicities for each class."""
    evaluation: HeldOut | None = None
    """The rows of ``eval_set``."""
    workers: Communicator = ALONE
    """All workers; each of them has a part of the rows."""
    checkpoint: str | None = None
    """A folder for trees while the fit runs."""

    def held_out(self, held: Integers, scoring: Scoring) -> HeldOut:
        """Some rows, to be scored."""
        return HeldOut(self.features[held], self.targets[held], self.weights[held], scoring, self.numbers[held])

    def weigh(self, targets: Vector, weights: Vector) -> Vector:
        """The multiplicities of rows times the weights of their classes."""
        if self.class_weights is None:
            return weights
        groups = self.target.groups(targets)
        assert groups is not None, "only classes have weights"
        return weights * self.class_weights[groups]


class _StandIn:
    """Receives the attributes that scikit-learn's validation sets, so that a fit that fails changes no estimator."""

    feature_names_in_: NDArray[Any]
    n_features_in_: int

    def __init__(self, tags: Any) -> None:
        self._tags = tags

    def __sklearn_tags__(self) -> Any:
        return self._tags


def read_training_set(
    estimator: Any,
    readers: Sequence[TargetReader],
    X: Any,
    y: Any,
    sample_weight: Any,
    set_aside: Callable[[Vector], Integers | None],
    workers: Communicator = ALONE,
) -> TrainingSet:
    """The training set; categories and classes are common to all workers.

    ``set_aside`` returns the positions of the rows that the fit does not use, given all multiplicities, or None.
    """
    X, y, sample_weight = map(in_memory, (X, y, sample_weight))
    require_one_target(estimator, y)
    y = readers[0].plain(y)
    read = _read_on_disk if isinstance(X, RowsOnDisk) else _read_in_memory
    features, y, encoder, names = read(estimator, X, y, sample_weight, workers)
    weights = as_sample_weight(sample_weight, len(y))
    rows, aside = set_aside(weights), None
    if rows is not None:
        aside = Aside(rows, in_rows(weights[rows]))
        weights = np.where(np.isin(np.arange(len(weights)), rows), 0.0, weights)
    target, targets = read_target(y, readers, weights, workers)
    if target.classes is not None:
        warn_of_classes(target.classes, workers.sum(float(len(targets))))
    target.require_trainable(known_to_all(workers, targets[weights > 0]))
    training_set = TrainingSet(
        target=target,
        encoder=encoder,
        features=features,
        targets=targets,
        weights=weights,
        numbers=numbers_of_rows(weights, workers),
        feature_names=names,
        aside=aside,
        class_weights=weights_by_class(estimator.class_weight, target, targets, weights, workers),
        workers=workers,
    )
    return replace(training_set, weights=training_set.weigh(targets, weights))


class _Read(NamedTuple):
    """X and y as arrays."""

    features: Features
    y: NDArray[Any]
    encoder: FeatureEncoder
    names: NDArray[Any] | None


def _read_in_memory(estimator: Any, X: Any, y: Any, sample_weight: Any, workers: Communicator) -> _Read:
    stand_in = _stand_in_for(estimator)
    listed = estimator.categorical_features
    table = as_table(X, by_columns=bool(require_categorical_features(listed)) or workers.size > 1)
    _require_same_columns(workers, X if table is None else table)
    names = None
    if table is not None:
        _require_columns(table)
        validate_data(stand_in, table.native, skip_check_array=True)
        names = getattr(stand_in, "feature_names_in_", None)  # if all names are text
    encoder = _encoder(table, X, listed, sample_weight, workers)
    features, y = validate_data(stand_in, X if table is None else encoder.transform(table), y, **CHECKS)
    _require_finite(features, table)
    return _Read(as_features(features), y, encoder, names)


def _read_on_disk(estimator: Any, X: RowsOnDisk, y: Any, sample_weight: Any, workers: Communicator) -> _Read:
    """Features as bins; scikit-learn validates a column without memory in place of X."""
    if require_categorical_features(estimator.categorical_features):
        raise InvalidParameterError(
            f"categorical_features={estimator.categorical_features!r} is for rows in memory: those on disk hold "
            "numbers only."
        )
    _require_same_columns(workers, X)
    stands_for_X = np.broadcast_to(np.float64(0.0), (X.shape[0], 1))
    _, y = validate_data(_stand_in_for(estimator), stands_for_X, y, **CHECKS)
    return _Read(to_code(X, workers), y, FeatureEncoder(), X.names)


def require_one_target(estimator: Any, y: Any) -> None:
    """Refuse several columns of targets; the error explains how to learn them."""
    if sparse.issparse(y):
        raise InvalidDataError("y is a sparse matrix, and must be an array: pass y.toarray().ravel().")
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        wrapper = "MultiOutputClassifier" if is_classifier(estimator) else "MultiOutputRegressor"
        raise InvalidDataError(
            f"y should be a 1d array, but has {shape[1]} columns: pass one of them, or learn each by a model of its "
            f"own, with sklearn.multioutput.{wrapper}({type(estimator).__name__}(...))."
        )


def known_to_all(workers: Communicator, targets: Vector) -> Vector:
    """The targets; with several workers, a sample of the distinct targets of all, with one row of each class."""
    return targets if workers.size == 1 else np.unique(joined(workers, np.unique(targets)[:MOST_LABELS])[0])


def _stand_in_for(estimator: Any) -> Any:
    """An object whose class has the name of the estimator's, for the messages of scikit-learn."""
    return type(type(estimator).__name__, (_StandIn,), {})(get_tags(estimator))


def read_other_features(estimator: Any, data: TrainingSet, X: Any) -> Features:
    """The features of rows beside the training set, checked and encoded alike."""
    stand_in = _stand_in_for(estimator)
    stand_in.n_features_in_ = data.features.shape[1]
    if data.feature_names is not None:
        stand_in.feature_names_in_ = data.feature_names
    return read_features(stand_in, data.encoder, X)


def read_features(estimator: Any, encoder: FeatureEncoder, X: Any) -> Features:
    """The features of rows to predict, checked and encoded as in training."""
    if isinstance(X, RowsOnDisk):
        return _known_on_disk(estimator, encoder, X)
    X = in_memory(X)
    table = as_table(X, by_columns=bool(encoder.categories))
    if table is None:
        if sparse.issparse(X) and encoder.categories:
            raise InvalidDataError(
                "The model has columns of categories, but X is a sparse matrix: pass a table, or an array."
            )
        features = validate_data(estimator, X, reset=False, **CHECKS)
    else:
        _require_columns(table)
        validate_data(estimator, table.native, reset=False, skip_check_array=True)
        features = check_array(encoder.transform(table), estimator=estimator, **CHECKS)
    _require_finite(features, table)
    return as_features(features) if sparse.issparse(features) else features


@dataclass(frozen=True, eq=False)
class _FiniteRows(LazyFeatures):
    """Rows on disk; a batch with an infinite number is an error."""

    source: RowsOnDisk

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.source.shape

    def dense(self, rows: Integers | slice) -> Matrix:
        return self.source.dense(rows)

    def column(self, feature: int, rows: Integers | slice) -> Vector:
        return self.source.column(feature, rows)

    def batches(self) -> Iterator[Matrix]:
        start, names = 0, None if self.source.names is None else self.source.names.tolist()
        for batch in self.source.batches():
            require_finite(batch, Source(first_row=start), names)
            yield batch
            start += len(batch)


def _known_on_disk(estimator: Any, encoder: FeatureEncoder, X: RowsOnDisk) -> LazyFeatures:
    known: Any = getattr(estimator, "feature_names_in_", None)
    is_other = X.names is not None and known is not None and X.names.tolist() != known.tolist()
    if X.shape[1] != estimator.n_features_in_ or is_other:
        names = "" if known is None else f": {', '.join(map(str, known))}"
        raise InvalidDataError(
            f"X has {X.shape[1]} columns on disk, but the model was trained on {estimator.n_features_in_}{names}."
        )
    if encoder.categories:
        raise InvalidDataError("The model has columns of categories, and rows on disk hold numbers only: pass a table.")
    return _FiniteRows(X)


def _require_same_columns(workers: Communicator, X: Any) -> None:
    if workers.size > 1:
        names = getattr(X, "names", None)
        own = list(range(X.shape[1]) if names is None else names)
        places = [f"worker {rank}" for rank in range(workers.size)]
        require_same_columns(objects_of_all(workers, own), places)


def _require_columns(table: Table) -> None:
    if not table.shape[1]:
        raise InvalidDataError(f"{table.source.name} has no columns; pass a table with at least one.")


def _encoder(table: Table | None, X: Any, listed: Any, sample_weight: Any, workers: Communicator) -> FeatureEncoder:
    if table is None:
        if sparse.issparse(X) and require_categorical_features(listed):
            raise InvalidParameterError(
                "categorical_features is for tables and arrays, but X is a sparse matrix: pass X.toarray()."
            )
        return FeatureEncoder(truths=truths_of_array(X))
    n_rows, n_columns = table.shape
    categorical = categorical_positions(listed, n_columns, table.names if table.has_names else None)
    return FeatureEncoder.fitted(table, as_sample_weight(sample_weight, n_rows), categorical, workers)


def _require_finite(features: Features, table: Table | None) -> None:
    if table is None:
        require_finite(features, Source())
    else:
        require_finite(features, table.source, table.names)


class EvaluationSet(NamedTuple):
    """The arguments ``eval_set`` and ``eval_metric``; ``scoring`` is None for the scoring of the estimator."""

    X: Any
    y: Any
    sample_weight: Any
    scoring: Scoring | None

    def read(self, estimator: Any, data: TrainingSet, scoring: Scoring) -> HeldOut:
        """The rows, encoded and weighted like the training set."""
        try:
            features = in_batches(as_features(read_other_features(estimator, data, self.X)), lambda rows: rows)
            targets = data.target.encode(data.target.plain(self.y), features.shape[0])
            own = as_sample_weight(self.sample_weight, features.shape[0])
            weights = data.weigh(targets, own)
        except ValueError as error:
            raise InvalidDataError(f"eval_set: {error}") from error
        known = weights > 0
        scoring = require_for_task(self.scoring or scoring, data.target)
        return HeldOut(features[known], targets[known], weights[known], scoring, numbers_of_rows(own)[known])


def as_evaluation_set(eval_set: Any, eval_metric: Any) -> EvaluationSet | None:
    if eval_set is None:
        if eval_metric is not None:
            raise InvalidParameterError(
                f"eval_metric={eval_metric!r} needs rows to score: pass eval_set=(X_val, y_val), or set scoring."
            )
        return None
    scoring = None if eval_metric is None else make_scoring(eval_metric, "eval_metric")
    X, y, *weights = map(in_memory, _parts(eval_set))
    return EvaluationSet(X, y, weights[0] if weights else None, scoring)


def _parts(eval_set: Any) -> tuple[Any, ...]:
    """X, y and perhaps weights: as a tuple, or as the only tuple of a list."""
    if isinstance(eval_set, list) and len(eval_set) == 1:
        eval_set = eval_set[0]
    if isinstance(eval_set, list):
        raise InvalidDataError(
            f"eval_set is a list of {len(eval_set)}; one set of rows decides: pass eval_set=(X_val, y_val)."
        )
    if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
        raise InvalidDataError(
            "eval_set must be a tuple, (X_val, y_val) or (X_val, y_val, sample_weight), or a list of one such tuple."
        )
    return eval_set


FitContextMaker = Callable[[TrainingRows], FitContext | LeafFitContext]


@dataclass(frozen=True, eq=False)
class Problem:
    """The input of the loop: its parts, the rows to train on, and the rows to validate on."""

    training_set: TrainingSet
    rows: TrainingRows
    fit_context: FitContext | LeafFitContext
    held_out: HeldOut | None
    make_fit_context: FitContextMaker | None = None
    """Makes the parts for other rows, with a looser tolerance; None if there are no twins."""

    @property
    def has_twins(self) -> bool:
        """Whether probabilities are calibrated by ensembles of halves of the rows."""
        return (
            self.held_out is None
            and self.make_fit_context is not None
            and not self.fit_context.formulation.has_final_scores
        )
