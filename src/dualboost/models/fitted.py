"""A fitted model as one value: what it predicts with, and what is known of the fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Features, Matrix, Vector
from ..data.features import FeatureEncoder
from ..errors import UnsupportedModelError
from ..formulations.base import Formulation
from ..tasks.base import Task
from ..trees.learner import Learner
from .ensemble import Ensemble


@dataclass(frozen=True)
class FitFigures:
    """The numbers of a fit; objective and gap are nan, and bound and certified None, where they are not known."""

    objective: float
    gap: float
    bound: float | None
    certified: bool | None
    stop_reason: str
    n_trees: int
    n_generated: int
    n_iterations: int


@dataclass(frozen=True, eq=False)
class Tuning:
    """What was compared to choose C."""

    C: float
    Cs: Vector
    scores: Matrix
    """One row a fold, one column a value of C."""
    path: dict[str, Vector]


@dataclass(frozen=True, eq=False)
class FittedModel:
    """All that a fit leaves behind. It is made at the end of one and never changed, so that it is whole or not there.

    Its methods take encoded features, as ``encoder`` and the estimator's validation make them.
    """

    task: Task
    encoder: FeatureEncoder
    ensemble: Ensemble
    calibration: Any
    """What the task made of the scores to turn them into probabilities."""
    formulation: Formulation
    figures: FitFigures
    history: dict[str, NDArray[Any]]
    feature_names: NDArray[Any] | None
    has_missing: NDArray[np.bool_]
    """Whether each feature had missing values in training."""
    duals: Vector | None = None
    """One for each row of training; None for a model from a file."""
    stages: Sequence[Vector] | None = None
    """The weights after each iteration; None for a model from a file."""
    tuning: Tuning | None = None

    @property
    def n_features(self) -> int:
        return self.ensemble.n_features

    def scores(self, X: Features) -> Vector:
        """The normalised score of each row."""
        return self.ensemble.decide(X)

    def predict(self, X: Features) -> NDArray[Any]:
        return self.task.decode(self.scores(X))

    def probabilities(self, X: Features) -> Matrix:
        """One column a class."""
        return self.task.probabilities(self.scores(X), self.calibration)

    def votes(self, X: Features) -> Matrix:
        """One column for each learner."""
        return self.ensemble.votes(X)

    def margins(self, X: Features, y: Any) -> Vector:
        """How far the scores are on the side of each row's own y."""
        scores = self.scores(X)
        return self.task.margins(scores, self.task.encode(y, len(scores)))

    def staged_scores(self, X: Features) -> Iterator[Vector]:
        """The scores of the ensemble as it was after each iteration."""
        if self.stages is None:
            raise UnsupportedModelError(
                "The model was loaded from a file, which holds no stages; only the estimator that was fitted has them."
            )
        return self.ensemble.staged(X, self.stages)

    @cached_property
    def feature_importances(self) -> Vector:
        return self.ensemble.feature_importances()

    def with_learners(self, learners: Sequence[Learner], weights: Vector) -> FittedModel:
        """The same model with other learners, which are no optimum of its programme: what one would be is unknown."""
        n = len(learners)
        figures = replace(
            self.figures, objective=np.nan, gap=np.nan, bound=None, certified=None, n_trees=n, n_generated=n
        )
        ensemble = replace(self.ensemble, learners=learners, weights=weights)
        return replace(self, ensemble=ensemble, figures=figures, stages=[weights])
