"""A weighted ensemble of learners, and its scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import lightgbm
import numpy as np
from scipy import sparse

from .._typing import Features, Matrix, Vector
from ..tasks.binary import TIE
from ..trees.learner import Learner
from ..trees.lightgbm_text import format_model
from ..trees.tree import Tree, n_leaves


@dataclass(eq=False)
class Ensemble:
    """A weighted vote of learners; if all weights are zero, every score is ``baseline``."""

    learners: Sequence[Learner]
    weights: Vector
    baseline: float
    n_features: int
    n_jobs: int = 1

    def votes(self, X: Features) -> Matrix:
        """The votes of the learners, one column for each."""
        votes = np.empty((X.shape[0], len(self.learners)), order="F")
        for j, learner in enumerate(self.learners):
            votes[:, j] = learner.vote(X)
        return votes

    def decide(self, X: Features) -> Vector:
        """The normalised margin in [-1, 1]; learners of weight zero are skipped."""
        if self._compiled is None:
            return next(self.staged(X, [self.weights]))
        return _settled(np.asarray(self._compiled.predict(X, raw_score=True, num_threads=self.n_jobs)))

    def contributions(self, X: Features) -> Matrix:
        """The SHAP values of ``decide``, with their base value as the last column; for ensembles of trees only."""
        if not self.weights.any():
            return np.pad(np.full((X.shape[0], 1), self.baseline), ((0, 0), (self.n_features, 0)))
        assert self._compiled is not None
        found: Any = self._compiled.predict(X, pred_contrib=True, num_threads=self.n_jobs)
        return found.toarray() if sparse.issparse(found) else np.asarray(found)

    def from_scores(self, scores: Vector) -> Vector:
        """What ``decide`` returns for rows whose unnormalised scores are known already."""
        total = self.weights.sum()
        return _settled(scores / total) if total > 0 else np.full(len(scores), self.baseline)

    @cached_property
    def _compiled(self) -> lightgbm.Booster | None:
        """The used trees as one LightGBM model, which predicts fast; None if a used learner is not a tree."""
        used = np.flatnonzero(self.weights).tolist()
        trees = [learner for learner in (self.learners[j] for j in used) if isinstance(learner, Tree)]
        if not trees or len(trees) < len(used):
            return None
        weights = self.weights[used]  # zeros in between would change the rounding of the sum
        text = format_model(trees, weights / weights.sum(), self.n_features)
        return lightgbm.Booster(model_str=text)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_compiled"}

    def staged(self, X: Features, stages: Sequence[Vector]) -> Iterator[Vector]:
        """The normalised margins for each of several weight vectors; every learner votes at most once."""
        known: dict[int, Vector] = {}
        for weights in stages:
            used = np.flatnonzero(weights).tolist()
            for j in used:
                if j not in known:
                    known[j] = self.learners[j].vote(X)
            yield self._combine(weights[used], [known[j] for j in used], X.shape[0])

    def _combine(self, weights: Vector, votes: list[Vector], n_rows: int) -> Vector:
        if not len(weights):
            return np.full(n_rows, self.baseline)
        scores = np.zeros(n_rows)
        for weight, vote in zip(weights / weights.sum(), votes, strict=True):
            scores += weight * vote
        return _settled(scores)

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
