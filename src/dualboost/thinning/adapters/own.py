"""dualboost's own ensembles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..._typing import Integers, Matrix, Scores, Vector
from ...data.merging import in_rows
from ...errors import UnsupportedModelError
from ...targets import BinaryTarget, require_task
from ...targets.base import Units
from ...trees.tree import Tree, constant_tree, n_leaves, pruned
from ..links import LOG_MEAN, MEAN, MEDIAN, Link, Logit, LogProbabilities, Normalised, link_for
from ..rows import LeafIds, Members, Probability
from .scikit_learn import ScikitLearnAdapter, as_votes

NUMBERS: dict[str, Link] = {
    "squared": MEAN,
    "huber": MEDIAN,
    "absolute": MEDIAN,
    "epsilon_insensitive": MEDIAN,
    "poisson": LOG_MEAN,
}


class OwnAdapter(ScikitLearnAdapter):
    """Of two classes, new weights go into ``weights_``, and an intercept becomes one more learner.

    New leaves are votes of at most 1 in size, and ``weights_`` do the rest; leaves of a regressor are in units of
    the standardised y.

    ``history_``, ``duals_`` and ``stop_reason_`` still describe the fit that the learners come from. The result is not
    optimal for the programme of that fit, so ``objective_`` and ``gap_`` are nan; ``ThinResult.gap`` is its gap.
    """

    balances_weights: ClassVar[bool] = True

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._fitted, self._units = model.fitted_, Units()
        ensemble, self._is_normalised = self._fitted.in_units, False
        if not self._is_classifier:
            self.link, self._units = link_for("loss", self._fitted.formulation.name, NUMBERS), self._fitted.target.units
            _require_trees(ensemble.learners)
        elif self._has_several_classes:
            self.classes, self.link = np.asarray(model.classes_), LogProbabilities()
        else:
            require_task(self._fitted.target, [BinaryTarget], "thinned")
            self._is_normalised = ensemble.is_normalised
            self.classes, self.link = np.asarray(model.classes_), Normalised() if self._is_normalised else Logit()
        total = float(np.sum(ensemble.weights)) if self._is_normalised else 1.0
        total = total if total > 0 else 1.0
        self._learners = list(ensemble.learners)
        self.weights, self.intercept = np.asarray(ensemble.weights, dtype=float) / total, ensemble.intercept / total
        self.refits = all(isinstance(learner, Tree) for learner in self._learners)
        if self.refits:
            values = [learner.votes.reshape(learner.n_leaves, -1) for learner in self._learners]
            self.members = Members(values, np.size(self.intercept))
        self.n_leaves = np.array([n_leaves(learner) for learner in self._learners], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    def leaf_ids(self, X: Any) -> Sequence[LeafIds]:
        features = self._model._features(X)
        return [learner.leaves(features) for learner in self._learners]

    def members_on(self, X: Any) -> tuple[Members, Sequence[LeafIds]]:
        return super().members_on(X) if self.refits else Members.of_outputs(self._model.votes(X).T)

    def raw_scores(self, model: Any, X: Any) -> Scores:
        if self._is_classifier:
            return super().raw_scores(model, X)
        return self._units.origin + self._units.unit * model.fitted_.scores(model._features(X))

    def rebuild(self, kept: Integers, weights: Vector, intercept: Any) -> Any:
        if not self.link.takes_weights:
            return super().rebuild(kept, weights, intercept)
        learners = [self._learners[j] for j in kept]
        learners = [pruned(learner) if isinstance(learner, Tree) else learner for learner in learners]
        if self._is_normalised and intercept:
            learners.append(constant_tree(1.0 if intercept > 0 else -1.0))
            weights = np.append(weights, abs(intercept))
        return self._of_learners(learners, weights, 0.0 if self._is_normalised else intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[Matrix], intercept: Any) -> Any:
        """Scores become log-odds, which are not normalised."""
        written = self.written(kept, list(leaves), intercept)
        if not self.link.takes_weights:
            return written
        ensemble = replace(written.fitted_.ensemble, is_normalised=False)
        calibration = self._fitted.target.identity_calibration()
        return written.with_fitted(replace(written.fitted_, ensemble=ensemble, calibration=calibration))

    def written(self, kept: Integers, leaves: list[Matrix], intercept: Any) -> Any:
        origin, unit = self._units
        values = [as_votes(own) / unit for own in leaves]
        sizes = np.array([max(float(np.abs(own).max()), np.finfo(float).tiny) for own in values])
        trees = [
            pruned(self._learners[j].with_votes(own / size))
            for j, own, size in zip(kept.tolist(), values, sizes.tolist(), strict=True)
        ]
        return self._of_learners(trees, sizes, (intercept - origin) / unit)

    def _of_learners(self, learners: list[Any], weights: Vector, intercept: Any) -> Any:
        ensemble = replace(self._fitted.ensemble, intercept=intercept)
        return self._model.with_fitted(replace(self._fitted, ensemble=ensemble).with_learners(learners, weights))

    def probabilities(self, model: Any, X: Any, scores: Scores) -> Scores:
        return np.asarray(model.predict_proba(X)) if self._is_classifier else super().probabilities(model, X, scores)

    def expected(self, raw: Scores) -> Scores:
        if not self.link.takes_weights:
            return super().expected(raw)
        return np.asarray(self._fitted.target.probabilities(raw, self._fitted.calibration)[:, 1])

    def recalibrated(self, scores: Scores, labels: Vector, counts: Vector) -> Probability:
        if not self.link.takes_weights:
            return super().recalibrated(scores, labels, counts)
        target, curve = self._fitted.target, self._fitted.calibration
        curve = curve if self._has_final_scores else target.calibrate(scores, labels, in_rows(counts))
        return lambda raw: np.asarray(target.probabilities(raw, curve)[:, 1])

    def with_probabilities(self, model: Any, scores: Scores, labels: Vector, counts: Vector) -> Any:
        fitted = model.fitted_
        if not self.link.takes_weights or self._has_final_scores:
            return model
        return model.with_fitted(replace(fitted, calibration=fitted.target.calibrate(scores, labels, in_rows(counts))))

    @property
    def _has_final_scores(self) -> bool:
        return not self._is_normalised and self._fitted.formulation.has_final_scores


def _require_trees(learners: Sequence[Any]) -> None:
    if not learners:
        raise UnsupportedModelError("model DualBoostRegressor has no tree to remove: every row gets the same.")
    if not all(isinstance(learner, Tree) for learner in learners):
        raise UnsupportedModelError("model DualBoostRegressor can be thinned if it has learners that are all trees.")
