"""Trees as one LightGBM model, which predicts fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lightgbm

from .._typing import Features, Vector
from ..algebra.threads import threads_for
from ..data.lazy import in_batches
from ..trees.lightgbm_text import format_model
from ..trees.tiny_values import columns_cut_at_tiny_values, tree_of_codes, with_codes
from ..trees.tree import Tree


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
