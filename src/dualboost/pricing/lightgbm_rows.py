"""Training rows as LightGBM bins them, and its trees in the values of these rows."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np

from ..algebra.threads import GrowerThreads
from ..trees.cuts import cuts_between
from ..trees.lightgbm_text import parse_trees
from ..trees.tiny_values import CodedColumn, tiny_features, tree_of_values, with_codes
from ..trees.tree import Tree, column_values
from .base import TrainingData


class LightGBMRows:
    """The rows as a dataset; columns with tiny values, which LightGBM reads as zero, are coded in it."""

    def __init__(self, data: TrainingData, parameters: dict[str, Any], n_threads: int) -> None:
        X = data.X
        self._threads = GrowerThreads(n_threads, data.n_cells)
        values = {k: column_values(X, k, slice(None)) for k in tiny_features(X)}
        self._coded = {k: CodedColumn(cuts_between(own[~np.isnan(own)], len(own))) for k, own in values.items()}
        self.dataset = lightgbm.Dataset(
            with_codes(X, self._coded),
            feature_name=[f"f{i}" for i in range(X.shape[1])],
            categorical_feature=data.categorical,
            params=parameters,
        )

    def update(self, booster: lightgbm.Booster, derivatives: Any) -> None:
        """Add a tree to a model, on as many threads as pay. Their number does not change the tree."""
        with self._threads.timed() as number:
            if booster.params["num_threads"] != number:
                booster.reset_parameter({"num_threads": number})
            booster.update(fobj=derivatives)

    def tree_beside(
        self, booster: lightgbm.Booster, asked: dict[str, Any], rows: lightgbm.Dataset, derivatives: Any
    ) -> Tree:
        """What the model would grow next on these of the rows, were it asked for this besides."""
        again = lightgbm.Booster(booster.params | asked, rows)
        self.update(again, derivatives)
        return self.tree(again, 0)

    def tree(self, booster: lightgbm.Booster, number: int) -> Tree:
        """A tree of a model that was grown on these rows."""
        text = booster.model_to_string(start_iteration=number, num_iteration=1)
        return tree_of_values(parse_trees(text)[0], self._coded)
