"""Learners with weights, with one vote or one vote for each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features, Matrix, Vector
from ..data.on_disk import in_batches
from ..matrix.rows import threads_for
from ..targets.classes import DIGITS, TIE
from ..trees.lightgbm_text import columns_cut_at_tiny_values, format_model, tree_of_codes, with_codes
from ..trees.tree import Learner, Tree, constant_tree, n_leaves


class CompiledTrees:
    """The sum of the trees' votes, each times its scale; for several classes, of one tree after the other."""

    def __init__(self, trees: Sequence[Tree], scales: Vector, n_features: int, n_classes: int = 1) -> None:
        self._n_trees = len(trees)
        self._coded = columns_cut_at_tiny_values(trees)
        coded_trees = [tree_of_codes(tree, self._coded) for tree in trees]
        self._booster = lightgbm.Booster(model_str=format_model(coded_trees, scales, n_features, n_classes=n_classes))

    def predict(self, X: Features, n_jobs: int, **what: bool) -> Any:
        """What LightGBM predicts; ``what`` is asked for in its words."""

        def predicted(rows: Features) -> Any:
            n_threads = threads_for(n_jobs, rows.shape[0] * self._n_trees)
            return self._booster.predict(with_codes(rows, self._coded), num_threads=n_threads, **what)

        return in_batches(X, predicted)


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


@dataclass(eq=False)
class VectorEnsemble(Ensemble):
    """A weighted sum of learners with a score for each class; ``baseline`` has the share of each class."""

    @property
    def n_outputs(self) -> int:
        return len(self.baseline)

    def votes(self, X: Features) -> NDArray[np.float64]:
        """The votes of the trees: an axis for the rows, one for the trees, one for the classes."""
        votes = np.empty((X.shape[0], len(self.learners), self.n_outputs))
        for j, learner in enumerate(self.learners):
            votes[:, j] = learner.vote(X)
        return votes

    def decide(self, X: Features) -> Matrix:
        if self._compiled is None:
            return next(self.staged(X, [self.weights], [self.intercept]))
        scores = np.zeros((X.shape[0], self.n_outputs))
        leaves = np.asarray(self._compiled.predict(X, self.n_jobs, pred_leaf=True), dtype=np.intp)
        leaves = leaves.reshape(X.shape[0], -1)
        for column, j in enumerate(np.flatnonzero(self.weights).tolist()):
            scores += (self.weights[j] * self._tree(j).votes).take(leaves[:, column], axis=0)
        return self._finished(scores, self.weights, self.intercept)

    def _finished(self, scores: Matrix, weights: Vector, intercept: Any) -> Matrix:
        """The scores with the intercepts, or divided by the sum of the weights; those of the empty ensemble if zero."""
        if not self.is_normalised:
            return scores + intercept
        if not weights.any():
            return scores + self.baseline
        return np.clip(np.round((scores + intercept) / self._total(weights), DIGITS), -1.0, 1.0)

    def _tree(self, j: int) -> Tree:
        tree = self.learners[j]
        assert isinstance(tree, Tree), "only trees have a vote for each class"
        return tree

    def contributions(self, X: Features) -> NDArray[np.float64]:
        """The SHAP values of ``decide``: axes for the rows, the classes, and the features with a last base value."""
        trees = self.scaled_trees()
        assert trees is not None, "only trees have SHAP values"
        model = CompiledTrees(*trees, self.n_features, n_classes=self.n_outputs)
        found = model.predict(X, self.n_jobs, pred_contrib=True)
        if isinstance(found, list):  # sparse features: one matrix for each class
            return np.stack([part.toarray() if sparse.issparse(part) else part for part in found], axis=1)
        return np.asarray(found).reshape(X.shape[0], self.n_outputs, self.n_features + 1)

    def from_scores(self, scores: Matrix) -> Matrix:
        return self._finished(scores, self.weights, self.intercept)

    def scaled_trees(self) -> tuple[list[Tree], Vector] | None:
        """One tree for each used tree and class, in the order of LightGBM; the intercepts are trees without a split.

        None if a used learner is no tree.
        """
        used = np.flatnonzero(self.weights).tolist()
        if not all(isinstance(self.learners[j], Tree) for j in used):
            return None
        trees, scales = [], []
        for j in used:
            trees += [self._tree(j).with_votes(own) for own in self._tree(j).votes.T]
            scales += self.n_outputs * [float(self.scales()[j])]
        trees += self.n_outputs * [constant_tree(1.0)]
        constant = self._finished(np.zeros((1, self.n_outputs)), self.weights, self.intercept)[0]
        return trees, np.append(scales, constant)

    @cached_property
    def _compiled(self) -> CompiledTrees | None:
        """The used trees, asked for leaves only; None if none is used, or a learner is no tree."""
        used = np.flatnonzero(self.weights).tolist()
        if not used or not all(isinstance(self.learners[j], Tree) for j in used):
            return None
        trees = [self._tree(j).with_votes(np.arange(float(self._tree(j).n_leaves))) for j in used]
        return CompiledTrees(trees, np.ones(len(trees)), self.n_features)

    def staged(self, X: Features, stages: Sequence[Vector], intercepts: Sequence[Any]) -> Iterator[Matrix]:
        known: dict[int, Matrix] = {}
        for weights, intercept in zip(stages, intercepts, strict=True):
            scores = np.zeros((X.shape[0], self.n_outputs))
            for j in np.flatnonzero(weights).tolist():
                if j not in known:
                    known[j] = self.learners[j].vote(X)
                scores += weights[j] * known[j]
            yield self._finished(scores, weights, intercept)
