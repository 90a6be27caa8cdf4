"""Weighted sums of learners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import lightgbm
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features, Matrix, Scores, Vector
from ..data.on_disk import in_batches
from ..matrix.rows import threads_for
from ..targets.classes import DIGITS, TIE
from ..trees.lightgbm_text import columns_cut_at_tiny_values, format_model, tree_of_codes, with_codes
from ..trees.tree import Learner, Tree, constant_tree, n_leaves


class CompiledTrees:
    """Trees as one LightGBM model; of several outputs, the trees of one output after the other."""

    def __init__(self, trees: Sequence[Tree], n_features: int, n_outputs: int = 1) -> None:
        self._n_trees = len(trees)
        self._coded = columns_cut_at_tiny_values(trees)
        coded_trees = [tree_of_codes(tree, self._coded) for tree in trees]
        text = format_model(coded_trees, np.ones(len(trees)), n_features, n_classes=n_outputs)
        self._booster = lightgbm.Booster(model_str=text)

    def predict(self, X: Features, n_jobs: int, **output: bool) -> Any:
        """The prediction of LightGBM; ``output`` is its argument for the type, such as ``raw_score=True``."""

        def predicted(rows: Features) -> Any:
            n_threads = threads_for(n_jobs, rows.shape[0] * self._n_trees)
            return self._booster.predict(with_codes(rows, self._coded), num_threads=n_threads, **output)

        return in_batches(X, predicted)


class ScaledTrees(NamedTuple):
    """Scores as a sum: ``votes`` of the trees have the shape (leaves, K), and there are K constants."""

    trees: list[Tree]
    constants: Vector


@dataclass(eq=False)
class Ensemble:
    """A weighted sum of learners and intercepts, with K scores a row: one for two classes or a number.

    Normalised scores are divided by the sum of the weights; if all weights are zero, they are ``baseline``.
    """

    learners: Sequence[Learner]
    weights: Vector
    baseline: Any
    """The score without a learner: a number, or an array with one for each output."""
    n_features: int
    n_jobs: int = 1
    intercept: Any = 0.0
    """A number, or an array with one for each output."""
    is_normalised: bool = True

    @property
    def n_outputs(self) -> int:
        return int(np.size(self.baseline))

    @property
    def used(self) -> list[int]:
        """The positions of the learners that have a weight."""
        positions: list[int] = np.flatnonzero(self.weights).tolist()
        return positions

    @property
    def n_leaves(self) -> int:
        """The leaves of all learners with a weight."""
        return sum(n_leaves(self.learners[j]) for j in self.used)

    def votes(self, X: Features) -> NDArray[np.float64]:
        """The votes of all learners: axes for the rows, the learners and the outputs."""
        votes = np.empty((X.shape[0], len(self.learners), self.n_outputs), order="F" if self.n_outputs == 1 else "C")
        for j, learner in enumerate(self.learners):
            votes[:, j] = learner.vote(X).reshape(-1, self.n_outputs)
        return votes

    def decide(self, X: Features) -> Scores:
        """The scores as ``decision_function`` returns them."""
        return one_or_each(self.scores(X))

    def scores(self, X: Features) -> Matrix:
        """The scores of each row, a column for each output; learners of weight zero are skipped."""
        if self.scaled_trees is None or not self.scaled_trees.trees:
            return next(self.staged(X, [self.weights], [self.intercept]))
        if self.n_outputs == 1:
            sums = np.asarray(self._compiled_sum.predict(X, self.n_jobs, raw_score=True))
            return self._settled(sums[:, None])
        leaf_ids = np.asarray(self._compiled_leaves.predict(X, self.n_jobs, pred_leaf=True), dtype=np.intp)
        leaf_ids, scores = leaf_ids.reshape(X.shape[0], -1), np.zeros((X.shape[0], self.n_outputs))
        for column, tree in enumerate(self.scaled_trees.trees):
            scores += tree.votes.take(leaf_ids[:, column], axis=0)
        return self._settled(scores + self.scaled_trees.constants)

    def staged(self, X: Features, stages: Sequence[Vector], intercepts: Sequence[Any]) -> Iterator[Matrix]:
        """The scores for each of several weight vectors and intercepts; every learner votes at most once."""
        known: dict[int, Matrix] = {}
        for weights, intercept in zip(stages, intercepts, strict=True):
            scores, scales = np.zeros((X.shape[0], self.n_outputs)), self.scales(weights)
            for j in np.flatnonzero(weights).tolist():
                if j not in known:
                    known[j] = self.learners[j].vote(X).reshape(-1, self.n_outputs)
                scores += scales[j] * known[j]
            # The constants come last, as in the compiled model, so that both round alike.
            scores += self._constants(weights, intercept)
            yield self._settled(scores) if weights.any() else scores

    def scales(self, weights: Vector | None = None) -> Vector:
        """The factor of each learner's vote in a score: its weight, or if normalised, its share of all weights."""
        weights = self.weights if weights is None else weights
        return weights / self._total(weights)

    def _total(self, weights: Vector) -> float:
        # Zeros in between would change the rounding of the sum.
        return float(weights[weights != 0].sum()) or 1.0 if self.is_normalised else 1.0

    def _constants(self, weights: Vector, intercept: Any) -> Vector:
        is_empty = self.is_normalised and not weights.any()
        constant = self.baseline if is_empty else np.asarray(intercept) / self._total(weights)
        return np.zeros(self.n_outputs) + constant

    def _settled(self, scores: Matrix) -> Matrix:
        """Normalised scores in [-1, 1], without differences that are due to rounding: ties are exact."""
        if not self.is_normalised:
            return scores
        settled = np.where(np.abs(scores) < TIE, 0.0, scores) if self.n_outputs == 1 else np.round(scores, DIGITS)
        return np.clip(settled, -1.0, 1.0)

    def contributions(self, X: Features) -> NDArray[np.float64]:
        """The SHAP values of the scores: axes for the rows, the outputs, and the features with a last base value."""
        found = self._compiled_sum.predict(X, self.n_jobs, pred_contrib=True)
        parts = found if isinstance(found, list) else [found]  # of sparse features one matrix for each output
        if sparse.issparse(parts[0]):
            return np.stack([part.toarray() for part in parts], axis=1)
        return np.asarray(found).reshape(X.shape[0], self.n_outputs, self.n_features + 1)

    @cached_property
    def scaled_trees(self) -> ScaledTrees | None:
        """The scores as a sum over the trees that have a weight; None if another learner has one."""
        scales, trees = self.scales(), []
        for j in self.used:
            learner = self.learners[j]
            if not isinstance(learner, Tree):
                return None
            trees.append(learner.with_votes(scales[j] * learner.votes.reshape(-1, self.n_outputs)))
        return ScaledTrees(trees, self._constants(self.weights, self.intercept))

    def single_output_trees(self) -> list[Tree]:
        """The same sum with one value a leaf, as LightGBM takes it: K trees for each tree, and K for the constants."""
        assert self.scaled_trees is not None, "only trees can be compiled"
        trees, constants = self.scaled_trees
        split = [tree.with_votes(values) for tree in trees for values in tree.votes.T]
        return [*split, *map(constant_tree, constants.tolist())]

    @cached_property
    def _compiled_sum(self) -> CompiledTrees:
        return CompiledTrees(self.single_output_trees(), self.n_features, self.n_outputs)

    @cached_property
    def _compiled_leaves(self) -> CompiledTrees:
        """The used trees, for the leaves of rows only: with K outputs, K times fewer trees than in the sum."""
        assert self.scaled_trees is not None, "only trees can be compiled"
        trees = [tree.with_votes(np.arange(float(tree.n_leaves))) for tree in self.scaled_trees.trees]
        return CompiledTrees(trees, self.n_features)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def feature_importances(self) -> Vector:
        """The weighted sum of each feature's shares in the learners, scaled to add up to one."""
        total = np.zeros(self.n_features)
        for j in self.used:
            total += self.weights[j] * self.learners[j].feature_gains(self.n_features)
        return total / total.sum() if total.sum() > 0 else total


def one_or_each(scores: Matrix) -> Scores:
    """Scores of shape (n, K) as users see them: a vector if K is 1."""
    return scores[:, 0] if scores.shape[1] == 1 else scores


@dataclass(frozen=True, eq=False)
class WeightStages:
    """The weights and the intercept after each iteration, over the learners of one ensemble."""

    weights: Sequence[Vector]
    intercepts: Sequence[Any]

    def scores(self, X: Features, ensemble: Ensemble) -> Iterator[Scores]:
        """The scores of each stage."""
        return map(one_or_each, ensemble.staged(X, self.weights, self.intercepts))
