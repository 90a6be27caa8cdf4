"""What trees are held to while they are grown, and who is asked to hold to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..trees.tree import Tree

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class TreeLimits:
    """The limits of every tree of a fit; by default there are none."""

    fewest_rows: int = 1
    """The fewest training rows in a leaf, equal ones counted one by one."""
    most_leaves: int | None = None
    n_features: int | None = None
    """How many features each split is chosen from, drawn anew for every split; None for all."""
    groups: tuple[frozenset[int], ...] | None = None
    """The sets of features of which one must hold all features on the way to a leaf; None for no such limit."""
    most_together: int | None = None
    """The most features on the way to a leaf; None for no such limit."""
    signs: tuple[int, ...] | None = None
    """For each feature 1 where scores must not fall, -1 where they must not rise, with it; None where no feature is."""
    seed: int = 0

    @property
    def has_few_rows(self) -> bool:
        """Whether leaves need more rows than any leaf has."""
        return self.fewest_rows > 1

    def is_for_later(self, max_depth: int) -> bool:
        """Whether trees of this depth may have too many features on a path, so that LightGBM grows them twice."""
        return self.most_together is not None and max_depth > self.most_together

    def for_second_time(self, tree: Tree) -> dict[str, Any] | None:
        """How LightGBM is asked for this tree with few features on each path; None if it has few enough, and leaves.

        LightGBM takes sets of features that may go together and compares all of them at every node: all pairs of 1,000
        features are too many. But of all pairs only those matter that the tree wants: where fewer features are above a
        node, it finds the same split among the first features on the paths of this tree as among all; where as many
        are, they alone are left. So the tree is the one that all pairs would give.
        """
        if self.most_together is None:
            return None
        is_small = self.most_leaves is None or tree.n_leaves <= self.most_leaves
        if is_small and tree.most_on_a_path <= self.most_together:
            return None
        asked: dict[str, Any] = {} if self.most_leaves is None else {"num_leaves": self.most_leaves}
        wanted = sorted(map(sorted, tree.first_on_paths(self.most_together)))
        # Features were drawn when the tree was grown for the first time.
        return asked | {"interaction_constraints": wanted, "feature_fraction_bynode": 1.0}

    def for_lightgbm(self, n_features: int, rows_each: float) -> dict[str, Any]:
        """The limits as LightGBM's parameters; it estimates how many rows a leaf has, and so only comes near."""
        asked: dict[str, Any] = {}
        if self.has_few_rows:
            asked["min_data_in_leaf"] = ceil(self.fewest_rows / rows_each)
        if self.n_features is not None:
            asked |= {"feature_fraction_bynode": self.n_features / n_features, "feature_fraction_seed": self.seed}
        if self.groups is not None:
            asked["interaction_constraints"] = [sorted(group) for group in self.groups]
        if self.signs is not None:
            asked |= {"monotone_constraints": list(self.signs), "monotone_constraints_method": "basic"}
        return asked

    def for_xgboost(self) -> dict[str, Any]:
        """The limits as XGBoost's parameters, but for the rows of a leaf and for what is drawn."""
        asked: dict[str, Any] = {}
        if self.most_leaves is not None:
            asked |= {"grow_policy": "lossguide", "max_leaves": self.most_leaves}
        if self.groups is not None:
            asked["interaction_constraints"] = str([sorted(group) for group in self.groups])
        if self.signs is not None:
            asked["monotone_constraints"] = f"({','.join(map(str, self.signs))})"
        return asked

    def drawn_for_xgboost(self, n_features: int) -> dict[str, Any]:
        """How many features XGBoost draws for each split."""
        if self.n_features is None:
            return {}
        return {"colsample_bynode": min((self.n_features + 0.5) / n_features, 1.0)}  # XGBoost rounds the number down


class AllowedFeatures:
    """The features that a node may be split by: those drawn for it, and those that go with the ones above it."""

    def __init__(self, limits: TreeLimits, n_features: int) -> None:
        self._n_features, self._n_drawn = n_features, limits.n_features
        self._numbers = np.random.default_rng(limits.seed)
        self._most_together = limits.most_together or n_features
        self._groups = [np.isin(np.arange(n_features), list(group)) for group in limits.groups or ()]
        self.is_limited = any(limit is not None for limit in (limits.groups, limits.most_together, self._n_drawn))

    def after(self, paths: Sequence[frozenset[int]], draws: bool = True) -> Mask:
        """A row for each node, given the features on the way to it, and a column for each feature."""
        allowed = np.array([self._together_with(path) for path in paths])
        if draws and self._n_drawn is not None:
            numbers = np.where(allowed, self._numbers.random(allowed.shape), np.inf)
            allowed &= numbers.argsort(axis=1).argsort(axis=1) < self._n_drawn
        return allowed

    def _together_with(self, path: frozenset[int]) -> Mask:
        """The features of all groups that hold the whole path; those of the path, where it can have no more."""
        if not self._groups:
            is_full = len(path) >= self._most_together
            return (
                np.isin(np.arange(self._n_features), list(path)) if is_full else np.ones(self._n_features, dtype=bool)
            )
        fitting = [group for group in self._groups if group[list(path)].all()]
        return np.any(fitting, axis=0)
