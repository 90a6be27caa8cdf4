"""A weighted ensemble of learners, and its scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._typing import Features, Matrix, Vector
from ..tasks.binary import TIE
from ..trees.learner import Learner
from ..trees.tree import Tree, constant_tree, n_leaves
from .compiled import CompiledTrees


@dataclass(eq=False)
class Ensemble:
    """A weighted vote of learners, and an intercept.

    Normalised scores are divided by the sum of the weights; if all weights are zero, every score is ``baseline``.
    """

    learners: Sequence[Learner]
    weights: Vector
    baseline: Any
    """The score without a learner; for several classes one for each class."""
    n_features: int
    n_jobs: int = 1
    intercept: Any = 0.0
    """A number; for several classes one for each class."""
    is_normalised: bool = True

    def votes(self, X: Features) -> Matrix:
        """The votes of the learners, one column for each."""
        votes = np.empty((X.shape[0], len(self.learners)), order="F")
        for j, learner in enumerate(self.learners):
            votes[:, j] = learner.vote(X)
        return votes

    def decide(self, X: Features) -> Vector:
        """The score of each row: if normalised, the margin in [-1, 1]; learners of weight zero are skipped."""
        if self._compiled is None:
            return next(self.staged(X, [self.weights], [self.intercept]))
        return self._settled(np.asarray(self._compiled.predict(X, self.n_jobs, raw_score=True)))

    def contributions(self, X: Features) -> Matrix:
        """The SHAP values of ``decide``, with their base value as the last column; for ensembles of trees only."""
        if not self.weights.any():
            return np.pad(np.full((X.shape[0], 1), self._empty(self.intercept)), ((0, 0), (self.n_features, 0)))
        assert self._compiled is not None
        found: Any = self._compiled.predict(X, self.n_jobs, pred_contrib=True)
        return found.toarray() if sparse.issparse(found) else np.asarray(found)

    def from_scores(self, scores: Vector) -> Vector:
        """What ``decide`` returns for rows whose unnormalised scores are known already."""
        if not self.weights.any():
            return np.full(len(scores), self._empty(self.intercept))
        return self._settled((scores + self.intercept) / self._total(self.weights))

    def _empty(self, intercept: float) -> float:
        """The score without a learner."""
        return self.baseline if self.is_normalised else intercept

    def _total(self, weights: Vector) -> float:
        """What scores are divided by."""
        return float(weights.sum()) if self.is_normalised else 1.0

    def scales(self) -> Vector:
        """By how much the vote of each learner counts in a score: if normalised, its share of all weights."""
        return self.weights / (self._total(self.weights) or 1.0)

    def _settled(self, scores: Vector) -> Vector:
        return _settled(scores) if self.is_normalised else scores

    def scaled_trees(self) -> tuple[list[Tree], Vector] | None:
        """The used trees and their factors, such that their sum is the score; None if a used learner is no tree.

        The intercept is a tree without a split.
        """
        used = np.flatnonzero(self.weights).tolist()
        trees = [learner for learner in (self.learners[j] for j in used) if isinstance(learner, Tree)]
        if len(trees) < len(used):
            return None
        if not trees:
            return [constant_tree(1.0)], np.array([self._empty(self.intercept)])
        weights = self.weights[used]  # zeros in between would change the rounding of the sum
        scales = weights / self._total(weights)
        if not self.intercept:
            return trees, scales
        return [*trees, constant_tree(1.0)], np.append(scales, self.intercept / self._total(weights))

    @cached_property
    def _compiled(self) -> CompiledTrees | None:
        """The used trees; None if none is used, or a learner is no tree."""
        found = self.scaled_trees()
        if found is None or not self.weights.any():
            return None
        return CompiledTrees(*found, self.n_features)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_compiled"}

    def staged(self, X: Features, stages: Sequence[Vector], intercepts: Sequence[float]) -> Iterator[Vector]:
        """The scores for each of several weight vectors and intercepts; every learner votes at most once."""
        known: dict[int, Vector] = {}
        for weights, intercept in zip(stages, intercepts, strict=True):
            used = np.flatnonzero(weights).tolist()
            for j in used:
                if j not in known:
                    known[j] = self.learners[j].vote(X)
            yield self._combine(weights[used], [known[j] for j in used], X.shape[0], intercept)

    def _combine(self, weights: Vector, votes: list[Vector], n_rows: int, intercept: float) -> Vector:
        if not len(weights):
            return np.full(n_rows, self._empty(intercept))
        total = self._total(weights)
        scores = np.zeros(n_rows)
        for weight, vote in zip(weights / total, votes, strict=True):
            scores += weight * vote
        scores += intercept / total  # last, as in the compiled model, so that both round alike
        return self._settled(scores)

    @property
    def n_leaves(self) -> int:
        """The leaves of all learners with a weight."""
        return sum(n_leaves(self.learners[j]) for j in np.flatnonzero(self.weights).tolist())

    def feature_importances(self) -> Vector:
        """The weighted sum of each feature's shares in the learners, scaled to add up to one."""
        total = np.zeros(self.n_features)
        for j in np.flatnonzero(self.weights).tolist():
            total += self.weights[j] * self.learners[j].feature_gains(self.n_features)
        return total / total.sum() if total.sum() > 0 else total


def _settled(scores: Vector) -> Vector:
    """The scores clipped to [-1, 1], and exactly zero where they differ from zero only by rounding."""
    scores[np.abs(scores) < TIE] = 0.0
    return np.clip(scores, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class WeightStages:
    """The weights and the intercept after each iteration, over the learners of one ensemble."""

    weights: Sequence[Vector]
    intercepts: Sequence[float]

    def scores(self, X: Features, ensemble: Ensemble) -> Iterator[Vector]:
        """The scores of each stage."""
        return ensemble.staged(X, self.weights, self.intercepts)
