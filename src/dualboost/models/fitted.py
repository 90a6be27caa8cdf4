"""A fitted model as one value: what is needed to predict, and what is known of the fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import Features, Matrix, Vector
from ..data.features import FeatureEncoder
from ..errors import UnsupportedModelError
from ..formulations.base import Formulation
from ..targets.base import Target, Units
from ..trees.tree import Learner
from .ensemble import Ensemble, WeightStages
from .tree_sum import Inputs, Marginal, TreeSum, tree_sum


class Stages(Protocol):
    """The ensembles on the way to the result."""

    def scores(self, X: Features, ensemble: Ensemble) -> Iterator[Vector]:
        """The scores of each stage; ``ensemble`` is the result."""


@dataclass(frozen=True)
class FitFigures:
    """The figures of a fit; unknown objectives and gaps are nan, unknown bounds and certificates None."""

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
    """How C was chosen."""

    C: float
    Cs: Vector
    scores: Matrix
    """One row for each fold, one column for each value of C."""
    path: dict[str, Vector]
    max_trees: int | None = None
    """The greatest number of trees of the final fit; None for that of the estimator."""


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Everything that a fit produces. It is made at the end of the fit and never changed.

    Its methods take features that ``encoder`` has encoded and the estimator has validated.
    """

    target: Target
    encoder: FeatureEncoder
    ensemble: Ensemble
    calibration: Any
    """What the task needs to turn scores into probabilities."""
    formulation: Formulation
    figures: FitFigures
    history: dict[str, NDArray[Any]]
    feature_names: NDArray[Any] | None
    has_missing: NDArray[np.bool_]
    """Whether each feature had missing values in training."""
    duals: Vector | None = None
    """One dual for each training row; None for a model from a file."""
    stages: Stages | None = None
    """The ensemble after each iteration; None for a model from a file."""
    tuning: Tuning | None = None
    marginals: dict[int, Marginal] | None = None
    """How the training rows are distributed over features; None where effects are not drawn, and from a file."""

    @property
    def n_features(self) -> int:
        return self.ensemble.n_features

    @property
    def in_units(self) -> Ensemble:
        """The ensemble with scores in the units that people are shown: of y, or of the logarithm of its mean.

        For classes it is the ensemble itself.
        """
        origin, unit = self.target.units
        if (origin, unit) == Units():
            return self.ensemble
        intercept = origin + unit * self.ensemble.intercept
        return replace(self.ensemble, weights=unit * self.ensemble.weights, intercept=intercept)

    @property
    def inputs(self) -> Inputs:
        """What the columns of X are called, and what they hold."""
        return Inputs.of(self.n_features, self.feature_names, self.encoder.categories, self.encoder.truths)

    def tree_sum(self) -> TreeSum:
        """What the model computes, as data."""
        output_transform = self.target.output_transform(self.calibration, self.ensemble.is_normalised)
        return tree_sum(self.in_units, self.target.n_outputs, output_transform, self.inputs)

    def scores(self, X: Features) -> Vector:
        """The score of each row."""
        return self.ensemble.decide(X)

    def predict(self, X: Features) -> NDArray[Any]:
        return self.target.decode(self.scores(X))

    def probabilities(self, X: Features) -> Matrix:
        """The class probabilities, one column for each class."""
        return self.target.probabilities(self.scores(X), self.calibration)

    def votes(self, X: Features) -> Matrix:
        """The votes, one column for each learner."""
        return self.ensemble.votes(X)

    def margins(self, X: Features, y: Any) -> Vector:
        """The margin of each row: positive if its score is on the side of its y."""
        scores = self.scores(X)
        return self.target.margins(scores, self.target.encode(y, len(scores)))

    def staged_scores(self, X: Features) -> Iterator[Vector]:
        """The scores of the ensemble after each iteration."""
        if self.stages is None:
            raise UnsupportedModelError(
                "The model was loaded from a file, which holds no stages; only the estimator that was fitted has them."
            )
        return self.stages.scores(X, self.ensemble)

    @cached_property
    def feature_importances(self) -> Vector:
        return self.ensemble.feature_importances()

    def with_learners(self, learners: Sequence[Learner], weights: Vector) -> FittedModel:
        """The same model with other learners; its objective and bound are unknown, as no programme was solved."""
        n = len(learners)
        figures = replace(
            self.figures, objective=np.nan, gap=np.nan, bound=None, certified=None, n_trees=n, n_generated=n
        )
        ensemble = replace(self.ensemble, learners=learners, weights=weights)
        stages = WeightStages([weights], [ensemble.intercept])
        return replace(self, ensemble=ensemble, figures=figures, stages=stages)
