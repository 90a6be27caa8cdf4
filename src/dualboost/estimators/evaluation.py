"""Rows that are passed to ``fit`` to be scored, beside those to train on: ``eval_set`` and ``eval_metric``."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..algebra.devices import in_memory
from ..data.features import as_features
from ..data.lazy import in_batches
from ..data.multiplicities import numbers_of_rows
from ..errors import InvalidDataError, InvalidParameterError
from ..loop.held_out import HeldOut
from ..tasks.scoring import Scoring, make_scoring, require_for_task
from .parameters import as_sample_weight
from .reading import TrainingSet, read_other_features


class EvaluationSet(NamedTuple):
    """Rows to score, as they were passed; ``scoring`` is None for that of the estimator."""

    X: Any
    y: Any
    sample_weight: Any
    scoring: Scoring | None

    def read(self, estimator: Any, data: TrainingSet, scoring: Scoring) -> HeldOut:
        """The rows in the form that the loop needs, encoded and weighed as those of the training set are."""
        try:
            features = in_batches(as_features(read_other_features(estimator, data, self.X)), lambda rows: rows)
            targets = data.task.encode(data.task.plain(self.y), features.shape[0])
            own = as_sample_weight(self.sample_weight, features.shape[0])
            weights = data.weigh(targets, own)
        except ValueError as error:
            raise InvalidDataError(f"eval_set: {error}") from error
        known = weights > 0
        scoring = require_for_task(self.scoring or scoring, data.task)
        return HeldOut(features[known], targets[known], weights[known], scoring, numbers_of_rows(own)[known])


def as_evaluation_set(eval_set: Any, eval_metric: Any) -> EvaluationSet | None:
    """The rows and the score that are asked for, if any."""
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
