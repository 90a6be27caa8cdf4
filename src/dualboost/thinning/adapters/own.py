"""dualboost's own ensembles: learners of weight zero are removed, and others with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..._typing import Integers, Vector
from ...estimators.classifier import DualBoostClassifier
from ...tasks import require_two_classes
from ...trees.pruning import pruned
from ...trees.tree import Tree, constant_tree, n_leaves
from ..base import Outputs, Probability
from ..links import Normalised
from .scikit_learn import ScikitLearnAdapter


class OwnAdapter(ScikitLearnAdapter):
    """The weights go into ``weights_``; an intercept becomes one more learner, with a constant vote.

    ``history_``, ``duals_`` and ``stop_reason_`` still describe the fit that the learners come from. The new weights
    are not optimal for the programme of that fit, so ``objective_`` and ``gap_`` are nan; ``ThinResult.gap`` is the gap
    of the new weights.
    """

    describes: ClassVar[str] = "DualBoostClassifier"
    link = Normalised()

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, DualBoostClassifier)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        require_two_classes(model.fitted_.task, "thinned")
        total = float(model.weights_.sum())
        self.weights = model.weights_ / total if total > 0 else model.weights_.copy()
        self.n_leaves = np.array([n_leaves(learner) for learner in model.estimators_], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    def outputs(self, X: Any) -> Outputs:
        return np.ascontiguousarray(self._model.votes(X).T, dtype=np.float32)

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        kept_learners = [self._model.estimators_[j] for j in kept]
        learners = [pruned(learner) if isinstance(learner, Tree) else learner for learner in kept_learners]
        if intercept:
            learners.append(constant_tree(1.0 if intercept > 0 else -1.0))
            weights = np.append(weights, abs(intercept))
        return self._model.with_fitted(self._model.fitted_.with_learners(learners, weights))

    def probability(self, raw: Vector) -> Vector:
        fitted = self._model.fitted_
        return fitted.task.probabilities(raw, fitted.calibration)[:, 1]

    def recalibrated(self, scores: Vector, labels: Vector, counts: Vector) -> Probability:
        task = self._model.fitted_.task
        return lambda raw: task.probabilities(raw, task.calibrate(scores, labels, counts))[:, 1]

    def with_probabilities(self, model: Any, scores: Vector, labels: Vector, counts: Vector) -> Any:
        fitted = model.fitted_
        return model.with_fitted(replace(fitted, calibration=fitted.task.calibrate(scores, labels, counts)))
