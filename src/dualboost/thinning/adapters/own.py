"""dualboost's own ensembles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._typing import Integers, Matrix, Scores, Vector
from ...data.merging import in_rows
from ...errors import UnsupportedModelError
from ...estimators.classifier import DualBoostClassifier
from ...estimators.regressor import DualBoostRegressor
from ...models.ensemble import WeightStages
from ...targets import BinaryTarget, require_task
from ...trees.tree import Tree, constant_tree, n_leaves, pruned
from ..base import ClassAdapter
from ..links import LOG_MEAN, MEAN, MEDIAN, Logit, Normalised, predicts_by
from ..members import ClassMembers, NewLeaves, Outputs, Probability
from .scikit_learn import ScikitLearnAdapter, ScikitLearnModel, ScikitLearnNumbersAdapter, has_several_classes


class OwnAdapter(ScikitLearnAdapter):
    """The weights go into ``weights_``; an intercept becomes one more learner, with a constant vote.

    ``history_``, ``duals_`` and ``stop_reason_`` still describe the fit that the learners come from. The new weights
    are not optimal for the programme of that fit, so ``objective_`` and ``gap_`` are nan; ``ThinResult.gap`` is the gap
    of the new weights.
    """

    describes: ClassVar[str] = "DualBoostClassifier"
    balances_weights: ClassVar[bool] = True
    link: Normalised | Logit

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, DualBoostClassifier)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        require_task(model.fitted_.target, [BinaryTarget], "thinned")
        ensemble = model.fitted_.ensemble
        self._is_normalised = ensemble.is_normalised
        self.link = Normalised() if self._is_normalised else Logit()
        total = float(model.weights_.sum()) if self._is_normalised else 1.0
        self.weights = model.weights_ / total if total > 0 else model.weights_.copy()
        self.intercept = ensemble.intercept / total if total > 0 else 0.0
        self.refits = all(isinstance(learner, Tree) for learner in model.estimators_)
        self.n_leaves = np.array([n_leaves(learner) for learner in model.estimators_], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    def outputs(self, X: Any) -> Outputs:
        return np.ascontiguousarray(self._model.votes(X).T, dtype=np.float32)

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        kept_learners = [self._model.estimators_[j] for j in kept]
        learners = [pruned(learner) if isinstance(learner, Tree) else learner for learner in kept_learners]
        if self._is_normalised and intercept:
            learners.append(constant_tree(1.0 if intercept > 0 else -1.0))
            weights = np.append(weights, abs(intercept))
        fitted = self._model.fitted_.with_learners(learners, weights)
        ensemble = replace(fitted.ensemble, intercept=0.0 if self._is_normalised else intercept)
        return self._model.with_fitted(replace(fitted, ensemble=ensemble))

    def rewrite(self, kept: Integers, leaves: Sequence[NewLeaves], intercept: float) -> Any:
        """Scores become log-odds, which are not normalised; each tree votes at most 1, its weight does the rest."""
        values = [new(self._model.estimators_[j].votes) for j, new in zip(kept, leaves, strict=True)]
        sizes = np.array([max(float(np.abs(own).max()), np.finfo(float).tiny) for own in values])
        learners = [
            pruned(self._model.estimators_[j].with_votes(own / size))
            for j, own, size in zip(kept, values, sizes.tolist(), strict=True)
        ]
        fitted = self._model.fitted_.with_learners(learners, sizes)
        ensemble = replace(fitted.ensemble, intercept=intercept, is_normalised=False)
        calibration, stages = fitted.target.identity_calibration(), WeightStages([sizes], [intercept])
        return self._model.with_fitted(replace(fitted, ensemble=ensemble, calibration=calibration, stages=stages))

    def expected(self, raw: Vector) -> Vector:
        fitted = self._model.fitted_
        return fitted.target.probabilities(raw, fitted.calibration)[:, 1]

    def recalibrated(self, scores: Vector, labels: Vector, counts: Vector) -> Probability:
        target, fitted = self._model.fitted_.target, self._model.fitted_
        curve = fitted.calibration if self._has_final_scores else target.calibrate(scores, labels, in_rows(counts))
        return lambda raw: target.probabilities(raw, curve)[:, 1]

    def with_probabilities(self, model: Any, scores: Vector, labels: Vector, counts: Vector) -> Any:
        fitted = model.fitted_
        if self._has_final_scores:
            return model
        return model.with_fitted(replace(fitted, calibration=fitted.target.calibrate(scores, labels, in_rows(counts))))

    @property
    def _has_final_scores(self) -> bool:
        return not self._is_normalised and self._model.fitted_.formulation.has_final_scores


class OwnClassesAdapter(ScikitLearnModel, ClassAdapter):
    """Votes are at most 1 in size, the weights in ``weights_`` do the rest."""

    describes: ClassVar[str] = "DualBoostClassifier"
    balances_weights: ClassVar[bool] = True

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, DualBoostClassifier) and hasattr(model, "fitted_") and has_several_classes(model)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        ensemble = model.fitted_.ensemble
        self.classes = np.asarray(model.classes_)
        self.members = ClassMembers.of_vectors([tree.votes for tree in ensemble.learners])
        self.weights = np.asarray(ensemble.weights, dtype=float)
        self.intercept = np.asarray(ensemble.intercept, dtype=float)
        self.n_leaves = self.members.n_leaves
        self.n_nodes = 2 * self.n_leaves - 1

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        features = self._model._features(X)
        return [tree.leaves(features) for tree in self._model.estimators_]

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        sizes = np.array([max(float(np.abs(own).max()), np.finfo(float).tiny) for own in values])
        trees = [
            pruned(self._model.estimators_[j].with_votes(own / size))
            for j, own, size in zip(kept, values, sizes.tolist(), strict=True)
        ]
        fitted = self._model.fitted_
        moved = replace(fitted, ensemble=replace(fitted.ensemble, intercept=intercept))
        return self._model.with_fitted(moved.with_learners(trees, sizes))


LOSSES = {
    "squared": MEAN,
    "huber": MEDIAN,
    "absolute": MEDIAN,
    "epsilon_insensitive": MEDIAN,
    "poisson": LOG_MEAN,
}


class OwnNumbersAdapter(ScikitLearnNumbersAdapter):
    """Votes are at most 1 in size and weights those of the standardised y, as ``fitted_`` has them.

    ``objective_`` and ``gap_`` of the result are nan, as for classifiers: its leaves are optimal for the C and the y of
    the thinning, not for its own. ``ThinResult.gap`` is their gap.
    """

    describes: ClassVar[str] = "DualBoostRegressor"

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, DualBoostRegressor)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        fitted = model.fitted_
        self.predicts = predicts_by("loss", fitted.formulation.name, LOSSES)
        self._units = fitted.target.units
        ensemble = fitted.in_units
        self._trees = [tree for tree in ensemble.learners if isinstance(tree, Tree)]
        if not ensemble.learners:
            raise UnsupportedModelError("model DualBoostRegressor has no tree to remove: every row gets the same.")
        if len(self._trees) < len(ensemble.learners):
            raise UnsupportedModelError(
                "model DualBoostRegressor can be thinned if it has learners that are all trees."
            )
        self.leaf_values = [tree.votes for tree in self._trees]
        self.weights, self.intercept = np.asarray(ensemble.weights, dtype=float), float(ensemble.intercept)
        self.n_leaves = np.array([tree.n_leaves for tree in self._trees], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        features = self._model._features(X)
        return [tree.leaves(features) for tree in self._trees]

    def raw_scores(self, model: Any, X: Any) -> Scores:
        return self._units.origin + self._units.unit * model.fitted_.scores(model._features(X))

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        standard = [own / self._units.unit for own in values]
        sizes = np.array([max(float(np.abs(own).max()), np.finfo(float).tiny) for own in standard])
        trees = [
            pruned(self._trees[j].with_votes(own / size))
            for j, own, size in zip(kept.tolist(), standard, sizes.tolist(), strict=True)
        ]
        fitted = self._model.fitted_
        moved = replace(fitted.ensemble, intercept=(intercept - self._units.origin) / self._units.unit)
        return self._model.with_fitted(replace(fitted, ensemble=moved).with_learners(trees, sizes))
