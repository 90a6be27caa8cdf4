"""Training rows as LightGBM bins them, and its trees in the values of these rows."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np

from ..trees.cuts import cuts_between
from ..trees.lightgbm_text import parse_trees
from ..trees.tiny_values import CodedColumn, tiny_features, tree_of_values, with_codes
from ..trees.tree import Tree, column_values
from .base import TrainingData


class LightGBMRows:
    """The rows as a dataset; columns with tiny values, which LightGBM reads as zero, are coded in it."""

    def __init__(self, data: TrainingData, parameters: dict[str, Any]) -> None:
        X = data.X
        values = {k: column_values(X, k, slice(None)) for k in tiny_features(X)}
        self._coded = {k: CodedColumn(cuts_between(own[~np.isnan(own)], len(own))) for k, own in values.items()}
        self.dataset = lightgbm.Dataset(
            with_codes(X, self._coded),
            feature_name=[f"f{i}" for i in range(X.shape[1])],
            categorical_feature=data.categorical,
            params=parameters,
        )

    def tree(self, booster: lightgbm.Booster, number: int) -> Tree:
        """A tree of a model that was grown on these rows."""
        text = booster.model_to_string(start_iteration=number, num_iteration=1)
        return tree_of_values(parse_trees(text)[0], self._coded)
