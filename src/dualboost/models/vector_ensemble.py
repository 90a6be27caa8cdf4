"""An ensemble of trees that have a vote for each class in every leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features, Matrix, Vector
from ..tasks.multiclass import DIGITS
from ..trees.tree import Tree, constant_tree
from .compiled import CompiledTrees
from .ensemble import Ensemble


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
